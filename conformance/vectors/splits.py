"""Split: ONNX Split 2, 11, 13 and 18, OpenVINO Split-1 and VariadicSplit-1. A case has several outputs."""
from . import movement
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, numbers, one_number, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector

# name, shape, axis, lengths, what the specifications say
LENGTHS = [
    ("lengths-equal", [4], 0, [2, 2], "Each output has as many places as its length."),
    ("lengths-differ", [6], 0, [1, 3, 2], "Each output has as many places as its length."),
    ("one-output", [3], 0, [3], "One output is the whole."),
    ("six-outputs", [6], 0, [1] * 6, "Each place may be an output of its own."),
    ("axis-0-of-2", [3, 2], 0, [1, 2], "On the first axis rows go to outputs."),
    ("axis-1-of-2", [2, 5], 1, [2, 3], "On the last axis each row is cut."),
    ("axis-1-of-3", [2, 4, 2], 1, [1, 3], "On an axis in the middle the axes around it stay."),
    ("axis-2-of-3", [2, 2, 3], 2, [2, 1], "On the last axis each row is cut."),
    ("rank-4", [1, 2, 3, 2], 2, [2, 1], "Rank 4."),
    ("rank-5", [1, 3, 1, 2, 2], 1, [1, 1, 1], "Rank 5."),
    ("dim-1", [1, 2], 0, [1], "An axis of one place is one output."),
    ("other-axis-zero", [4, 0], 0, [1, 3], "Where another axis has no places outputs still have their dims."),
]
EMPTY = [
    ("length-0-first", [3], 0, [0, 3], "A length of 0 gives an output without places."),
    ("length-0-in-the-middle", [3, 2], 0, [1, 0, 2], "A length of 0 gives an output without places, and takes none."),
    ("length-0-last", [2, 2], 1, [2, 0], "A length of 0 gives an output without places."),
    ("zero-axis", [0], 0, [0, 0], "An axis without places gives outputs without places."),
]
NEGATIVE_AXES = [
    ("axis-minus-1", [2, 4], -1, [1, 3], "A negative axis counts from the last."),
    ("axis-minus-rank", [3, 2], -2, [2, 1], "The axis -r is the first."),
    ("axis-minus-2-of-3", [2, 3, 2], -2, [1, 2], "A negative axis counts from the last."),
]
# name, shape, axis, number of outputs
EQUAL = [
    ("equal-in-2", [4], 0, 2),
    ("equal-in-3", [6], 0, 3),
    ("equal-in-1", [5], 0, 1),
    ("equal-in-dim", [4], 0, 4),
    ("equal-rows", [4, 2], 0, 2),
    ("equal-columns", [2, 6], 1, 3),
    ("equal-in-the-middle", [2, 4, 2], 1, 2),
    ("equal-of-rank-4", [1, 2, 2, 4], 3, 2),
    ("equal-beside-nothing", [0, 4], 1, 2),
]
SUM = "The lengths add up to the dim."


def evaluate_onnx(version, attributes, data, split=None):
    count, axis = attributes.get("output_count"), attributes.get("axis", 0)
    number = version.number
    parts = attributes.get("num_outputs")
    if number >= 18:
        movement.refuse_if((split is None) == (parts is None), "either split or num_outputs")
    lengths = attributes["split"] if "split" in attributes else numbers(split)
    if lengths is None:
        return movement.split(data, lambda dim: movement.equal_lengths(dim, count if parts is None else parts, number >= 18), axis)
    return movement.split(data, lengths, axis)


def evaluate_equal(version, attributes, data, axis):
    def lengths(dim):
        movement.refuse_if(not 1 <= attributes["num_splits"] <= dim, f"{attributes['num_splits']} parts of {dim} places")
        return movement.equal_lengths(dim, attributes["num_splits"], last_is_shorter=False)
    movement.refuse_if(axis.rank > 0, f"an axis of shape {axis.shape}")
    return movement.split(data, lengths, one_number(axis))


def evaluate_variadic(version, attributes, data, axis, lengths):
    return movement.split(data, lambda dim: movement.rest_inferred(dim, numbers(lengths)), one_number(axis))


def data_of(shape):
    return labels("int32", shape)


