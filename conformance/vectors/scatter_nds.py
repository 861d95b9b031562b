"""ScatterND: ONNX ScatterND 11, 13, 16 and 18, OpenVINO ScatterNDUpdate-3 and -15."""
from . import model
from .reductions import BRIEFLY, OPENVINO, onnx_reductions, reductions
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, WIDER, Suite, numeric, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector
from .items import Refused

OPENVINO_NAMES = {**OPENVINO, "sub": "sub"}

# name, shape of data, indices (shape and items), what the specification says
LAYOUTS = [
    ("elements-of-1", [8], [4, 1], [4, 3, 1, 7], "Tuples of one index address the items of a tensor of one axis."),
    ("elements-of-2", [3, 4], [2, 2], [2, 3, 0, 1], "Tuples as long as the rank address single items."),
    ("elements-of-3", [2, 3, 2], [3, 3], [1, 2, 1, 0, 0, 0, 1, 0, 1], "Tuples as long as the rank address single items."),
    ("elements-of-4", [2, 1, 2, 2], [1, 4], [1, 0, 1, 0], "Tuples as long as the rank address single items."),
    ("elements-of-5", [1, 2, 1, 2, 2], [2, 5], [0, 1, 0, 1, 1, 0, 0, 0, 0, 1], "Tuples as long as the rank address single items."),
    ("rows-of-2", [3, 4], [2, 1], [2, 0], "Shorter tuples address the blocks of the axes behind."),
    ("blocks-of-3", [3, 2, 2], [2, 1], [2, 0], "Shorter tuples address the blocks of the axes behind."),
    ("rows-of-3", [2, 3, 2], [2, 2], [1, 2, 0, 0], "Tuples of two indices address the rows of a tensor of three axes."),
    ("rows-of-4", [2, 2, 2, 2], [1, 3], [1, 0, 1], "Tuples of three indices address the rows of a tensor of four axes."),
    ("one-tuple", [3, 4], [2], [1, 2], "Indices of one axis are one tuple, and updates one item."),
    ("one-tuple-of-1", [3, 2], [1], [1], "Indices of one axis are one tuple, and updates the block that it addresses."),
    ("tuples-of-rank-3", [6], [2, 2, 1], [5, 0, 2, 3], "The axes of indices but the last are those of updates."),
    ("tuples-of-rank-4", [4, 3], [1, 2, 2, 1], [3, 0, 1, 2], "The axes of indices but the last come first in updates, then the block's."),
    ("blocks-in-rank-3", [3, 2], [2, 1, 1], [2, 1], "The axes of indices but the last come first in updates, then the block's."),
    ("first-and-last", [5], [2, 1], [4, 0], "The indices 0 and dim - 1 are both in range."),
    ("all-places", [2, 2], [4, 2], [1, 1, 0, 0, 1, 0, 0, 1], "A permutation of all places leaves nothing of data."),
    ("dims-of-1", [1, 1, 1], [1, 3], [0, 0, 0], "Axes of one place have the index 0 alone."),
    ("long-axis", [300], [3, 1], [299, 255, 256], "An axis of more than 256 places is addressed beyond a byte."),
    ("no-tuples", [4], [0, 1], [], "Without tuples nothing is updated."),
    ("no-tuples-of-2", [2, 3], [0, 2], [], "Without tuples nothing is updated."),
    ("no-tuples-in-rank-3", [4], [2, 0, 1], [], "Indices of shape [2, 0, 1] name nothing."),
    ("zero-axis", [0, 2], [0, 1], [], "An axis without places takes no updates."),
    ("zero-block", [3, 0], [2, 1], [2, 1], "A block without items may be addressed by any index in range."),
]
NEGATIVE = [
    ("negative-index", [5], [2, 1], [-1, -5], "A negative index counts from the end, down to -dim."),
    ("negative-index-second-axis", [2, 5], [2, 2], [0, -1, 1, -5], "A negative index counts from the end of its own axis."),
    ("negative-index-both-axes", [2, 5], [2, 2], [-1, -3, -2, -2], "Each index is made positive by the dim of its own axis."),
    ("negative-index-of-rows", [4, 2], [1, 1], [-2], "A negative index counts from the end where it addresses blocks, too."),
    ("negative-and-positive", [6], [3, 1], [-1, 0, -3], "Both signs may stand in one tensor of indices."),
]
WHOLE = [
    ("empty-tuple", [2, 2], [1, 0], [], "A tuple of no indices addresses the whole tensor."),
    ("empty-tuple-of-one-axis", [3], [0], [], "Indices of shape [0] are one tuple of no indices: the whole tensor."),
]
OUTSIDE = [
    ("index-is-dim", [4], [1, 1], [4]),
    ("index-below-minus-dim", [4], [1, 1], [-5]),
    ("index-beyond", [4], [2, 1], [0, 100]),
    ("index-second-axis", [5, 2], [1, 2], [1, 2]),
    ("index-first-axis", [2, 5], [1, 2], [3, 1]),
    ("index-second-axis-below", [5, 2], [1, 2], [1, -3]),
    ("index-int64-max", [4], [1, 1], [(1 << 63) - 1]),
    ("index-int64-min", [4], [1, 1], [-(1 << 63)]),
    ("index-2-to-32", [4], [1, 1], [1 << 32]),
    ("index-for-zero-axis", [0], [1, 1], [0]),
    ("index-for-zero-block", [2, 0], [1, 1], [2]),
    ("index-last-of-three", [4], [3, 1], [0, 1, 4]),
]
REPEATS = [
    ("repeat", [4], [2, 1], [1, 1]),
    ("repeat-by-alias", [4], [2, 1], [3, -1]),
    ("repeat-of-three", [4], [4, 1], [2, 0, 2, 2]),
    ("repeat-of-rows", [3, 2], [3, 1], [1, 0, 1]),
    ("repeat-of-items-of-2", [2, 2], [3, 2], [1, 1, 0, 0, 1, 1]),
    ("repeat-in-rank-3", [4], [2, 2, 1], [3, 0, 0, 3]),
]
SHAPES = [
    ("updates-scalar", [4], [2, 1], [0, 1], []),
    ("updates-broadcast-dim-1", [4], [2, 1], [0, 1], [1]),
    ("updates-broadcast-rows", [3, 4], [2, 1], [0, 1], [2, 1]),
    ("updates-broadcast-rank", [3, 4], [2, 1], [0, 1], [4]),
    ("updates-with-last-axis-of-indices", [4], [2, 1], [0, 1], [2, 1]),
    ("updates-longer", [4], [2, 1], [0, 1], [3]),
    ("updates-without-block", [3, 4], [2, 1], [0, 1], [2]),
    ("updates-block-without-last-axis", [2, 3, 4], [1, 1], [1], [1, 3]),
    ("updates-transposed", [3, 4], [2, 1], [0, 1], [4, 2]),
    ("updates-flat-for-rank-3-indices", [4], [2, 1, 1], [0, 1], [2]),
]


