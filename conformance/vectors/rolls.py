"""Roll: OpenVINO Roll-7."""
from . import movement
from .items import Refused
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite
from .tensors import labels, scalar, telling, tensor, vector

INT64_MAX, INT64_MIN = (1 << 63) - 1, -(1 << 63)

# name, shape, shift, axes, what the specification says
LAYOUTS = [
    ("by-1", [5], [1], [0], "Items move towards larger indices, and the last becomes the first."),
    ("by-minus-1", [5], [-1], [0], "With a negative shift items move towards smaller indices."),
    ("by-2", [5], [2], [0], "Items that are shifted beyond the last place come first, in the same order."),
    ("by-0", [5], [0], [0], "A shift of 0 moves nothing."),
    ("by-dim", [5], [5], [0], "A shift of the dim moves nothing."),
    ("by-more-than-dim", [5], [12], [0], "A shift is taken round the axis as often as it takes."),
    ("by-less-than-minus-dim", [5], [-13], [0], "A negative shift is taken round the axis as often as it takes."),
    ("by-int64-max", [5], [INT64_MAX], [0], "The largest shift is taken modulo the dim."),
    ("by-int64-min", [5], [INT64_MIN], [0], "The least shift is taken modulo the dim; it has no positive counterpart."),
    ("by-int32-max", [5], [(1 << 31) - 1], [0], "INT_MAX of 32 bits is taken modulo the dim."),
    ("by-int32-min", [5], [-(1 << 31)], [0], "INT_MIN of 32 bits is taken modulo the dim."),
    ("document-example-1", [4, 3], [1], [0], "On the first axis whole rows move."),
    ("document-example-2", [4, 3], [-1, 2], [0, 1], "Each axis has a shift of its own."),
    ("document-example-3", [4, 3], [1, 2, 1], [0, 1, 0], "The shifts of an axis that is named twice are added."),
    ("last-axis", [2, 4], [1], [1], "On the last axis items move within their row."),
    ("middle-axis", [2, 3, 2], [1], [1], "On an axis in the middle blocks move."),
    ("axes-in-any-order", [2, 3], [2, 1], [1, 0], "Entry n of the shifts is for the axis that entry n of axes names."),
    ("axis-minus-1", [2, 4], [1], [-1], "A negative axis counts from the last."),
    ("axis-minus-rank", [3, 2], [1], [-2], "The axis -r is the first."),
    ("axes-mixed-signs", [2, 3, 2], [1, 1], [-1, 1], "Axes may be counted from either end in one list."),
    ("axis-twice-by-alias", [2, 5], [1, 2], [1, -1], "The shifts of an axis that is named twice are added, whichever end it is counted from."),
    ("axis-twice-to-nothing", [5], [3, -3], [0, 0], "Shifts of one axis may add up to none."),
    ("axis-twice-beyond-int64", [5], [INT64_MAX, INT64_MAX], [0, 0], "The sum of the shifts is not cut to 64 bits."),
    ("axis-twice-below-int64", [5], [INT64_MIN, INT64_MIN], [0, 0], "The sum of the shifts is not cut to 64 bits."),
    ("all-axes", [2, 2, 2], [1, 1, 1], [0, 1, 2], "All axes may be shifted."),
    ("rank-4", [1, 3, 2, 2], [1, -1], [3, 1], "Rank 4."),
    ("rank-5", [2, 1, 2, 1, 3], [1, 2], [0, 4], "Rank 5."),
    ("dim-1", [1, 3], [7], [0], "The one place of an axis stays where it is."),
    ("zero-axis", [0, 2], [3], [0], "An axis without places has none to shift."),
    ("zero-axis-beside", [0, 3], [1], [1], "Where another axis has no places nothing moves."),
    ("no-axes", [2, 3], [], [], "Where no axis is named nothing moves."),
]


def one_or_list(of):
    if of.dtype.kind not in ("int", "uint"):
        raise Refused(f"a list of dtype {of.dtype}")
    if of.rank > 1:
        raise Refused(f"a list of shape {of.shape}")
    return list(of.items)


