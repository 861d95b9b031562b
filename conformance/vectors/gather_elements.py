"""GatherElements: ONNX GatherElements 11 and 13, OpenVINO GatherElements-6."""
from . import model
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector

# name, shape of data, indices (shape and items), axis, what the specification says
LAYOUTS = [
    ("rank-1", [4], [3], [2, 0, 3], 0, "On one axis each index takes the place that it names."),
    ("repeats", [3], [5], [2, 0, 0, 2, 1], 0, "An index may be used any number of times."),
    ("axis-0", [3, 3], [2, 3], [1, 2, 0, 2, 0, 0], 0, "On axis 0 the column is that of the index, the row what it says."),
    ("axis-1", [2, 2], [2, 2], [0, 0, 1, 0], 1, "On axis 1 the row is that of the index, the column what it says."),
    ("axis-minus-1", [2, 3], [2, 2], [2, 0, 1, 1], -1, "A negative axis counts from the last."),
    ("axis-minus-rank", [3, 2], [2, 2], [2, 0, 1, 1], -2, "The axis -r is the first."),
    ("axis-0-of-3", [3, 2, 2], [2, 2, 2], [2, 0, 1, 1, 0, 2, 2, 1], 0, "The other two indices are those of the place itself."),
    ("axis-1-of-3", [2, 3, 2], [2, 2, 2], [2, 0, 1, 1, 0, 2, 2, 1], 1, "The other two indices are those of the place itself."),
    ("axis-2-of-3", [2, 2, 3], [2, 2, 2], [2, 0, 1, 1, 0, 2, 2, 1], 2, "The other two indices are those of the place itself."),
    ("rank-4", [1, 2, 3, 2], [1, 2, 1, 2], [2, 0, 1, 1], 2, "Rank 4, on the third axis."),
    ("rank-5", [1, 2, 1, 2, 3], [1, 2, 1, 2, 1], [2, 0, 1, 1], 4, "Rank 5, on the last axis."),
    ("indices-longer-on-the-axis", [2, 2], [2, 4], [1, 1, 0, 1, 0, 0, 1, 0], 1, "On the axis indices may have more places than data."),
    ("indices-shorter-on-the-axis", [2, 4], [2, 1], [3, 1], 1, "On the axis indices may have fewer places than data."),
    ("dims-of-1", [1, 1], [1, 1], [0], 0, "Axes of one place have the index 0 alone."),
    ("no-indices-on-the-axis", [2, 3], [2, 0], [], 1, "Indices without places give an output of their shape."),
    ("no-places", [0, 3], [0, 3], [], 0, "Of an axis without places nothing can be taken, and nothing is."),
    ("other-axis-zero", [0, 3], [0, 2], [], 1, "Another axis without places leaves nothing to take."),
    ("long-axis", [300], [3], [299, 255, 256], 0, "An axis of more than 256 places is addressed beyond a byte."),
]
SHORTER = [
    ("indices-shorter-elsewhere", [3, 3], [2, 2], [2, 0, 1, 1], 0),
    ("indices-shorter-on-axis-0-of-3", [2, 3, 3], [1, 3, 2], [1, 0, 2, 1, 0, 2], 1),
    ("no-indices-elsewhere", [2, 3], [0, 3], [], 1),
]
NEGATIVE = [
    ("negative-index", [5], [2], [-1, -5], 0, "A negative index counts from the end, down to -dim."),
    ("negative-index-axis-0", [3, 2], [2, 2], [-1, -3, 0, -2], 0, "A negative index counts from the end of the axis that is named."),
    ("negative-index-axis-1", [2, 5], [2, 2], [-1, -4, 1, -5], 1, "A negative index counts from the end of the axis that is named."),
]
OUTSIDE = [
    ("index-is-dim", [4], [1], [4], 0),
    ("index-below-minus-dim", [4], [1], [-5], 0),
    ("index-within-other-axis", [2, 5], [1, 5], [0, 1, 2, 1, 0], 0),
    ("index-below-within-other-axis", [2, 5], [1, 5], [0, 1, -3, 1, 0], 0),
    ("index-int64-max", [4], [1], [(1 << 63) - 1], 0),
    ("index-int64-min", [4], [1], [-(1 << 63)], 0),
    ("index-2-to-32", [4], [1], [1 << 32], 0),
    ("index-for-zero-axis", [0], [1], [0], 0),
    ("index-last-of-four", [4], [4], [0, 1, 3, 4], 0),
]


def evaluate(version, attributes, data, indices):
    axis = attributes.get("axis", 0)
    if version.specification == "openvino":
        pairs = enumerate(zip(data.shape, indices.shape))
        model.refuse_if(any(dim != other and n != axis % max(data.rank, 1) for n, (dim, other) in pairs), f"indices {indices.shape}")
    return model.gather_elements(data, indices, axis)