def evaluate(version, attributes, data, indices, updates):
    names = {"none": "none", **version.reductions}
    reduction = attributes.get("reduction", "none")
    known = {value: name for name, value in names.items()}
    if reduction not in known:
        raise Refused(f"reduction {reduction!r}")
    if version.specification == "onnx" and data.dtype.name not in onnx_dtypes(version.number):
        raise Refused(f"{data.dtype} is none of the types of version {version.number}")
    if version.specification == "openvino" and version.number == 3:
        model.refuse_if(min(indices.items, default=0) < 0, "a negative index")
    return model.scatter_nd(data, indices, updates, known[reduction])


def cases():
    suite = Suite("scatter-nd")
    few = "type-* index-* negative-* repeat updates-broadcast-* elements-of-2 rows-of-3 tuples-of-rank-3 no-tuples zero-block "
    for number, only in [(11, few + "*-zero-* one-tuple indices-* bfloat16-* empty-* tuples-*"), (13, few), (16, few + BRIEFLY), (18, "")]:
        version = suite.onnx("ScatterND", number, evaluate, only=only)
        version.reductions = onnx_reductions(number)
        onnx(version)
    for number in (3, 15):
        version = suite.openvino("ScatterNDUpdate", number, evaluate)
        version.reductions = OPENVINO_NAMES if number == 15 else {}
        openvino(version)
    return suite.cases


def inputs(shape, of_indices, numbers, dtype="int32", indices="int64", updates=None):
    if updates is None:
        updates = of_indices[:-1] + shape[of_indices[-1]:]
    return [labels(dtype, shape), tensor(indices, of_indices, numbers), labels(dtype, updates, first=101)]


def put_to_first(version):
    """What `reductions` adds cases with: updates that all go to the first of two places."""
    def put(kind, name, why, dtype, data, updates, reduction):
        indices = tensor("int64", [len(updates), 1], [0] * len(updates))
        version.add(kind, name, why, vector(dtype, data), indices, vector(dtype, updates), reduction=reduction)
    return put