def evaluate(version, attributes, data, shift, axes):
    shifts, named = one_or_list(shift), one_or_list(axes)
    if axes.rank < shift.rank:
        raise Refused("axes without an axis")
    if len(shifts) == 1:
        shifts *= len(named)
    return movement.roll(data, shifts, named)


def cases():
    suite = Suite("roll")
    version = suite.openvino("Roll", 7, evaluate)
    for name, shape, shift, axes, why in LAYOUTS:
        version.must(name, why, labels("int32", shape), vector("int64", shift), vector("int64", axes))
    version.must("shift-is-scalar", "A scalar shifts each axis that is named by the same.", labels("int32", [3, 3]), scalar("int64", 1),
                 vector("int64", [0, 1]))
    version.must("shift-is-scalar-and-axis-twice", "A scalar shifts an axis that is named twice by twice as much.", labels("int32", [5]),
                 scalar("int64", 2), vector("int64", [0, 0]))
    version.must("both-are-scalars", "Axes may be a scalar.", labels("int32", [2, 3]), scalar("int64", -1), scalar("int64", 1))
    version.must("axis-is-negative-scalar", "Axes may be a scalar, also a negative one.", labels("int32", [2, 3]), scalar("int64", 1),
                 scalar("int64", -2))
    version.choice("shift-of-one-for-two-axes", "The text asks for as many shifts as axes, and has an example of one shift of shape [1] for "
                   "several; it is for each.", labels("int32", [3, 3]), vector("int64", [1]), vector("int64", [0, 1]))
    version.reject("axis-is-scalar", "Where the shift has an axis, axes have one, too.",
                   labels("int32", [2, 3]), vector("int64", [1]), scalar("int64", 1))
    version.reject("shifts-shorter", "There are as many shifts as axes.", labels("int32", [2, 2, 2]), vector("int64", [1, 1]),
                   vector("int64", [0, 1, 2]))
    version.reject("shifts-longer", "There are as many shifts as axes.", labels("int32", [2, 2]), vector("int64", [1, 1, 1]),
                   vector("int64", [0, 1]))
    version.reject("axis-is-rank", "An axis is one of the data's.", labels("int32", [2, 2]), vector("int64", [1]), vector("int64", [2]))
    version.reject("axis-below-minus-rank", "An axis is one of the data's.", labels("int32", [2, 2]), vector("int64", [1]), vector("int64", [-3]))
    version.reject("second-axis-beyond", "Every axis is one of the data's.", labels("int32", [2, 2]), vector("int64", [1, 1]),
                   vector("int64", [0, 5]))
    version.reject("axis-of-rank-0", "Data without axes has none to name.", scalar("int32", 1), vector("int64", [1]), vector("int64", [0]))
    version.reject("shift-float", "T_IND_1 is int32 or int64.", labels("int32", [3]), vector("float32", [1]), vector("int64", [0]))
    version.reject("axes-float", "T_IND_2 is int32 or int64.", labels("int32", [3]), vector("int64", [1]), vector("float32", [0]))
    version.reject("shift-of-rank-2", "The shift is a scalar or has one axis.", labels("int32", [3]), tensor("int64", [1, 1], [1]),
                   vector("int64", [0]))
    version.must("shift-int32", "T_IND_1 may be int32.", labels("int32", [4]), vector("int32", [-1]), vector("int64", [0]))
    version.must("axes-int32", "T_IND_2 may be int32.", labels("int32", [4]), vector("int64", [1]), vector("int32", [-1]))
    for dtype in INTEGERS:
        if dtype not in ("int32", "int64"):
            version.reject(f"shift-{dtype}", f"T_IND_1 is int32 or int64, and not {dtype}.", labels("int32", [4]),
                           vector(dtype, [3]), vector("int64", [0]))
    for dtype in ["bool", *OPENVINO_NUMERIC]:
        version.must(f"type-{dtype}", f"T may be {dtype}, and every bit is kept.", telling(dtype, [9]), vector("int64", [2]), vector("int64", [0]))
    for dtype in OPENVINO_BEYOND:
        version.choice(f"type-{dtype}", f"Which types are supported is left to the runtime; {dtype} items are moved like others.",
                       telling(dtype, [9]), vector("int64", [2]), vector("int64", [0]))
    return suite.cases


# the cases of each operator, by its name
FILES = {"roll": cases}
