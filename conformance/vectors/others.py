"""Identity, CenterCropPad and Compress of ONNX."""
from . import movement
from .suite import Suite, narrow, numbers, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector


def data_of(shape):
    return labels("int32", shape) if shape else scalar("int32", 5)


def identity_cases():
    suite = Suite("identity")
    for number in (1, 13, 14, 16, 19, 21, 23, 24, 25):
        version = suite.onnx("Identity", number, lambda version, attributes, data: data)
        for dtype in onnx_dtypes(number):
            first = {1: True, 13: dtype == "bfloat16"}.get(number, dtype in ("float32", "string"))
            if first or (narrow(dtype) and dtype not in onnx_dtypes(number - 1)):
                version.must(f"type-{dtype}", f"The type {dtype} is listed, and every bit is kept.", telling(dtype, [9]))
        if number in (1, 25):
            for name, shape in [("matrix", [2, 3]), ("rank-0", []), ("rank-4", [1, 2, 2, 3]), ("zero", [2, 0]), ("dim-0", [0])]:
                version.must(name, "The output is the input.", data_of(shape))
    return suite.cases


# name, shape, the shape that is asked for, axes, what the specification says
CENTERED = [
    ("cropped-even", [6], [2], None, "As much is cut off at both ends."),
    ("cropped-odd", [5], [2], None, "The window begins at half of what is too much, rounded down."),
    ("cropped-odd-to-1", [4], [1], None, "The window begins at half of what is too much, rounded down."),
    ("cropped-by-1", [4], [3], None, "The window begins at half of what is too much, rounded down."),
    ("padded-even", [2], [6], None, "As much is added at both ends."),
    ("padded-odd", [2], [5], None, "One more is added at the end if the number is odd."),
    ("padded-by-1", [3], [4], None, "One more is added at the end if the number is odd."),
    ("same", [2, 3], [2, 3], None, "An axis that has the dim stays as it is."),
    ("cropped-on-both-axes", [4, 5], [2, 2], None, "Each axis is cut on its own."),
    ("padded-on-both-axes", [1, 2], [3, 5], None, "Each axis is padded on its own."),
    ("cropped-and-padded", [5, 2], [2, 4], None, "An axis may be cut beside one that is padded."),
    ("padded-and-cropped", [2, 5], [5, 2], None, "An axis may be cut beside one that is padded."),
    ("three-axes", [3, 2, 4], [2, 2, 6], None, "Each axis is treated on its own."),
    ("to-nothing", [3], [0], None, "A dim of 0 leaves no places."),
    ("from-nothing", [0], [3], None, "An axis without places gets zeros."),
    ("to-nothing-and-padded", [3, 2], [0, 4], None, "A dim of 0 leaves no places, and other axes are padded."),
    ("axes-last", [3, 4], [2], [1], "Axes that are not named stay."),
    ("axes-first", [3, 2], [5], [0], "Axes that are not named stay."),
    ("axes-negative", [2, 5], [2], [-1], "A negative axis counts from the last."),
    ("axes-minus-rank", [2, 3], [5], [-2], "The axis -r is the first."),
    ("axes-in-any-order", [3, 4], [2, 5], [1, 0], "Dims are in the order of axes, not of the data."),
    ("axes-of-3", [2, 3, 4], [2, 3], [2, 0], "Dims are in the order of axes, not of the data."),
    ("axes-mixed-signs", [3, 2, 4], [2, 5], [-1, 0], "Axes may be counted from either end in one list."),
    ("rank-4", [1, 3, 4, 1], [2, 3, 2, 2], None, "Rank 4."),
    ("channels-last", [3, 4, 2], [2, 6], [0, 1], "Axes that are not named stay."),
]


def evaluate_crop(version, attributes, data, shape):
    return movement.center_crop_pad(data, numbers(shape), attributes.get("axes"))


def crop_cases():
    suite = Suite("center-crop-pad")
    version = suite.onnx("CenterCropPad", 18, evaluate_crop)

    def case(kind, name, why, shape, to, axes=None):
        version.add(kind, name, why, data_of(shape), vector("int64", to), **({} if axes is None else {"axes": axes}))

    for name, shape, to, axes, why in CENTERED:
        case("must", name, why, shape, to, axes)
    case("choice", "rank-0", "Data without axes has none to cut; it comes out as it is.", [], [])
    case("reject", "shape-too-short", "Without axes there is a dim for each axis.", [3, 4], [2])
    case("reject", "shape-too-long", "There is a dim for each axis.", [3], [2, 2])
    case("reject", "shape-shorter-than-axes", "There is a dim for each axis that is named.", [3, 4], [2], [0, 1])
    case("reject", "shape-longer-than-axes", "There is a dim for each axis that is named.", [3, 4], [2, 2], [1])
    case("reject", "dim-negative", "A dim is not negative.", [3], [-1])
    case("reject", "axis-is-rank", "An axis lies in [-r, r - 1].", [3, 4], [2], [2])
    case("reject", "axis-below-minus-rank", "An axis lies in [-r, r - 1].", [3, 4], [2], [-3])
    undefined = "The behaviour is undefined where an axis is repeated; it is an error here."
    case("refusal", "axis-repeated", undefined, [3, 4], [2, 2], [1, 1])
    case("refusal", "axis-repeated-by-alias", undefined, [3, 4], [2, 2], [1, -1])
    version.must("shape-int32", "Tind may be int32.", data_of([5]), vector("int32", [2]))
    version.reject("shape-float", "Tind is int32 or int64.", data_of([5]), vector("float32", [2]))
    version.reject("shape-of-rank-2", "The shape has one axis.", data_of([3, 4]), tensor("int64", [1, 2], [2, 2]))
    for dtype in onnx_dtypes(18):
        version.must(f"type-{dtype}", f"T lists {dtype}, and every bit is kept; what is added is 0, False or an empty string.",
                     telling(dtype, [9]), vector("int64", [12]))
    return suite.cases


