"""Gather: ONNX Gather 1, 11 and 13, OpenVINO Gather-1, -7 and -8."""
from . import model
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, one_number, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector

# name, shape of data, indices (shape and items), axis, what the specification says
LAYOUTS = [
    ("rank-1", [6], [3], [4, 1, 3], 0, "Each index takes the place that it names."),
    ("repeats", [3], [5], [2, 0, 0, 2, 1], 0, "An index may be used any number of times."),
    ("axis-0-of-2", [3, 4], [2], [2, 0], 0, "Whole rows are taken on axis 0."),
    ("axis-1-of-2", [3, 4], [2], [3, 1], 1, "Columns are taken on axis 1, of every row."),
    ("axis-0-of-3", [3, 2, 2], [1], [2], 0, "Blocks of the axes behind are taken."),
    ("axis-1-of-3", [2, 3, 2], [2], [2, 0], 1, "The axes before and behind stay in their places."),
    ("axis-2-of-3", [2, 2, 3], [2], [1, 2], 2, "On the last axis single items are taken."),
    ("axis-minus-1", [2, 3], [1], [1], -1, "A negative axis counts from the last."),
    ("axis-minus-rank", [2, 3], [1], [1], -2, "The axis -r is the first."),
    ("axis-minus-2-of-3", [2, 3, 2], [2], [0, 2], -2, "A negative axis counts from the last."),
    ("rank-4", [2, 1, 3, 2], [2], [2, 0], 2, "Rank 4, on the third axis."),
    ("rank-5", [1, 2, 3, 1, 2], [1], [1], 2, "Rank 5, on the middle axis."),
    ("rank-0-indices", [4], [], [2], 0, "Indices without axes take one place, and the axis is gone."),
    ("rank-0-indices-axis-0", [3, 2], [], [1], 0, "Indices without axes take one place, and the axis is gone."),
    ("rank-0-indices-axis-1", [2, 3, 2], [], [2], 1, "Indices without axes take one place, and the axis in the middle is gone."),
    ("one-index-keeps-the-axis", [3, 2], [1], [1], 0, "Indices of one axis and one item leave an axis of one place."),
    ("rank-2-indices", [5], [2, 2], [4, 0, 1, 3], 0, "All axes of indices stand in the place of the axis."),
    ("rank-2-indices-axis-1", [2, 5, 2], [2, 2], [4, 0, 1, 3], 1, "All axes of indices stand in the place of the axis."),
    ("rank-2-indices-last-axis", [2, 5], [2, 3], [4, 0, 1, 3, 2, 2], 1, "All axes of indices stand in the place of the axis."),
    ("rank-3-indices", [2, 6], [1, 2, 2], [5, 1, 0, 2], 1, "All axes of indices stand in the place of the axis."),
    ("more-indices-than-places", [2], [7], [0, 1, 1, 0, 1, 0, 0], 0, "There may be more indices than places."),
    ("all-reversed", [4], [4], [3, 2, 1, 0], 0, "A permutation of all places reorders them."),
    ("one-place", [1], [3], [0, 0, 0], 0, "The one place of an axis may be taken several times."),
    ("no-indices", [3, 2], [0], [], 0, "Without indices the axis has no places."),
    ("no-indices-axis-1", [2, 3], [0], [], 1, "Without indices the axis has no places."),
    ("no-indices-zero-axis", [0, 2], [0], [], 0, "Of an axis without places nothing can be taken, and nothing is."),
    ("zero-in-indices", [3, 2], [2, 0], [], 0, "Indices of shape [2, 0] give an output of no items with these dims in it."),
    ("zero-block", [3, 0], [2], [2, 1], 0, "A block without items may be named by any index in range."),
    ("zero-before", [0, 3], [2], [2, 1], 1, "An axis without places before the one that is named leaves nothing to take."),
    ("long-axis", [300], [3], [299, 255, 256], 0, "An axis of more than 256 places is addressed beyond a byte."),
]
NEGATIVE = [
    ("negative-index", [5], [2], [-1, -5], 0, "A negative index counts from the end, down to -dim."),
    ("negative-index-axis-1", [2, 5], [2], [-1, -3], 1, "A negative index counts from the end of the axis that is named."),
    ("negative-index-rank-0", [3, 2], [], [-1], 0, "A negative index without axes counts from the end too."),
    ("negative-and-positive", [2, 4, 2], [2, 2], [-1, 0, 3, -4], 1, "Both signs may stand in one tensor of indices."),
]
OUTSIDE = [
    ("index-is-dim", [4], [1], [4], 0),
    ("index-below-minus-dim", [4], [1], [-5], 0),
    ("index-minus-two-dims", [4], [2], [0, -8], 0),
    ("index-beyond", [4, 2], [2], [1, 100], 0),
    ("index-within-other-axis", [2, 5], [1], [3], 0),
    ("index-int64-max", [4], [1], [(1 << 63) - 1], 0),
    ("index-int64-min", [4], [1], [-(1 << 63)], 0),
    ("index-2-to-32", [4], [1], [1 << 32], 0),
    ("index-2-to-32-plus-1", [4], [1], [(1 << 32) + 1], 0),
    ("index-for-zero-axis", [0, 2], [1], [0], 0),
    ("index-for-zero-block", [2, 0], [1], [2], 0),
    ("index-rank-0", [4], [], [4], 0),
    ("index-last-of-four", [4], [2, 2], [0, 1, 3, 4], 0),
]
# shape of data, indices (shape and items), axis, batch_dims
BATCHES = [
    ("batch-1", [2, 5], [2, 3], [0, 0, 4, 4, 0, 0], 1, 1, "The first axis of both is a batch, each with indices of its own."),
    ("batch-2", [2, 2, 4], [2, 2, 2], [0, 3, 3, 0, 1, 2, 2, 1], 2, 2, "The first two axes of both are batches."),
    ("batch-1-axis-2", [2, 2, 3, 2], [2, 3], [1, 2, 0, 2, 2, 1], 2, 1, "Axes between the batch and the axis stay in front of the indices' axes."),
    ("batch-1-axis-minus-1", [2, 2, 3], [2, 2], [1, 2, 0, 2], -1, 1, "A negative axis counts from the last, with batches too."),
    ("batch-minus-1", [2, 5], [2, 3], [0, 0, 4, 4, 0, 0], 1, -1, "A negative batch_dims counts from the rank of indices."),
    ("batch-minus-rank", [3, 2], [2], [2, 1], 0, -1, "batch_dims of minus the rank of indices is 0."),
    ("batch-minus-2-of-3", [2, 4], [2, 1, 2], [3, 0, 1, 1], 1, -2, "A negative batch_dims counts from the rank of indices, not from that of data."),
    ("batch-is-indices-rank", [2, 3], [2], [2, 0], 1, 1, "Where all axes of indices are batches one place is taken of each, and the axis is gone."),
    ("batch-2-is-indices-rank", [2, 2, 3], [2, 2], [2, 0, 1, 1], 2, 2, "Where all axes of indices are batches one place is taken of each, and the axis is gone."),
    ("batch-with-rows", [2, 3, 2], [2, 2], [2, 0, 1, 1], 1, 1, "In each batch whole rows are taken."),
    ("batch-rank-3-indices", [2, 3], [2, 2, 2], [2, 0, 1, 1, 0, 0, 2, 1], 1, 1, "The axes of indices behind the batch stand in the place of the axis."),
    ("batch-of-none", [0, 3], [0, 2], [], 1, 1, "No batches give no items."),
    ("batch-without-indices", [2, 3], [2, 0], [], 1, 1, "Batches without indices give no items."),
    ("batch-0-said", [3, 2], [2], [2, 0], 0, 0, "batch_dims of 0 is the default."),
]