def items_of(dtype):
    """Items of which every bit counts; strings of one width, which all outputs then have."""
    return labels(dtype, [9]) if dtype == "string" else telling(dtype, [9])


def cases():
    suite = Suite("split")
    few = "type-* lengths-* axis-* length-0-* equal-* sum-* uneven-*"
    for number, only in [(2, ""), (11, few), (13, few), (18, "")]:
        onnx(suite.onnx("Split", number, evaluate_onnx, only=only))
    openvino_equal(suite.openvino("Split", 1, evaluate_equal))
    openvino_variadic(suite.openvino("VariadicSplit", 1, evaluate_variadic, prefix="openvino-variadic"))
    return suite.cases


def onnx(version):
    number = version.number

    def case(kind, name, why, data, axis, lengths, count=None):
        given = {} if axis is None else {"axis": axis}
        count = count or len(lengths or [1])
        if lengths is None:
            version.add(kind, name, why, data, **given, output_count=count, **({"num_outputs": count} if number >= 18 else {}))
        elif number < 13:
            version.add(kind, name, why, data, **given, split=lengths, output_count=count)
        else:
            version.add(kind, name, why, data, vector("int64", lengths), **given, output_count=count)

    for name, shape, axis, lengths, why in LENGTHS:
        case("must", name, why, data_of(shape), axis, lengths)
    for name, shape, axis, lengths, why in EMPTY:
        why = why if number > 2 else "This version does not say whether a length may be 0; it may, as later ones say."
        case("must" if number > 2 else "choice", name, why, data_of(shape), axis, lengths)
    for name, shape, axis, lengths, why in NEGATIVE_AXES:
        why = why if number > 2 else "This version leaves open whether the axis may be negative; later ones count it from the last."
        case("must" if number > 2 else "choice", name, why, data_of(shape), axis, lengths)
    case("must", "axis-absent", "The axis is 0 if it is left out.", data_of([3, 2]), None, [1, 2])
    case("must", "axis-absent-equal", "The axis is 0 if it is left out.", data_of([4, 2]), None, None, 2)
    for name, shape, axis, count in EQUAL:
        case("must", name, "Without lengths all outputs have the same.", data_of(shape), axis, None, count)
    case("must" if number > 2 else "choice", "equal-axis-minus-1", "A negative axis counts from the last." if number > 2 else
         "This version leaves open whether the axis may be negative; later ones count it from the last.", data_of([2, 4]), -1, None, 2)
    if number >= 18:
        smaller = "If the dim is no multiple of num_outputs the last chunk is smaller."
        for name, shape, axis, count in [("uneven-5-in-2", [5], 0, 2), ("uneven-7-in-3", [7], 0, 3), ("uneven-columns", [2, 5], 1, 3),
                                         ("uneven-8-in-3", [8], 0, 3), ("uneven-rows", [3, 2], 0, 2)]:
            case("must", name, smaller, data_of(shape), axis, None, count)
        last = "The last chunk is smaller, and may be left without places."
        case("must", "uneven-6-in-4", last, data_of([6]), 0, None, 4)
        case("must", "uneven-2-in-3", last, data_of([2]), 0, None, 3)
        several = ("It is not said how places are shared among more outputs than take one chunk each; those at the end have none, as in "
                   "onnx's reference evaluator, and ONNX Runtime refuses it.")
        case("choice", "uneven-5-in-4", several, data_of([5]), 0, None, 4)
        case("choice", "uneven-3-in-5", several, data_of([3]), 0, None, 5)
        case("choice", "uneven-7-in-5", several, data_of([7]), 0, None, 5)
        case("must", "equal-of-nothing", "An axis without places is split into outputs without places.", data_of([0]), 0, None, 2)
        version.reject("num-outputs-and-split", "Either split or num_outputs is given, but not both.", data_of([4]), vector("int64", [2, 2]),
                       num_outputs=2, output_count=2)
        version.reject("neither-num-outputs-nor-split", "Either split or num_outputs is given.", data_of([4]), output_count=2)
        version.reject("num-outputs-0", "There is at least one output.", data_of([4]), num_outputs=0, output_count=1)
        version.reject("num-outputs-negative", "There is at least one output.", data_of([4]), num_outputs=-2, output_count=1)
    else:
        even = "Without lengths all outputs have the same."
        case("reject", "uneven-5-in-2", even, data_of([5]), 0, None, 2)
        case("reject", "uneven-3-in-5", even, data_of([3]), 0, None, 5)
        case("reject", "uneven-columns", even, data_of([2, 5]), 1, None, 3)
        version.later("num_outputs", data_of([4]), num_outputs=2, output_count=2)
    kind, why = ("refusal", "This version does not say what lengths are that do not add up to the dim; it is an error, as in later ones.")
    kind, why = (kind, why) if number < 13 else ("reject", SUM)
    case(kind, "sum-too-small", why, data_of([5]), 0, [2, 2])
    case(kind, "sum-too-large", why, data_of([5]), 0, [2, 4])
    case(kind, "sum-of-another-axis", why, data_of([3, 4]), 1, [1, 2])
    kind, why = ("refusal", "This version does not say whether lengths may be negative; they may not.") if number == 2 else (
        "reject", "Lengths are at least 0.")
    case(kind, "length-minus-1", why, data_of([4]), 0, [1, -1])
    case(kind, "length-negative-and-sum", why, data_of([4]), 0, [5, -1])
    case("reject", "axis-is-rank", "The axis is one of the data's.", data_of([4]), 1, [2, 2])
    case("reject", "axis-below-minus-rank", "The axis is one of the data's.", data_of([4]), -2, [2, 2])
    case("reject", "axis-of-rank-0", "Data without axes has none to split.", scalar("int32", 1), 0, [1])
    if number >= 13:
        version.reject("lengths-float", "Split is int64.", data_of([2]), vector("float32", [1, 1]), output_count=2)
        version.reject("lengths-of-rank-2", "Split has one axis.", data_of([2]), tensor("int64", [1, 2], [1, 1]), output_count=2)
    for dtype in onnx_dtypes(number if number == 2 else 13) if number != 18 else []:
        if number != 11 and (number == 2 or dtype in ("bfloat16", "string", "int64", "float32", "bool")):
            case("must", f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", items_of(dtype), 0, [2, 7])
    if number == 18:
        for dtype in onnx_dtypes(18):
            case("must", f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", items_of(dtype), 0, None, 2)


def openvino_equal(version):
    for name, shape, axis, count in EQUAL:
        version.must(name, "All outputs have the same length.", data_of(shape), scalar("int64", axis), num_splits=count)
    version.must("equal-axis-minus-1", "A negative axis counts from the last.", data_of([2, 4]), scalar("int64", -1), num_splits=2)
    version.must("equal-axis-minus-rank", "The axis -r is the first.", data_of([2, 4]), scalar("int64", -2), num_splits=2)
    even = "The dim is a multiple of num_splits."
    for name, shape, axis, count in [("uneven-5-in-2", [5], 0, 2), ("uneven-3-in-5", [3], 0, 5), ("uneven-columns", [2, 5], 1, 3),
                                     ("uneven-6-in-4", [6], 0, 4)]:
        version.reject(name, even, data_of(shape), scalar("int64", axis), num_splits=count)
    version.reject("num-splits-0", "num_splits is at least 1.", data_of([4]), scalar("int64", 0), num_splits=0)
    version.reject("num-splits-negative", "num_splits is at least 1.", data_of([4]), scalar("int64", 0), num_splits=-2)
    version.reject("nothing-in-2", "num_splits is at most the dim.", data_of([0]), scalar("int64", 0), num_splits=2)
    version.reject("axis-is-rank", "The axis lies in [-r, r - 1].", data_of([4]), scalar("int64", 1), num_splits=2)
    version.reject("axis-below-minus-rank", "The axis lies in [-r, r - 1].", data_of([4]), scalar("int64", -2), num_splits=2)
    version.reject("axis-float", "T_AXIS is an integer type.", data_of([4]), scalar("float32", 0), num_splits=2)
    version.reject("axis-of-two", "The axis is a scalar.", data_of([2, 2]), vector("int64", [0, 1]), num_splits=2)
    version.reject("axis-is-list", "The axis is a scalar, and not a list of one number.",
                   data_of([4]), vector("int64", [0]), num_splits=2)
    openvino_types(version, lambda name: {"num_splits": 3}, lambda axis: [axis])


def openvino_variadic(version):
    def case(kind, name, why, data, axis, lengths):
        version.add(kind, name, why, data, scalar("int64", axis), vector("int64", lengths))

    for name, shape, axis, lengths, why in LENGTHS + EMPTY + NEGATIVE_AXES:
        case("must", name, why, data_of(shape), axis, lengths)
    for name, shape, axis, lengths, why in [
        ("rest-first", [6, 2], 0, [-1, 2], "A length of -1 is what the others leave."),
        ("rest-in-the-middle", [6], 0, [1, -1, 2], "A length of -1 is what the others leave."),
        ("rest-last", [2, 5], 1, [1, 3, -1], "A length of -1 is what the others leave."),
        ("rest-alone", [3], 0, [-1], "A lone -1 is the whole."),
        ("rest-is-nothing", [4], 0, [-1, 4], "The others may leave nothing."),
        ("rest-of-nothing", [0], 0, [-1, 0], "An axis without places leaves nothing."),
        ("rest-and-0", [3], 0, [0, -1], "A length of 0 is not what the others leave."),
    ]:
        case("must", name, why, data_of(shape), axis, lengths)
    case("reject", "sum-too-small", SUM, data_of([4]), 0, [1, 2])
    case("reject", "sum-too-large", SUM, data_of([4]), 0, [2, 3])
    case("reject", "sum-of-another-axis", SUM, data_of([3, 4]), 1, [1, 2])
    case("reject", "rest-twice", "At most one length is -1.", data_of([4]), 0, [-1, 2, -1])
    case("reject", "rest-below-nothing", "The other lengths are at most the dim; OpenVINO's CPU plugin reads beyond its memory.",
         data_of([4]), 0, [-1, 5])
    case("reject", "length-minus-2", "A length is at least 0, or -1.", data_of([4]), 0, [2, -2, 4])
    case("reject", "sum-wraps", "The sum does not wrap round to the dim.", data_of([4]), 0, [1 << 62, 1 << 62, 1 << 62, (1 << 62) - 1, 5])
    case("reject", "axis-is-rank", "The axis lies in [-r, r - 1].", data_of([4]), 1, [2, 2])
    case("reject", "axis-below-minus-rank", "The axis lies in [-r, r - 1].", data_of([4]), -2, [2, 2])
    version.must("axis-is-list", "The axis may be a tensor of shape [1].", data_of([4]), vector("int64", [0]), vector("int64", [1, 3]))
    version.reject("axis-float", "T2 is an integer type.", data_of([4]), scalar("float32", 0), vector("int64", [2, 2]))
    version.reject("lengths-float", "T2 is an integer type.", data_of([4]), scalar("int64", 0), vector("float32", [2, 2]))
    openvino_types(version, lambda name: {}, lambda axis: [axis, vector("int64", [2, 7])])
    for dtype in INTEGERS:
        if dtype != "int64":
            version.must(f"lengths-{dtype}", f"T2 may be any integer type, {dtype} among them.",
                         data_of([4]), scalar(dtype, 0), vector(dtype, [1, 3]))


def openvino_types(version, attributes, inputs):
    for dtype in ["bool", *OPENVINO_NUMERIC]:
        version.must(f"type-{dtype}", f"T may be any type, {dtype} among them, and every bit is kept.",
                     items_of(dtype), *inputs(scalar("int64", 0)), **attributes(dtype))
    for dtype in OPENVINO_BEYOND:
        version.choice(f"type-{dtype}", f"Which types are supported is left to the runtime; {dtype} items are moved like others.",
                       items_of(dtype), *inputs(scalar("int64", 0)), **attributes(dtype))
    if version.operator == "Split":
        for dtype in INTEGERS:
            if dtype != "int64":
                version.must(f"axis-{dtype}", f"T_AXIS may be any integer type, {dtype} among them.", data_of([1, 4] if dtype[0] == "u" else [4]),
                             scalar(dtype, 1 if dtype[0] == "u" else -1), num_splits=2)


# the cases of each operator, by its name
FILES = {"split": cases}