def common(version, outside, outside_why, repeat_why):
    for name, shape, of_indices, numbers, why in LAYOUTS:
        version.must(name, why, *inputs(shape, of_indices, numbers))
    for name, shape, of_indices, numbers in OUTSIDE:
        version.add(outside, name, outside_why, *inputs(shape, of_indices, numbers))
    for name, shape, of_indices, numbers in REPEATS:
        aliased = any(number < 0 for number in numbers)
        if not (aliased and version.prefix.endswith("openvino-3")):
            version.choice(name, repeat_why, *inputs(shape, of_indices, numbers))
    for name, shape, of_indices, numbers, updates in SHAPES:
        version.reject(name, "Updates have the shape indices.shape[:-1] ++ data.shape[k:] exactly; nothing is broadcast.",
                       *inputs(shape, of_indices, numbers, updates=updates))
    version.must("repeat-of-equal-updates", "Where a place gets the same item twice the order cannot be seen.",
                 labels("int32", [4]), tensor("int64", [2, 1], [2, 2]), vector("int32", [7, 7]))
    version.reject("tuples-longer-than-rank", "A tuple has at most as many indices as data has axes.",
                   *inputs([4], [1, 2], [0, 0], updates=[1]))
    version.reject("rank-0-data", "Data has at least one axis.", scalar("int32", 1), tensor("int64", [1, 0], []), vector("int32", [2]))
    version.reject("rank-0-indices", "Indices have at least one axis.", labels("int32", [4]), scalar("int64", 1), scalar("int32", 2))
    version.reject("updates-of-another-type", "Data and updates are of one type.",
                   labels("int32", [4]), tensor("int64", [1, 1], [0]), labels("int64", [1]))
    version.reject("float-indices", "Indices are integers.", *inputs([4], [1, 1], [0], indices="float32"))
    version.reject("bool-indices", "Indices are integers, which bool is not.", *inputs([4], [1, 1], [0], indices="bool"))


def onnx(version):
    common(version, "refusal",
           "Indices are expected in the valid range, and nothing is said of others; they are an error, and never clamped or wrapped.",
           "Indices should not repeat, and the order of the loop is left open; the last in row-major order wins here.")
    for name, shape, of_indices, numbers, why in NEGATIVE:
        version.must(name, why, *inputs(shape, of_indices, numbers))
    for name, shape, of_indices, numbers, why in WHOLE:
        version.choice(name, f"{why} The document does not exclude k = 0, and runtimes differ.", *inputs(shape, of_indices, numbers))
    for dtype in onnx_dtypes(version.number):
        version.must(f"type-{dtype}", f"T lists {dtype}; what is written and what stays keep every bit.",
                     telling(dtype, [9]), tensor("int64", [2, 1], [8, 0]), telling(dtype, [2]))
    version.must("strings-longer", WIDER, tensor("string", [3], ["a", "b", "c"]), tensor("int64", [1, 1], [2]), tensor("string", [1], ["long"]))
    for dtype in INTEGERS:
        if dtype != "int64":
            version.reject(f"indices-{dtype}", f"Indices are int64, and not {dtype}.",
                           *inputs([4], [2, 1], [3, 1], indices=dtype))
    version.reject("indices-uint64-max", "Indices are int64, of which this is beyond; as a number it is out of range, and not -1.",
                    *inputs([4], [1, 1], [(1 << 64) - 1], indices="uint64"))
    version.must("example-1", "The document's first example.", vector("int64", range(1, 9)),
                 tensor("int64", [4, 1], [4, 3, 1, 7]), vector("int64", [9, 10, 11, 12]))
    if version.number == 11:
        version.reject("bfloat16-is-not-listed", "T lists bfloat16 from version 13 on.",
                       labels("bfloat16", [4]), tensor("int64", [1, 1], [2]), labels("bfloat16", [1]))
    if not version.reductions:
        version.later("reduction", *inputs([4], [2, 1], [3, 1]), reduction="none")
        return
    reductions(put_to_first(version), version.reductions)
    version.must("reduction-none", "A reduction of none is none.", *inputs([4], [2, 1], [3, 1]), reduction="none")
    version.reject("reduction-unknown", "The reduction is one of those that are listed.", *inputs([4], [2, 1], [3, 1]), reduction="mean")
    version.reject("reduction-misspelt", "The reduction is one of those that are listed, as they are spelt.",
                   *inputs([4], [2, 1], [3, 1]), reduction="Add")
    if version.number == 16:
        for reduction in ("max", "min"):
            version.reject(f"reduction-{reduction}", "Version 16 lists none, add and mul; max and min came with 18.",
                           *inputs([4], [2, 1], [3, 1]), reduction=reduction)
    for reduction in version.reductions.values():
        reduce_layouts(version, reduction)


