"""Pad: ONNX Pad 2, 11, 13, 18, 19, 21, 23, 24 and 25, OpenVINO Pad-1 and Pad-12."""
from . import movement
from .items import DTYPES
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, narrow, numbers, numeric, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector

# name, shape, before, after, what the specification says
CONSTANT = [
    ("both-ends", [3], [1], [2], "Places are added before the first and behind the last."),
    ("before-only", [3], [2], [0], "A number of 0 adds nothing at its end."),
    ("after-only", [3], [0], [2], "A number of 0 adds nothing at its end."),
    ("nothing", [2, 3], [0, 0], [0, 0], "Where nothing is added the data comes out as it is."),
    ("rows", [2, 3], [1, 0], [1, 0], "Whole rows are added on the first axis."),
    ("columns", [2, 3], [0, 2], [0, 1], "Each row becomes longer on the last axis."),
    ("both-axes", [2, 3], [1, 2], [0, 1], "The corners have the constant too."),
    ("middle-axis", [2, 2, 2], [0, 1, 0], [0, 1, 0], "An axis in the middle becomes longer, and those around it stay."),
    ("order-of-numbers", [2, 2], [0, 1], [2, 0], "All numbers for the beginnings come before those for the ends."),
    ("rank-3", [2, 1, 2], [1, 0, 0], [0, 1, 1], "Each axis has its own numbers."),
    ("rank-4", [1, 2, 1, 2], [0, 1, 0, 1], [1, 0, 1, 0], "Rank 4."),
    ("rank-5", [1, 1, 2, 1, 2], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0], "Rank 5."),
    ("dim-1", [1], [3], [2], "One place may be padded like several."),
    ("zero-axis", [0], [1], [2], "An axis without places gets those that are added."),
    ("zero-axis-stays", [0, 2], [0, 1], [0, 0], "An axis without places stays so beside one that is padded."),
    ("zero-axis-filled", [0, 2], [2, 0], [0, 1], "All items of the output are the constant."),
    ("wider-than-dim", [2], [5], [4], "More places may be added than there are."),
]
# for edge, reflect, symmetric and wrap, as wide as all of them allow
REPEATED = [
    ("both-ends", [4], [2], [3]),
    ("before-only", [4], [3], [0]),
    ("after-only", [3], [0], [1]),
    ("dim-less-1", [4], [3], [3]),
    ("both-axes", [3, 4], [0, 1], [2, 3]),
    ("corners", [2, 3], [1, 2], [1, 2]),
    ("middle-axis", [2, 3, 2], [0, 2, 0], [0, 1, 0]),
    ("rank-3", [2, 2, 3], [1, 0, 2], [0, 1, 1]),
    ("nothing", [2, 3], [0, 0], [0, 0]),
]
HOW = {
    "edge": "The places that are added have the item at that end of the axis.",
    "reflect": "The data is mirrored on its first and last places, which are not repeated.",
    "symmetric": "The data is mirrored with its first and last places.",
    "wrap": "The data goes on from its other end, as on a torus.",
}
# wider than the axis: name, mode, shape, before, after
WIDE = [
    ("edge-wider", "edge", [2], [3], [5]),
    ("edge-dim-1", "edge", [1], [2], [1]),
    ("wrap-dim", "wrap", [3], [3], [3]),
    ("wrap-wider", "wrap", [3], [5], [7]),
    ("wrap-dim-1", "wrap", [1], [2], [1]),
    ("wrap-both-axes-wider", "wrap", [2, 2], [3, 1], [0, 4]),
]
REFLECTED_WIDE = [
    ("reflect-dim", [3], [3], [0]),
    ("reflect-dim-behind", [3], [0], [3]),
    ("reflect-wider", [3], [5], [6]),
    ("reflect-dim-2-wider", [2], [4], [3]),
    ("reflect-dim-1", [1], [2], [1]),
    ("reflect-wider-on-one-axis", [2, 3], [0, 4], [1, 0]),
]
ON = "The text names no limit; the data goes on being mirrored, as in NumPy and onnx's reference evaluator, and ONNX Runtime refuses it."
CROPPED = [
    ("cropped-before", [5], [-2], [0]),
    ("cropped-after", [5], [0], [-2]),
    ("cropped-both-ends", [5], [-1], [-2]),
    ("cropped-both-axes", [3, 4], [-1, -1], [-1, -1]),
    ("cropped-to-nothing", [3], [-1], [-2]),
    ("cropped-middle-axis", [2, 4, 2], [0, -1, 0], [0, -2, 0]),
]
# before and after of one axis, or of two, have both signs
MIXED = [
    ("cropped-before-padded-after", [5], [-2], [2]),
    ("padded-before-cropped-after", [5], [2], [-2]),
    ("one-axis-cropped-one-padded", [3, 4], [-1, 2], [0, 1]),
    ("mixed-document-example", [3, 4], [1, -1], [-1, 2]),
]
INT64_MIN = -(1 << 63)