# name, shape, condition, axis, what the specification says
CHOSEN = [
    ("rank-1", [4], [0, 1, 1, 0], 0, "The places whose condition is true are taken."),
    ("rows", [3, 2], [1, 0, 1], 0, "On the first axis rows are taken."),
    ("columns", [2, 3], [0, 1, 1], 1, "On the last axis items of each row are taken."),
    ("middle-axis", [2, 3, 2], [1, 0, 1], 1, "On an axis in the middle blocks are taken."),
    ("all", [3], [1, 1, 1], 0, "Where all conditions are true the data comes out as it is."),
    ("none", [2, 3], [0, 0], 0, "Where no condition is true no places are left."),
    ("shorter", [4], [0, 1], 0, "Places beyond the condition are left out."),
    ("shorter-columns", [2, 3], [1], 1, "Places beyond the condition are left out."),
    ("empty-condition", [2, 3], [], 0, "Places beyond the condition are left out, here all of them."),
    ("flattened", [2, 3], [0, 1, 0, 0, 1, 1], None, "Without an axis the data is flattened first."),
    ("flattened-shorter", [2, 3], [0, 1, 0, 1], None, "Places beyond the condition are left out."),
    ("flattened-rank-1", [3], [1, 0, 1], None, "Data of one axis is flat."),
    ("flattened-rank-3", [2, 1, 2], [1, 0, 0, 1], None, "Without an axis the data is flattened first."),
    ("flattened-none", [2, 2], [0, 0, 0, 0], None, "Where no condition is true no items are left."),
    ("flattened-empty", [2, 0], [], None, "Data without items stays so."),
    ("rank-4", [1, 2, 2, 2], [0, 1], 2, "Rank 4."),
    ("other-axis-zero", [0, 3], [1, 0, 1], 1, "Where another axis has no places the dim is still that of the places taken."),
    ("dim-1", [1, 2], [1], 0, "One place may be taken."),
]


def evaluate_compress(version, attributes, data, condition):
    return movement.compress(data, condition, attributes.get("axis"))


def compress_cases():
    suite = Suite("compress")
    few = "type-* rows columns flattened axis-* beyond-*"
    for number, only in [(9, few), (11, ""), (28, "type-*")]:
        version = suite.onnx("Compress", number, evaluate_compress, only=only)

        def case(kind, name, why, shape, condition, axis):
            version.add(kind, name, why, data_of(shape), vector("bool", condition), **({} if axis is None else {"axis": axis}))

        for name, shape, condition, axis, why in CHOSEN:
            case("must", name, why, shape, condition, axis)
        kind, why = ("must", "A negative axis counts from the last.") if number >= 11 else (
            "choice", "This version leaves open whether the axis may be negative; later ones count it from the last.")
        case(kind, "axis-minus-1", why, [2, 3], [0, 1, 1], -1)
        case(kind, "axis-minus-rank", why, [2, 3], [0, 1], -2)
        case("reject", "axis-is-rank", "The axis is one of the data's.", [2, 3], [1, 0], 2)
        case("reject", "axis-below-minus-rank", "The axis is one of the data's.", [2, 3], [1, 0], -3)
        longer = "The text allows a condition that is shorter than the axis; what it has more changes nothing while it is false, as in NumPy."
        case("choice", "beyond-false", longer, [3], [1, 0, 1, 0, 0], 0)
        case("choice", "beyond-false-flattened", longer, [1, 2], [0, 1, 0], None)
        place = "The condition is true where there is no place; it is an error, as in NumPy, and ONNX Runtime leaves it out."
        case("refusal", "beyond-true", place, [3], [1, 0, 0, 0, 1], 0)
        case("refusal", "beyond-true-flattened", place, [1, 2], [0, 1, 1], None)
        case("reject", "rank-0", "The data has an axis or more.", [], [1], None)
        version.reject("condition-integers", "The condition is bool.", data_of([3]), vector("int64", [0, 1, 1]), axis=0)
        version.reject("condition-of-rank-2", "The condition has one axis.", data_of([4]), tensor("bool", [2, 2], [1, 0, 0, 1]), axis=0)
        for dtype in onnx_dtypes(13 if number == 28 else 9):
            if number != 28 or dtype in ("bfloat16", "float32", "string"):
                version.must(f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", telling(dtype, [9]),
                             vector("bool", [1, 1, 1, 1, 1, 1, 1, 1, 0]), axis=0)
    return suite.cases


# the cases of each operator, by its name
FILES = {"identity": identity_cases, "center-crop-pad": crop_cases, "compress": compress_cases}