def evaluate_onnx(version, attributes, data, indices):
    return model.gather(data, indices, attributes.get("axis", 0))


def evaluate_openvino(version, attributes, data, indices, axis):
    beyond = "natural" if version.number < 8 else "zero"
    return model.gather(data, indices, one_number(axis), attributes.get("batch_dims", 0), beyond)


def cases():
    suite = Suite("gather")
    few = "type-* negative-* index-* axis-* rank-* "
    for number, only in [(1, few + "zero-* no-indices repeats"), (11, few), (13, "")]:
        onnx(suite.onnx("Gather", number, evaluate_onnx, only=only))
    for number, only in [(1, few + "indices-* no-indices repeats"), (7, few + "batch* no-indices zero-block"), (8, "")]:
        openvino(suite.openvino("Gather", number, evaluate_openvino, only=only))
    return suite.cases


def operands(shape, of_indices, numbers, dtype="int32", indices="int64"):
    return [labels(dtype, shape), tensor(indices, of_indices, numbers)]


def onnx(version):
    for name, shape, of_indices, numbers, axis, why in LAYOUTS:
        version.must(name, why, *operands(shape, of_indices, numbers), axis=axis)
    for name, shape, of_indices, numbers, axis, why in NEGATIVE:
        if version.number == 1:
            version.choice(name, "This version leaves open whether an index may be negative; later ones count it from the end.",
                           *operands(shape, of_indices, numbers), axis=axis)
        else:
            version.must(name, why, *operands(shape, of_indices, numbers), axis=axis)
    version.must("axis-absent", "An axis that is left out is the first.", *operands([3, 2], [2], [2, 0]))
    for name, shape, of_indices, numbers, axis in OUTSIDE:
        version.reject(name, "It is an error if an index is out of bounds.", *operands(shape, of_indices, numbers), axis=axis)
    for dtype in onnx_dtypes(version.number):
        version.must(f"type-{dtype}", f"T lists {dtype}, and items are moved with every bit they have.",
                     telling(dtype, [9]), vector("int64", [8, 0, 7, 1, 6, 2, 5, 3, 4]), axis=0)
    for dtype in INTEGERS:
        said = dtype in ("int32", "int64")
        why = f"Tind may be {dtype}." if said else f"Tind lists int32 and int64, and not {dtype}."
        version.add("must" if said else "reject", f"indices-{dtype}", why, *operands([4], [3], [3, 1, 3], indices=dtype), axis=0)
    version.add("choice" if version.number == 1 else "must", "negative-indices-int32", "This version leaves open whether an index may be "
                "negative; later ones count it from the end." if version.number == 1 else "Negative numbers of int32 count from the end.",
                *operands([4], [2], [-1, -4], indices="int32"), axis=0)
    version.reject("index-int32-min", "It is an error if an index is out of bounds; adding the dim must not overflow.",
                   *operands([4], [1], [-(1 << 31)], indices="int32"), axis=0)
    version.reject("axis-is-rank", "The axis lies in [-r, r - 1].", *operands([2, 3], [1], [0]), axis=2)
    version.reject("axis-below-minus-rank", "The axis lies in [-r, r - 1].", *operands([2, 3], [1], [0]), axis=-3)
    version.reject("rank-0-data", "Data has at least one axis.", scalar("int32", 1), vector("int64", [0]), axis=0)
    version.reject("float-indices", "Tind is int32 or int64.", *operands([4], [1], [1], indices="float32"), axis=0)
    version.reject("bool-indices", "Tind is int32 or int64, which bool is not.", *operands([4], [1], [1], indices="bool"), axis=0)