def pads_of(before, after):
    return vector("int64", before + after)


def evaluate_attributes(version, attributes, data):
    half = len(attributes["pads"]) // 2
    value = tensor(data.dtype.name, [], [attributes.get("value", 0.0)])
    return movement.pad(data, attributes["pads"][:half], attributes["pads"][half:], attributes.get("mode", "constant"), value)


def evaluate_onnx(version, attributes, data, pads, constant=None, axes=None):
    pads, axes, mode = numbers(pads), numbers(axes), attributes.get("mode", "constant")
    movement.refuse_if(mode == "symmetric" or (mode == "wrap" and version.number < 19), f"mode {mode}")
    movement.refuse_if(len(pads) % 2, f"{len(pads)} numbers")
    half = len(pads) // 2
    return movement.pad(data, pads[:half], pads[half:], mode, constant, axes)


def evaluate_openvino(version, attributes, data, before, after, constant=None):
    return movement.pad_openvino(data, numbers(before), numbers(after), attributes["pad_mode"], constant, version.number >= 12)


def cases():
    suite = Suite("pad")
    onnx_attributes(suite.onnx("Pad", 2, evaluate_attributes))
    types = "type-*"
    few = "type-* both-ends both-axes edge-corners reflect-corners reflect-dim cropped-both-ends constant-* axes-* wrap-* axis-*"
    last = "type-* both-ends edge-corners reflect-corners wrap-corners axes-last axes-negative axis-*"
    for number, only in [(11, ""), (13, few), (18, few), (19, ""), (21, types), (23, types), (24, types), (25, last)]:
        onnx(suite.onnx("Pad", number, evaluate_onnx, only=only))
    openvino(suite.openvino("Pad", 1, evaluate_openvino))
    openvino(suite.openvino("Pad", 12, evaluate_openvino))
    return suite.cases


def data_of(shape):
    return labels("float32", shape)