def reduce_layouts(version, reduction):
    """Reductions where updates are blocks, where indices are negative, and where there is nothing to reduce."""
    why = "A reduction takes a block item by item."
    version.must(f"{reduction}-rows", why, *inputs([3, 4], [3, 1], [2, 0, 2], dtype="int64"), reduction=reduction)
    version.must(f"{reduction}-blocks-by-alias", "Tuples that name one place in two ways meet there.",
                 *inputs([2, 2, 2], [2, 1], [1, -1], dtype="int64"), reduction=reduction)
    version.must(f"{reduction}-no-tuples", "Without tuples there is nothing to reduce.", *inputs([3], [0, 1], []), reduction=reduction)
    version.must(f"{reduction}-items-of-2", "Each item is reduced with the updates of its own place.",
                 *inputs([2, 3], [4, 2], [1, 2, 0, 0, 1, 2, 0, 1], dtype="int64"), reduction=reduction)
    version.choice(f"{reduction}-empty-tuple", "A tuple of no indices addresses the whole tensor; the document does not exclude k = 0.",
                   *inputs([2], [2, 0], [], dtype="int64"), reduction=reduction)
    version.reject(f"{reduction}-updates-broadcast", "Updates have the shape indices.shape[:-1] ++ data.shape[k:] exactly.",
                   *inputs([3, 4], [2, 1], [2, 0], updates=[2, 1]), reduction=reduction)


def openvino(version):
    third = version.number == 3
    why = "An index must be within [0, dim - 1]." if third else "An index that points to no item raises an exception."
    common(version, "reject", why,
           "Where indices repeat the result is undefined; the last in row-major order wins here.")
    for name, shape, of_indices, numbers, negative_why in NEGATIVE:
        version.add("reject" if third else "must", name, why if third else negative_why, *inputs(shape, of_indices, numbers))
    for name, shape, of_indices, numbers, why in WHOLE:
        version.choice(name, f"{why} The document does not exclude k = 0.", *inputs(shape, of_indices, numbers))
    for dtype in OPENVINO_NUMERIC:
        version.must(f"type-{dtype}", f"T may be {dtype}; what is written and what stays keep every bit.",
                     telling(dtype, [9]), tensor("int64", [2, 1], [8, 0]), telling(dtype, [2]))
    for dtype in ["bool", *OPENVINO_BEYOND]:
        version.add(numeric(dtype)[0], f"type-{dtype}", numeric(dtype)[1],
                    telling(dtype, [9]), tensor("int64", [2, 1], [8, 0]), labels(dtype, [2], first=5))
    for dtype in INTEGERS:
        if dtype != "int64":
            said = dtype == "int32"
            why = f"T_IND is int32 or int64{'' if said else f', and not {dtype}'}."
            version.add("must" if said else "reject", f"indices-{dtype}", why, *inputs([4], [2, 1], [3, 1], indices=dtype))
    if third:
        version.later("reduction", *inputs([4], [2, 1], [3, 1]), reduction="none")
        return
    reductions(put_to_first(version), version.reductions, bool_is_said=("add", "sub", "mul"), complex_is_a_type=False)
    version.must("reduction-none", "A reduction of none is none.", *inputs([4], [2, 1], [3, 1]), reduction="none")
    version.reject("reduction-unknown", "The reduction is one of those that are listed, and mean is none of them.",
                   *inputs([4], [2, 1], [3, 1]), reduction="mean")
    version.reject("reduction-of-onnx", "The reduction is called sum; add is ONNX's name of it.",
                   *inputs([4], [2, 1], [3, 1]), reduction="add")
    for reduction in version.reductions.values():
        reduce_layouts(version, reduction)
    example = [tensor("int32", [5, 1], [0, 2, -3, -3, 0]), [10, 20, 30, 40, 50]]
    for reduction, dtype in [("sum", "float16"), ("sub", "int32"), ("prod", "float32")]:
        version.must(f"example-{reduction}", f"The document's example of {reduction}, with indices as tuples of one.",
                     vector(dtype, [1, 2, 3, 4]), example[0], vector(dtype, example[1]), reduction=reduction)
    version.choice("example-none", "The document's example of none repeats places, and shows the last update at place 0; its "
                   "text leaves the order open, and the 20 that it prints at place 1 is a slip.",
                   vector("float32", [1, 2, 3, 4]), example[0], vector("float32", example[1]), reduction="none")


# the cases of each operator, by its name
FILES = {"scatter-nd": cases}