def cases():
    suite = Suite("gather-elements")
    few = "type-* indices-int* negative-* index-* axis-0 axis-1 axis-*-of-3 repeats no-places"
    for number, only in [(11, few), (13, "")]:
        onnx(suite.onnx("GatherElements", number, evaluate, only=only))
    openvino(suite.openvino("GatherElements", 6, evaluate))
    return suite.cases


def inputs(shape, of_indices, numbers, dtype="int32", indices="int64"):
    return [labels(dtype, shape), tensor(indices, of_indices, numbers)]


def common(version, outside, outside_why):
    for name, shape, of_indices, numbers, axis, why in LAYOUTS:
        version.must(name, why, *inputs(shape, of_indices, numbers), axis=axis)
    for name, shape, of_indices, numbers, axis in OUTSIDE:
        if version.specification == "onnx" or numbers[0] >= 0 and min(numbers) >= 0:
            version.add(outside, name, outside_why, *inputs(shape, of_indices, numbers), axis=axis)
    version.reject("indices-of-lower-rank", "Indices have the rank of data.", *inputs([2, 3], [2], [0, 1]), axis=0)
    version.reject("indices-of-higher-rank", "Indices have the rank of data.", *inputs([3], [1, 2], [0, 1]), axis=0)
    version.reject("indices-longer-elsewhere", "For a place beyond data on another axis there is no item.",
                   *inputs([2, 2], [1, 3], [0, 1, 0]), axis=0)
    version.reject("axis-is-rank", "The axis lies in [-r, r - 1].", *inputs([2, 2], [1, 2], [0, 1]), axis=2)
    version.reject("axis-below-minus-rank", "The axis lies in [-r, r - 1].", *inputs([2, 2], [1, 2], [0, 1]), axis=-3)
    version.reject("rank-0", "Data has at least one axis.", scalar("int32", 1), scalar("int64", 0), axis=0)
    version.reject("float-indices", "Indices are int32 or int64.", *inputs([4], [1], [1], indices="float32"), axis=0)
    version.reject("bool-indices", "Indices are int32 or int64, which bool is not.", *inputs([4], [1], [1], indices="bool"), axis=0)
    for dtype in INTEGERS:
        said = dtype in ("int32", "int64")
        why = f"Indices may be {dtype}." if said else f"Indices are int32 or int64, and not {dtype}."
        version.add("must" if said else "reject", f"indices-{dtype}", why, *inputs([4], [3], [3, 1, 3], indices=dtype), axis=0)


def onnx(version):
    common(version, "reject", "It is an error if an index is out of bounds.")
    for name, shape, of_indices, numbers, axis, why in NEGATIVE:
        version.must(name, why, *inputs(shape, of_indices, numbers), axis=axis)
    for name, shape, of_indices, numbers, axis in SHORTER:
        version.must(name, "The output has the shape of indices, and the equations ask for no more of data than that.",
                     *inputs(shape, of_indices, numbers), axis=axis)
    version.must("axis-absent", "An axis that is left out is the first.", *inputs([3, 2], [2, 2], [2, 0, 1, 1]))
    version.must("negative-indices-int32", "Negative numbers of int32 count from the end.",
                 *inputs([4], [2], [-1, -4], indices="int32"), axis=0)
    version.reject("index-int32-min", "It is an error if an index is out of bounds; adding the dim must not overflow.",
                   *inputs([4], [1], [-(1 << 31)], indices="int32"), axis=0)
    for dtype in onnx_dtypes(version.number):
        version.must(f"type-{dtype}", f"T lists {dtype}, and items are moved with every bit they have.",
                     telling(dtype, [9]), vector("int64", [8, 0, 7, 1, 6, 2, 5, 3, 4]), axis=0)


def openvino(version):
    common(version, "refusal", "Indices are expected in [0, dim - 1], and nothing is said of greater ones; they are an error.")
    for name, shape, of_indices, numbers, axis in SHORTER:
        version.reject(name, "Indices have the shape of data but for the axis.", *inputs(shape, of_indices, numbers), axis=axis)
    for dtype in ["bool", *OPENVINO_NUMERIC]:
        version.must(f"type-{dtype}", f"T may be any type, {dtype} among them, and every bit is kept.",
                     telling(dtype, [9]), vector("int64", [8, 0, 7, 1, 6, 2, 5, 3, 4]), axis=0)
    for dtype in OPENVINO_BEYOND:
        version.choice(f"type-{dtype}", f"Which types are supported is left to the runtime; {dtype} items are moved like others.",
                       telling(dtype, [9]), vector("int64", [8, 0, 7, 1, 6, 2, 5, 3, 4]), axis=0)


# the cases of each operator, by its name
FILES = {"gather-elements": cases}