def onnx_attributes(version):
    for name, shape, before, after, why in CONSTANT:
        version.must(name, why, data_of(shape), pads=before + after, value=-1.5)
    version.must("value-absent", "The value is 0 if it is left out.", data_of([2]), pads=[1, 1])
    version.must("mode-constant-said", "The mode constant is the default.", data_of([2]), pads=[1, 1], mode="constant", value=7.0)
    version.must("value-rounded", "The value becomes an item of the data's type, the nearest one.",
                 labels("float16", [2]), pads=[0, 1], value=0.100000001490116)
    for mode in ("edge", "reflect"):
        for name, shape, before, after in REPEATED:
            version.must(f"{mode}-{name}", HOW[mode], data_of(shape), pads=before + after, mode=mode)
    for name, shape, before, after in CROPPED:
        version.must(name, "A negative number takes places away.", data_of(shape), pads=before + after)
    for name, shape, before, after in MIXED:
        version.must(name, "Each number adds places or takes them away at its own end.", data_of(shape), pads=before + after, value=9.0)
    version.must("edge-with-value", "The value is for the mode constant alone.", data_of([2]), pads=[1, 2], mode="edge", value=5.0)
    for dtype in ("float16", "float64"):
        version.must(f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", telling(dtype, [9]), pads=[1, 1], mode="edge")
    length = "Pads has two numbers for each axis."
    version.reject("pads-too-short", length, data_of([2, 2]), pads=[1, 1])
    version.reject("pads-too-long", length, data_of([2]), pads=[1, 0, 1, 0])
    version.reject("pads-odd", length, data_of([2]), pads=[1])
    version.reject("mode-unknown", "The modes are constant, reflect and edge.", data_of([2]), pads=[1, 1], mode="mirror")


def onnx(version):
    number = version.number

    def case(kind, name, why, data, before, after, constant=None, axes=None, **attributes):
        more = [constant, axes]
        while more and more[-1] is None:
            more.pop()
        version.add(kind, name, why, data, pads_of(before, after), *more, **attributes)

    for name, shape, before, after, why in CONSTANT:
        case("must", name, why, data_of(shape), before, after, scalar("float32", -1.5))
    case("must", "constant-absent", "The constant is 0 if it is left out.", data_of([2]), [1], [1])
    case("must", "mode-constant-said", "The mode constant is the default.", data_of([2]), [1], [1], scalar("float32", 7), mode="constant")
    if number < 18:
        case("must", "constant-left-empty", "An input that is left out by an empty name is left out.", data_of([2]), [2], [1])
    case("reject", "constant-of-one-axis", "The constant is a scalar, and not a list of one item.",
         data_of([2]), [1], [2], vector("float32", [7]))
    case("reject", "constant-of-two-items", "The constant is a scalar.", data_of([2]), [1], [1], vector("float32", [7, 8]))
    case("reject", "constant-of-another-type", "The constant has the type of the data.", data_of([2]), [1], [1], scalar("float64", 7))
    case("must", "edge-with-constant", "The constant is for the mode constant alone.", data_of([2]), [1], [1], scalar("float32", 7), mode="edge")
    modes = ["edge", "reflect"] + ["wrap"] * (number >= 19)
    for mode in modes:
        for name, shape, before, after in REPEATED:
            case("must", f"{mode}-{name}", HOW[mode], data_of(shape), before, after, mode=mode)
    for name, mode, shape, before, after in WIDE:
        if mode in modes:
            case("must", name, HOW[mode], data_of(shape), before, after, mode=mode)
    for name, shape, before, after in REFLECTED_WIDE:
        case("choice", name, ON, data_of(shape), before, after, mode="reflect")
    for mode in modes:
        case("refusal", f"{mode}-of-nothing", "An axis without places has none to repeat; it is an error, as in NumPy.",
             data_of([0]), [1], [0], mode=mode)
        case("must", f"{mode}-beside-nothing", "An axis without places is left as it is.", data_of([0, 2]), [0, 1], [0, 1], mode=mode)
    for name, shape, before, after in CROPPED:
        case("must", name, "A negative number takes places away.", data_of(shape), before, after)
        if name in ("cropped-both-ends", "cropped-both-axes"):
            for mode in modes:
                case("must", f"{name}-{mode}", "A negative number takes places away in every mode.", data_of(shape), before, after, mode=mode)
    for name, shape, before, after in MIXED:
        case("must", name, "Each number adds places or takes them away at its own end.", data_of(shape), before, after, scalar("float32", 9))
    mixed = ("It is not said of which places others are made where some are taken away; of those that are left, as in ONNX Runtime, "
             "and OpenVINO's Pad-12 takes those that were there.")
    for mode in modes:
        kind, why = ("must", "The end that is repeated is still there.") if mode == "edge" else ("choice", mixed)
        case(kind, f"{mode}-cropped-before-padded-after", why, data_of([5]), [-2], [2], mode=mode)
        case(kind, f"{mode}-padded-before-cropped-after", why, data_of([6]), [2], [-3], mode=mode)
    gone = "It is not said what becomes of more places taken away than there are; it is an error."
    case("refusal", "more-cropped-than-there-are", gone, data_of([3]), [-2], [-2])
    case("refusal", "more-cropped-than-there-are-at-one-end", gone, data_of([3]), [-4], [3])
    case("refusal", "cropped-int64-min", gone, data_of([3]), [INT64_MIN], [0])
    case("must", "cropped-to-nothing-and-padded", "An axis may lose all places and get others.", data_of([3]), [-3], [2], scalar("float32", 4))
    case("reject", "pads-too-short", "Pads has two numbers for each axis.", data_of([2, 2]), [1], [1])
    case("reject", "pads-too-long", "Pads has two numbers for each axis.", data_of([2]), [1, 0], [1, 0])
    case("reject", "pads-odd", "Pads has two numbers for each axis.", data_of([2]), [1], [])
    version.reject("pads-float", "Pads are int64.", data_of([2]), vector("float32", [1, 1]))
    version.reject("pads-of-rank-2", "Pads have one axis.", data_of([2, 2]), tensor("int64", [1, 4], [1, 0, 0, 0]))
    version.reject("pads-int32", "Pads are int64, and not int32.", data_of([3]), vector("int32", [-1, 1]))
    version.reject("mode-unknown", "The modes are those that the text lists.", data_of([2]), pads_of([1], [1]), mode="mirror")
    version.reject("mode-symmetric", "Mode symmetric is OpenVINO's.", data_of([2]), pads_of([1], [1]), mode="symmetric")
    if number < 19:
        version.reject("wrap-is-later", "Mode wrap came with version 19.", data_of([2]), pads_of([1], [1]), mode="wrap")
    version.choice("rank-0", "Data without axes has none to pad; it comes out as it is.", scalar("float32", 5), vector("int64", []))
    for dtype in onnx_dtypes(number) if number >= 13 else [*INTEGERS, "float16", "float32", "float64"]:
        if number not in (11, 13) and not narrow(dtype):
            continue
        if dtype in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float4_e2m1fn", "float8_e8m0fnu"):
            constant = scalar(dtype, 3)
        else:
            constant = None
        if number >= 21 and dtype in {21: [], 23: onnx_dtypes(21), 24: onnx_dtypes(23), 25: onnx_dtypes(24)}[number]:
            continue
        if number == 19 and narrow(dtype):
            continue                      # float8 came into this operator's T with version 21
        if number == 18:
            continue
        case("must", f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", telling(dtype, [9]), [1], [1], constant)
        case("must", f"type-{dtype}-edge", f"T lists {dtype}, and every bit is kept.", telling(dtype, [3, 3]), [1, 0], [0, 1], mode="edge")
    if number in (13, 19):
        case("must", "constant-string", "The constant may be a string.", labels("string", [2]), [1], [1], scalar("string", "ab"))
        case("must", "constant-bool", "The constant may be a bool.", tensor("bool", [2], [0, 0]), [1], [1], scalar("bool", 1))
        case("must", "constant-nan-payload", "The constant keeps every bit.", data_of([2]), [1], [0],
             tensor("float32", [], [nan_with_payload()]))
        case("must", "constant-negative-zero", "The constant keeps the sign of zero.", data_of([2]), [1], [0], scalar("float32", -0.0))
        case("must", "constant-int64-max", "The constant is not taken through a float.", labels("int64", [2]), [1], [0],
             scalar("int64", (1 << 63) - 1))
    if number < 18:
        return
    axes = [
        ("axes-last", [2, 3], [1], [2], [1], "Numbers are for the axes that are named; others stay."),
        ("axes-first", [2, 3], [1], [0], [0], "Numbers are for the axes that are named; others stay."),
        ("axes-negative", [2, 3], [2], [1], [-1], "A negative axis counts from the last."),
        ("axes-minus-rank", [2, 3], [0], [1], [-2], "The axis -r is the first."),
        ("axes-in-any-order", [2, 3], [1, 2], [0, 1], [1, 0], "Numbers are in the order of axes, not of the data."),
        ("axes-in-any-order-of-3", [1, 2, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1], "Numbers are in the order of axes, not of the data."),
        ("axes-mixed-signs", [2, 1, 2], [1, 0], [1, 2], [-1, 0], "Axes may be counted from either end in one list."),
        ("axes-none", [2, 3], [], [], [], "An empty list pads no axis."),
        ("axes-all", [2, 2], [1, 1], [0, 0], [0, 1], "All axes may be named."),
    ]
    for name, shape, before, after, of, why in axes:
        case("must", name, why, data_of(shape), before, after, scalar("float32", 8), vector("int64", of))
    case("must", "axes-without-constant", "The constant may be left out before axes.", data_of([2, 2]), [1], [1], None, vector("int64", [1]))
    case("must", "axes-int32", "Tind may be int32.", data_of([2, 2]), [1], [0], None, vector("int32", [-1]))
    for mode in modes:
        case("must", f"axes-{mode}", HOW[mode], data_of([2, 3]), [2], [1], None, vector("int64", [1]), mode=mode)
    case("must", "axes-cropped", "A negative number takes places away from the axis that is named.", data_of([2, 4]), [-1], [-2], None,
         vector("int64", [1]))
    undefined = "The behaviour is undefined where an axis is repeated; it is an error here."
    case("refusal", "axis-repeated", undefined, data_of([2, 2]), [1, 1], [0, 0], None, vector("int64", [1, 1]))
    case("refusal", "axis-repeated-by-alias", undefined, data_of([2, 2]), [1, 1], [0, 0], None, vector("int64", [1, -1]))
    case("reject", "axis-is-rank", "An axis lies in [-r, r - 1].", data_of([2, 2]), [1], [1], None, vector("int64", [2]))
    case("reject", "axis-below-minus-rank", "An axis lies in [-r, r - 1].", data_of([2, 2]), [1], [1], None, vector("int64", [-3]))
    case("reject", "axes-shorter-than-pads", "Pads has two numbers for each axis that is named.",
         data_of([2, 2]), [1, 1], [1, 1], None, vector("int64", [0]))
    case("reject", "axes-longer-than-pads", "Pads has two numbers for each axis that is named.",
         data_of([2, 2]), [1], [1], None, vector("int64", [0, 1]))


def nan_with_payload():
    from .items import Bits
    return Bits(DTYPES["float32"].quiet_nan | 0x1234)


def openvino(version):
    def case(kind, name, why, data, before, after, mode, *constant):
        version.add(kind, name, why, data, vector("int64", before), vector("int64", after), *constant, pad_mode=mode)

    new = version.number >= 12
    for name, shape, before, after, why in CONSTANT:
        case("must", name, why, data_of(shape), before, after, "constant", scalar("float32", -1.5))
    case("must", "constant-absent", "New items are 0 if no value is given.", data_of([2]), [1], [1], "constant")
    for mode in ("edge", "reflect", "symmetric"):
        for name, shape, before, after in REPEATED:
            case("must", f"{mode}-{name}", HOW[mode], data_of(shape), before, after, mode)
        case("must", f"{mode}-document-example", HOW[mode], labels("int32", [3, 4]), [0, 1], [2, 3], mode)
        if mode != "edge":
            most = 2 if mode == "reflect" else 3
            limit = f"Mode {mode} adds at most {'dim - 1' if mode == 'reflect' else 'dim'} places."
            case("must", f"{mode}-as-wide-as-allowed", limit, data_of([3]), [most], [most], mode)
            case("reject", f"{mode}-one-wider", limit, data_of([3]), [most + 1], [0], mode)
            case("reject", f"{mode}-one-wider-behind", limit, data_of([3]), [0], [most + 1], mode)
            case("reject", f"{mode}-wider-on-second-axis", limit, data_of([5, 3]), [1, 0], [1, most + 1], mode)
            case("reject", f"{mode}-of-nothing", limit, data_of([0]), [1], [0], mode)
    case("must", "edge-wider", HOW["edge"], data_of([2]), [3], [5], "edge")
    case("must", "edge-dim-1", HOW["edge"], data_of([1]), [2], [1], "edge")
    case("must", "symmetric-dim-1", HOW["symmetric"], data_of([1]), [1], [1], "symmetric")
    case("reject", "reflect-dim-1", "Mode reflect adds at most dim - 1 places.", data_of([1]), [1], [0], "reflect")
    case("refusal", "edge-of-nothing", "An axis without places has no edge; it is an error.", data_of([0]), [1], [0], "edge")
    case("reject", "before-too-short", "Pads have as many numbers as the data axes.", data_of([2, 2]), [1], [0, 0], "constant")
    case("reject", "after-too-long", "Pads have as many numbers as the data axes.", data_of([2, 2]), [1, 1], [0, 0, 0], "constant")
    case("reject", "mode-wrap", "The modes are constant, edge, reflect and symmetric.", data_of([2]), [1], [1], "wrap")
    case("reject", "value-of-another-type", "The value has the type of the data.", data_of([2]), [1], [1], "constant", scalar("float64", 7))
    case("reject", "value-of-two-items", "The value is a scalar.", data_of([2]), [1], [1], "constant", vector("float32", [7, 8]))
    case("reject", "value-of-one-axis", "The value is a scalar, and not a list of one item.",
         data_of([2]), [1], [1], "constant", vector("float32", [7]))
    case("choice", "rank-0", "Data may have any shape; without axes there are none to pad.", scalar("float32", 5), [], [], "constant")
    version.reject("pads-float", "T_INT is an integer type.", data_of([2]), vector("float32", [1]), vector("float32", [1]), pad_mode="constant")
    taken = "A negative number takes places away." if new else "T_INT is not negative in this version."
    for name, shape, before, after in CROPPED + MIXED:
        case("must" if new else "reject", name, taken, data_of(shape), before, after, "constant", scalar("float32", 9))
    if new:
        for mode in ("edge", "reflect", "symmetric"):
            case("must", f"{mode}-cropped", taken, data_of([3, 4]), [-1, -1], [-1, -1], mode)
            case("must", f"{mode}-mixed-document-example", "The items that are added are those of the data that was given, also of places "
                 "that are taken away.", labels("int32", [3, 4]), [2, -1], [-1, 3], mode)
            case("must", f"{mode}-cropped-before-padded-after", "The items that are added are those of the data that was given.",
                 data_of([5]), [-3], [3], mode)
            case("must", f"{mode}-padded-before-cropped-after", "The items that are added are those of the data that was given.",
                 data_of([6]), [3], [-4], mode)
        case("must", "more-cropped-than-there-are", "A dim is at least 0: max(begin + dim + end, 0).", data_of([3]), [-2], [-2], "constant")
        case("choice", "more-cropped-than-there-are-at-one-end", "The dim is begin + dim + end; the places that are left are some of those "
             "that were added. OpenVINO's CPU plugin writes beyond its memory.", data_of([3]), [-4], [3], "constant", scalar("float32", 9))
        case("choice", "edge-more-cropped-than-there-are-at-one-end", "The dim is begin + dim + end; the places that are left are some of "
             "those that were added.", data_of([3]), [-4], [3], "edge")
        case("must", "type-string", "T may be string in mode constant.", labels("string", [2]), [1], [0], "constant", scalar("string", "ab"))
        case("must", "type-string-without-value", "Strings that are added are empty if no value is given.", labels("string", [2]), [1], [1],
             "constant")
        for mode in ("edge", "reflect", "symmetric"):
            case("reject", f"type-string-{mode}", "Strings are padded in mode constant alone.", labels("string", [3]), [1], [1], mode)
    for dtype in OPENVINO_NUMERIC:
        case("must", f"type-{dtype}", f"T may be {dtype}, and every bit is kept.", telling(dtype, [9]), [1], [2], "symmetric")
    for dtype in ["bool", *(one for one in OPENVINO_BEYOND if one != "string")]:
        case(*numeric(dtype)[:1], f"type-{dtype}", numeric(dtype)[1], telling(dtype, [9]), [1], [2], "symmetric")
    for dtype in INTEGERS:
        if dtype != "int64":
            version.must(f"pads-{dtype}", f"T_INT may be any integer type, {dtype} among them.",
                         data_of([2]), vector(dtype, [1]), vector(dtype, [2]), pad_mode="constant")
    case("must", "value-nan-payload", "The value keeps every bit.", data_of([2]), [1], [0], "constant",
         tensor("float32", [], [nan_with_payload()]))


# the cases of each operator, by its name
FILES = {"pad": cases}