def openvino(version):
    first = version.number == 1

    def inputs(shape, of_indices, numbers, axis, dtype="int32", indices="int64", axis_tensor=None):
        return [*operands(shape, of_indices, numbers, dtype, indices), axis_tensor or scalar("int64", axis)]

    for name, shape, of_indices, numbers, axis, why in LAYOUTS:
        version.must(name, why, *inputs(shape, of_indices, numbers, axis))
    for name, shape, of_indices, numbers, axis, why in NEGATIVE:
        if version.number == 8:
            version.must(name, why, *inputs(shape, of_indices, numbers, axis))
        else:
            version.reject(name, "Indices lie in [0, dim - 1].", *inputs(shape, of_indices, numbers, axis))
    for name, shape, of_indices, numbers, axis in OUTSIDE:
        if version.number == 8:
            version.must(name, "What an index out of range would take is filled with zeros.", *inputs(shape, of_indices, numbers, axis))
        else:
            version.reject(name, "Indices lie in [0, dim - 1].", *inputs(shape, of_indices, numbers, axis))
    if first:
        version.later("batch_dims", *inputs([2, 3], [2, 1], [2, 0], 1), batch_dims=1)
    if version.number == 8:
        for dtype in ["bool", *OPENVINO_NUMERIC]:
            version.must(f"out-of-range-{dtype}", "What an index out of range would take is filled with zeros, in any type.",
                         telling(dtype, [2, 2]), vector("int64", [2, 0, -3]), scalar("int64", 0))
        version.must("out-of-range-axis-1", "Of every row the place of an index out of range is zero.",
                     *inputs([2, 3], [3], [3, 1, -4], 1))
        version.must("example-7", "The document's example of indices out of range.",
                     vector("int32", [1, 2, 3, 4, 5]), vector("int64", [3, 10, -20]), scalar("int64", 0))
    for dtype in ["bool", *OPENVINO_NUMERIC]:
        version.must(f"type-{dtype}", f"Data may be of any type, {dtype} among them, and every bit is kept.",
                     telling(dtype, [9]), vector("int64", [8, 0, 7, 1, 6, 2, 5, 3, 4]), scalar("int64", 0))
    for dtype in OPENVINO_BEYOND:
        version.choice(f"type-{dtype}", f"Which types are supported is left to the runtime; {dtype} items are moved like others.",
                       telling(dtype, [9]), vector("int64", [8, 0, 7, 1, 6, 2, 5, 3, 4]), scalar("int64", 0))
    for dtype in INTEGERS:
        version.must(f"indices-{dtype}", f"Indices may be of any integer type, {dtype} among them.",
                     *inputs([4], [3], [3, 1, 3], 0, indices=dtype))
        version.must(f"axis-{dtype}", f"The axis may be of any integer type, {dtype} among them.",
                     *inputs([2, 3], [1], [2], 1, axis_tensor=scalar(dtype, 1)))
    version.must("indices-uint8-above-127", "An index of 200 in uint8 is no negative number.",
                 *inputs([201], [1], [200], 0, indices="uint8"))
    version.must("axis-of-one-item", "The axis is a scalar or a tensor of one axis.",
                 *inputs([2, 3], [1], [2], 1, axis_tensor=vector("int64", [1])))
    if not first:
        for name, shape, of_indices, numbers, axis, batch_dims, why in BATCHES:
            version.must(name, why, *inputs(shape, of_indices, numbers, axis), batch_dims=batch_dims)
        for name, shape, of_indices, axis, batch_dims, why in [
            ("batch-beyond-axis", [2, 3], [2, 2], 0, 1, "batch_dims is at most the axis."),
            ("batch-2-beyond-axis-1", [2, 2, 3], [2, 2, 1], 1, 2, "batch_dims is at most the axis."),
            ("batch-beyond-indices-rank", [2, 2, 3], [2], 2, 2, "batch_dims is at most the rank of indices."),
            ("batch-below-minus-rank", [2, 3], [2], 1, -2, "batch_dims is at least minus the rank of indices."),
            ("batches-differ", [2, 3], [3, 1], 1, 1, "The batches of data and indices are the same."),
            ("batches-broadcast", [2, 3], [1, 2], 1, 1, "The batches of data and indices are the same; a dim of 1 is not spread."),
            ("second-batches-differ", [2, 2, 3], [2, 1, 1], 2, 2, "The batches of data and indices are the same, the second too."),
        ]:
            numbers = [0] * (of_indices[0] * (of_indices + [1, 1])[1])
            version.reject(name, why, *inputs(shape, of_indices, numbers, axis), batch_dims=batch_dims)
    version.reject("axis-is-rank", "The axis lies in [-r, r - 1].", *inputs([2, 3], [1], [0], 2))
    version.reject("axis-below-minus-rank", "The axis lies in [-r, r - 1].", *inputs([2, 3], [1], [0], -3))
    version.reject("float-indices", "Indices are integers.", *inputs([4], [1], [1], 0, indices="float32"))
    version.reject("axis-float", "The axis is an integer.", *inputs([4], [1], [1], 0, axis_tensor=scalar("float32", 0)))
    version.reject("rank-0-data", "Data without axes have none to gather on.",
                   scalar("int32", 1), vector("int64", [0]), scalar("int64", 0))


# the cases of each operator, by its name
FILES = {"gather": cases}
