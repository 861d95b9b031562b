"""ScatterUpdate: OpenVINO ScatterUpdate-3."""
from . import model
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, numeric, one_number
from .tensors import labels, scalar, telling, tensor, vector

LAST = "Where indices repeat the order of updates is undefined; the last in row-major order wins here. "
OPENVINO_LAST = LAST + "OpenVINO's result may differ from run to run."


def evaluate(version, attributes, data, indices, updates, axis):
    return model.scatter_update(data, indices, updates, one_number(axis))


def cases():
    suite = Suite("scatter-update")
    version = suite.openvino("ScatterUpdate", 3, evaluate)

    def inputs(shape, indices, axis, dtype="int32", axis_tensor=None, updates=None):
        if updates is None:
            axis_of = axis + len(shape) if axis < 0 else axis
            updates = shape[:axis_of] + indices.shape + shape[axis_of + 1:]
        return [labels(dtype, shape), indices, labels(dtype, updates, first=101), axis_tensor or scalar("int64", axis)]

    layouts = [
        ("rank-1", [6], vector("int64", [4, 1, 3]), 0, "Each update goes to the place that its index names."),
        ("axis-0-of-2", [3, 4], vector("int64", [2, 0]), 0, "Whole rows are replaced on axis 0."),
        ("axis-1-of-2", [3, 4], vector("int64", [3, 1]), 1, "Columns are replaced on axis 1, in every row."),
        ("axis-0-of-3", [3, 2, 2], vector("int64", [2]), 0, "Blocks of the axes behind are replaced."),
        ("axis-1-of-3", [2, 3, 2], vector("int64", [2, 0]), 1, "The axes before and behind stay in their places."),
        ("axis-2-of-3", [2, 2, 3], vector("int64", [1, 2]), 2, "On the last axis single items are replaced."),
        ("axis-minus-1", [2, 3], vector("int64", [1]), -1, "A negative axis counts from the last."),
        ("axis-minus-rank", [2, 3], vector("int64", [1]), -2, "The axis -r is the first."),
        ("axis-minus-2-of-3", [2, 3, 2], vector("int64", [0, 2]), -2, "A negative axis counts from the last."),
        ("rank-4", [2, 1, 3, 2], vector("int64", [2, 0]), 2, "Rank 4, on the third axis."),
        ("rank-5", [1, 2, 3, 1, 2], vector("int64", [1]), 2, "Rank 5, on the middle axis."),
        ("rank-0-indices", [4], scalar("int64", 2), 0, "Indices without axes leave the axis out of updates."),
        ("rank-0-indices-axis-0", [3, 2], scalar("int64", 1), 0, "Indices without axes leave the axis out of updates."),
        ("rank-0-indices-axis-1", [2, 3, 2], scalar("int64", 2), 1, "Indices without axes leave the axis out of updates, in the middle too."),
        ("rank-2-indices", [5], tensor("int64", [2, 2], [4, 0, 1, 3]), 0, "All axes of indices stand in the place of the axis."),
        ("rank-2-indices-axis-1", [2, 5, 2], tensor("int64", [2, 2], [4, 0, 1, 3]), 1, "All axes of indices stand in the place of the axis."),
        ("rank-3-indices", [2, 6], tensor("int64", [1, 2, 2], [5, 1, 0, 2]), 1, "All axes of indices stand in the place of the axis."),
        ("all-places", [4], vector("int64", [3, 2, 1, 0]), 0, "A permutation of all places leaves nothing of data."),
        ("first-and-last", [5], vector("int64", [4, 0]), 0, "The indices 0 and dim - 1 are both within bounds."),
        ("one-place", [1], vector("int64", [0]), 0, "An axis of one place has the index 0 alone."),
        ("no-indices", [3, 2], vector("int64", []), 0, "Without indices nothing is updated."),
        ("no-indices-zero-axis", [0, 2], vector("int64", []), 0, "An axis without places takes no updates."),
        ("zero-block", [3, 0], vector("int64", [2, 1]), 0, "A block without items may be named by any index that is within bounds."),
        ("zero-before", [0, 3], vector("int64", [2, 1]), 1, "An axis without places before the one that is named leaves nothing to write."),
        ("zero-in-indices", [3], tensor("int64", [2, 0], []), 0, "Indices of shape [2, 0] name nothing."),
        ("long-axis", [300], vector("int64", [299, 255, 256]), 0, "An axis of more than 256 places is addressed beyond a byte."),
    ]
    for name, shape, indices, axis, why in layouts:
        version.must(name, why, *inputs(shape, indices, axis))
    for dtype in INTEGERS:
        version.must(f"indices-{dtype}", f"T_IND may be any integer type, {dtype} among them.",
                     *inputs([4], vector(dtype, [3, 1]), 0))
        version.must(f"axis-{dtype}", f"T_AXIS may be any integer type, {dtype} among them.",
                     *inputs([2, 3], vector("int64", [2]), 1, axis_tensor=scalar(dtype, 1)))
    for dtype in ("int8", "int16", "int32"):
        version.must(f"negative-axis-{dtype}", f"A negative axis of {dtype} is sign-extended.",
                     *inputs([2, 3], vector("int64", [2]), -1, axis_tensor=scalar(dtype, -1)))
    version.must("axis-of-one-item", "The axis is a scalar or a tensor of one axis and one item.",
                 *inputs([2, 3], vector("int64", [2]), 1, axis_tensor=vector("int64", [1])))
    version.must("indices-uint8-above-127", "An index of 200 in uint8 is no negative number.",
                 *inputs([201], vector("uint8", [200]), 0))
    version.must("indices-uint16-in-bounds", "An index of 40 in uint16 is within bounds.",
                 *inputs([41], vector("uint16", [40]), 0))
    for dtype in OPENVINO_NUMERIC:
        version.must(f"type-{dtype}", f"T may be {dtype}; what is written and what stays keep every bit.",
                     telling(dtype, [9]), vector("int64", [8, 0]), telling(dtype, [2]), scalar("int64", 0))
    for dtype in ["bool", *OPENVINO_BEYOND]:
        version.add(numeric(dtype)[0], f"type-{dtype}", numeric(dtype)[1],
                    telling(dtype, [9]), vector("int64", [8, 0]), labels(dtype, [2], first=5), scalar("int64", 0))
    repeats = [
        ("repeat", [4], vector("int64", [1, 1]), 0),
        ("repeat-three-times", [4], vector("int64", [2, 0, 2, 2]), 0),
        ("repeat-axis-1", [2, 3], vector("int64", [1, 2, 1]), 1),
        ("repeat-in-rank-2", [4], tensor("int64", [2, 2], [3, 0, 0, 3]), 0),
        ("more-indices-than-places", [2], vector("int64", [0, 1, 0, 1, 1, 0]), 0),
    ]
    for name, shape, indices, axis in repeats:
        version.choice(name, OPENVINO_LAST, *inputs(shape, indices, axis))
    version.must("repeat-of-equal-updates", "Where a place gets the same item twice the order cannot be seen.",
                 labels("int32", [4]), vector("int64", [2, 2]), vector("int32", [7, 7]), scalar("int64", 0))
    beyond = "An index that is negative, or points beyond the axis, raises an exception."
    for name, shape, indices, axis in [
        ("index-minus-1", [4], vector("int64", [-1]), 0),
        ("index-minus-dim", [4], vector("int64", [-4]), 0),
        ("index-is-dim", [4], vector("int64", [4]), 0),
        ("index-beyond-dim", [4], vector("int64", [0, 100]), 0),
        ("index-int64-max", [4], vector("int64", [(1 << 63) - 1]), 0),
        ("index-int64-min", [4], vector("int64", [-(1 << 63)]), 0),
        ("index-2-to-32", [4], vector("int64", [1 << 32]), 0),
        ("index-2-to-32-plus-1", [4], vector("int64", [(1 << 32) + 1]), 0),
        ("index-uint64-max", [4], vector("uint64", [(1 << 64) - 1]), 0),
        ("index-uint64-2-to-63", [4], vector("uint64", [1 << 63]), 0),
        ("index-uint8-255", [4], vector("uint8", [255]), 0),
        ("index-within-other-axis", [2, 5], vector("int64", [3]), 0),
        ("index-for-zero-axis", [0], vector("int64", [0]), 0),
        ("index-for-zero-block", [2, 0], vector("int64", [2]), 0),
        ("index-second-of-two", [4], vector("int64", [1, 4]), 0),
        ("index-in-rank-2", [4], tensor("int64", [2, 2], [0, 1, 2, 4]), 0),
        ("index-rank-0", [4], scalar("int64", 4), 0),
    ]:
        version.reject(name, beyond, *inputs(shape, indices, axis))
    shapes = "Updates have the shape of data with that of indices in the place of the axis."
    for name, shape, indices, axis, updates in [
        ("updates-broadcast-dim-1", [3, 4], vector("int64", [0, 2]), 0, [2, 1]),
        ("updates-broadcast-rank", [3, 4], vector("int64", [0, 2]), 0, [4]),
        ("updates-scalar", [3], vector("int64", [0]), 0, []),
        ("updates-axis-kept", [3, 4], scalar("int64", 0), 0, [1, 4]),
        ("updates-flat-for-rank-2-indices", [4], tensor("int64", [2, 1], [0, 1]), 0, [2]),
        ("updates-longer", [4], vector("int64", [0, 1]), 0, [3]),
        ("updates-transposed", [2, 3], vector("int64", [0, 1]), 1, [2, 3]),
        ("updates-shape-of-data", [4], vector("int64", [0, 1]), 0, [4]),
    ]:
        version.reject(name, shapes, *inputs(shape, indices, axis, updates=updates))
    version.reject("updates-of-another-type", "Data and updates are of one type.",
                   labels("int32", [3]), vector("int64", [0]), labels("float32", [1]), scalar("int64", 0))
    version.reject("axis-is-rank", "The axis lies in [-r, r - 1].",
                   *inputs([2, 3], vector("int64", [0]), 0, axis_tensor=scalar("int64", 2)))
    version.reject("axis-below-minus-rank", "The axis lies in [-r, r - 1].",
                   *inputs([2, 3], vector("int64", [0]), 0, axis_tensor=scalar("int64", -3)))
    version.reject("axis-of-two-items", "The axis is one number.",
                   *inputs([2, 3], vector("int64", [0]), 0, axis_tensor=vector("int64", [0, 1])))
    version.reject("axis-of-shape-1-1", "The axis is a scalar or has one axis; [1, 1] has two.",
                   *inputs([2, 3], vector("int64", [0]), 0, axis_tensor=tensor("int64", [1, 1], [0])))
    version.reject("strings-longer", numeric("string")[1], tensor("string", [3], ["a", "b", "c"]), vector("int64", [2]), tensor("string", [1], ["long"]),
                   scalar("int64", 0))
    version.reject("axis-float", "T_AXIS is an integer type.",
                   *inputs([2, 3], vector("int64", [0]), 0, axis_tensor=scalar("float32", 0)))
    version.reject("float-indices", "T_IND is an integer type.", *inputs([4], vector("float32", [1]), 0))
    version.reject("bool-indices", "T_IND is an integer type, which bool is not.", *inputs([4], vector("bool", [1]), 0))
    version.refusal("rank-0-data", "Data may have any rank, but without axes there is none to update; it is an error.",
                    scalar("int32", 1), scalar("int64", 0), scalar("int32", 2), scalar("int64", 0))
    return suite.cases


# the cases of each operator, by its name
FILES = {"scatter-update": cases}
