"""Slice: OpenVINO Slice-8, ONNX Slice 1, 10, 11 and 13."""
from . import model
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, numbers, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector

INT32_MAX, INT32_MIN = (1 << 31) - 1, -(1 << 31)
INT64_MAX, INT64_MIN = (1 << 63) - 1, -(1 << 63)

# name, start, stop, step, what the specification says of it: of an axis of 5 places
FORWARD = [
    ("inner", 1, 4, 1, "The place start is taken, the place stop is not."),
    ("whole", 0, 5, 1, "From 0 to the dim is the whole axis."),
    ("first-only", 0, 1, 1, "One place is taken where stop is start plus one."),
    ("last-only", 4, 5, 1, "The last place is dim - 1."),
    ("start-minus-1", -1, INT64_MAX, 1, "A negative start counts from the end, so -1 is the last place."),
    ("start-minus-dim", -5, 5, 1, "A start of -dim is the first place."),
    ("start-below-minus-dim", -6, 3, 1, "A start before the axis is clamped to its first place, not wrapped once more."),
    ("start-minus-two-dims", -10, 3, 1, "The dim is added to a negative start once, and the rest is clamped."),
    ("stop-minus-1", 0, -1, 1, "A negative stop counts from the end, and the last place is left out."),
    ("stop-minus-dim", 0, -5, 1, "A stop of -dim is the first place, so that nothing is before it."),
    ("stop-below-minus-dim", 0, -6, 1, "A stop before the axis takes nothing; it is not wrapped twice."),
    ("stop-minus-dim-plus-1", 0, -4, 1, "A stop of -dim + 1 leaves the first place alone."),
    ("both-negative", -4, -1, 1, "Start and stop both count from the end."),
    ("both-negative-empty", -1, -4, 1, "Nothing is taken forwards from the end to the front."),
    ("start-is-stop", 2, 2, 1, "A slice that ends where it begins is empty."),
    ("start-after-stop", 4, 1, 1, "Forwards nothing lies between a start and a stop before it."),
    ("start-is-dim", 5, 9, 1, "A start at the dim is past the last place."),
    ("start-beyond-dim", 7, 9, 1, "A start beyond the axis is clamped to the dim, so that nothing is taken."),
    ("stop-beyond-dim", 2, 9, 1, "A stop beyond the axis is clamped to the dim."),
    ("stop-int32-max", 1, INT32_MAX, 1, "INT_MAX of 32 bits is the end of any axis."),
    ("stop-int64-max", 1, INT64_MAX, 1, "INT_MAX of 64 bits is the end of any axis."),
    ("start-int32-min", INT32_MIN, 2, 1, "INT_MIN of 32 bits is before any axis and clamped to its first place."),
    ("start-int64-min", INT64_MIN, 2, 1, "INT_MIN of 64 bits is before any axis; adding the dim must not overflow."),
    ("stop-int64-min", 0, INT64_MIN, 1, "A stop before the axis takes nothing forwards."),
    ("start-int64-max", INT64_MAX, INT64_MAX, 1, "A start beyond the axis takes nothing."),
    ("extremes", INT64_MIN, INT64_MAX, 1, "From INT_MIN to INT_MAX is the whole axis; their difference does not fit 64 bits."),
    ("step-2", 0, 5, 2, "Every second place is taken, from start on."),
    ("step-2-from-1", 1, 5, 2, "The first place taken is start, whatever the step."),
    ("step-2-before-stop", 0, 4, 2, "A place that the step reaches exactly at stop is left out."),
    ("step-3-remainder", 0, 5, 3, "A last stride that is shorter than the step still takes its first place."),
    ("step-4-exact", 0, 5, 4, "A last place that the step reaches exactly is taken."),
    ("step-is-dim", 0, 5, 5, "A step of the dim takes the first place alone."),
    ("step-beyond-dim", 1, 5, 100, "A step longer than the axis takes start alone."),
    ("step-int32-max", 1, 5, INT32_MAX, "The largest step of 32 bits takes start alone."),
    ("step-int64-max", 3, INT64_MAX, INT64_MAX, "The largest step takes start alone; start plus step does not fit 64 bits."),
    ("step-2-negative-both", -4, -1, 2, "Negative start and stop are resolved before steps are counted."),
]
BACKWARD = [
    ("reverse", 4, INT64_MIN, -1, "A negative step runs backwards, and INT_MIN takes the first place in."),
    ("reverse-int32-min", 4, INT32_MIN, -1, "INT_MIN of 32 bits is before any axis, so the first place is taken in."),
    ("reverse-by-minus-dim-minus-1", -1, -6, -1, "A stop of -dim - 1 is before the first place, which is therefore taken."),
    ("stop-minus-dim-backward", -1, -5, -1, "A stop of -dim is the first place, which is left out."),
    ("stop-0-backward", 4, 0, -1, "Stop is left out backwards too, so that place 0 is."),
    ("stop-minus-1-backward", 4, -1, -1, "A stop of -1 is the last place, not the one before the first, so nothing is taken."),
    ("start-minus-1-backward", -1, 1, -1, "A start of -1 is the last place."),
    ("start-is-dim-backward", 5, 0, -1, "A start at the dim is clamped to the last place backwards."),
    ("start-beyond-dim-backward", 100, -100, -1, "Beyond both ends the whole axis is taken, in reverse."),
    ("start-int64-max-backward", INT64_MAX, INT64_MIN, -1, "The extremes of 64 bits are clamped to the ends of the axis."),
    ("start-int32-max-backward", INT32_MAX, 1, -1, "INT_MAX of 32 bits is clamped to the last place."),
    ("stop-int64-max-backward", 4, INT64_MAX, -1, "INT_MAX is past the end of any axis, and backwards nothing lies before it."),
    ("stop-int32-max-backward", 3, INT32_MAX, -1, "INT_MAX of 32 bits is past the end, so backwards nothing is taken."),
    ("stop-is-dim-backward", 4, 5, -1, "A stop at the dim is clamped to the last place and takes nothing backwards."),
    ("start-0-backward", 0, INT64_MIN, -1, "From place 0 backwards there is one place, itself."),
    ("start-0-stop-0-backward", 0, 0, -1, "A slice that ends where it begins is empty backwards too."),
    ("start-before-stop-backward", 1, 3, -1, "Backwards nothing lies between a start and a stop after it."),
    ("one-place-backward", 3, 2, -1, "Backwards one place is taken where stop is start minus one."),
    ("both-negative-backward", -2, -4, -1, "Start and stop count from the end whatever the sign of the step."),
    ("step-minus-2", 4, INT64_MIN, -2, "Every second place is taken backwards from start."),
    ("step-minus-2-from-3", 3, INT64_MIN, -2, "The first place taken is start, so that place 0 is not reached."),
    ("step-minus-2-before-stop", 4, 0, -2, "A place that the step reaches exactly at stop is left out."),
    ("step-minus-2-past-stop", 4, 1, -2, "The places 4 and 2 lie before the stop at 1."),
    ("step-minus-3", 4, INT64_MIN, -3, "The places 4 and 1 are taken, and the remainder of the axis is not."),
    ("step-minus-4-exact", 4, INT64_MIN, -4, "The first place is taken where the step reaches it exactly."),
    ("step-minus-dim", 4, INT64_MIN, -5, "A step of -dim takes start alone."),
    ("step-below-minus-dim", 2, INT64_MIN, -100, "A step longer than the axis takes start alone."),
    ("step-int64-min", 4, INT64_MIN, INT64_MIN, "The least step has no positive counterpart in 64 bits and takes start alone."),
    ("step-int64-min-plus-1", INT64_MAX, INT64_MIN, INT64_MIN + 1, "Start is clamped before steps are taken, of which one is enough."),
    ("step-int32-min", 1, INT64_MIN, INT32_MIN, "The least step of 32 bits takes start alone."),
]
# name, start, stop and step in uint64, some beyond int64
BEYOND_INT64 = [
    ("stop-uint64-max", 1, (1 << 64) - 1, 1),
    ("stop-2-to-63", 2, 1 << 63, 2),
    ("start-uint64-max", (1 << 64) - 1, (1 << 64) - 1, 1),
    ("step-uint64-max", 3, 5, (1 << 64) - 1),
]
BEYOND_INT64_WHY = "T_IND may be any integer type, and start and stop are silently clamped: 2^63 and above is beyond the axis, not negative."
BEFORE_THE_AXIS = [
    ("start-below-minus-dim-backward", -6, INT64_MIN, -1),
    ("start-int64-min-backward", INT64_MIN, INT64_MIN, -1),
    ("start-below-minus-dim-step-minus-2", -100, INT64_MIN, -2),
]
PYTHON_BEFORE = ("A slice follows Python, where a start before the axis stays before it with a negative step, so that nothing "
                 "is taken; OpenVINO's own plugins take place 0.")
ONNX_BEFORE = ("With a negative step start is clamped to [0, dim - 1], so that place 0 is taken; onnx's reference evaluator "
               "follows Python and takes nothing.")
ONNX_OLD_BEFORE = ("This version does not say how start is clamped with a negative step; what version 13 says is taken, and "
                   "place 0 with it.")

# name, shape, starts, stops, steps, axes, what the specification says of it
SEVERAL = [
    ("two-axes", [3, 4], [1, 0], [3, 3], [1, 2], [0, 1], "Each entry of the lists slices the axis that axes names."),
    ("second-axis-only", [3, 4], [1], [3], [1], [1], "An axis that is not named is taken whole."),
    ("first-axis-only", [3, 4], [1], [3], [1], [0], "An axis that is not named is taken whole, also the last."),
    ("middle-axis-only", [2, 3, 2], [1], [3], [1], [1], "The axes before and after the one that is named are taken whole."),
    ("negative-axis", [3, 4], [1], [3], [1], [-1], "A negative axis counts from the last."),
    ("negative-axis-minus-rank", [3, 4], [1], [3], [1], [-2], "The axis -r is the first."),
    ("axes-out-of-order", [3, 4], [0, 1], [3, 3], [2, 1], [1, 0], "Entry n is for the axis that axes[n] names, in any order."),
    ("axes-mixed-signs", [2, 3, 4], [1, 1], [4, 3], [2, 1], [-1, 1], "Axes may be counted from either end in one list."),
    ("axes-reversed-of-three", [2, 3, 4], [3, 2, 1], [0, 0, 0], [-2, -1, -1], [2, 1, 0], "Each axis has a direction of its own."),
    ("both-backward", [3, 4], [2, 3], [INT64_MIN, INT64_MIN], [-1, -1], [0, 1], "Each axis that has a negative step is reversed."),
    ("one-forward-one-backward", [3, 4], [0, -1], [3, -5], [2, -3], [0, 1], "Each axis has a step of its own."),
    ("clamped-by-its-own-dim", [2, 5], [-4, -4], [4, 4], [1, 1], [0, 1], "Each entry is resolved and clamped by the dim of its own axis."),
    ("clamped-by-its-own-dim-swapped", [2, 5], [-4, -1], [4, 2], [1, 1], [1, 0], "The dim is that of the axis that is named, not of the place in the list."),
    ("empty-on-one-axis", [3, 4], [1, 2], [3, 2], [1, 1], [0, 1], "One axis of which nothing is taken leaves an output of no items, with the other dims as they are."),
    ("rank-3", [2, 3, 4], [0, 1, 1], [2, 3, 4], [1, 1, 2], [0, 1, 2], "All axes of a tensor of rank 3 may be sliced."),
    ("rank-4", [2, 2, 2, 3], [0, 1, 0, 2], [2, 2, 2, -4], [1, 1, 1, -2], [0, 1, 2, 3], "Rank 4, the last axis backwards."),
    ("rank-5", [2, 1, 2, 1, 3], [1, 1], [2, 3], [1, 1], [2, 4], "Rank 5, with the third and the last axis sliced."),
    ("rank-6", [1, 2, 1, 2, 1, 2], [-1, -1], [-3, -3], [-1, -1], [1, 5], "Rank 6, with the second and the last axis reversed."),
    ("dims-of-1", [1, 1, 1], [0, -1], [1, 1], [1, 1], [0, 2], "An axis of one place is sliced like any other."),
    ("dim-1-reversed", [1, 3], [0], [INT64_MIN], [-1], [0], "The reverse of one place is that place."),
    ("no-axes", [2, 3], [], [], [], [], "Empty lists slice nothing, and the whole tensor comes out."),
    ("zero-axis-whole", [0], [0], [INT64_MAX], [1], [0], "An axis without places has none to take."),
    ("zero-axis-reversed", [0], [-1], [INT64_MIN], [-1], [0], "An axis without places has none to take backwards."),
    ("zero-axis-beyond", [0, 2], [3], [9], [2], [0], "Clamped to an axis without places a slice is empty."),
    ("other-axis-zero", [2, 0, 3], [1], [3], [1], [2], "Where another axis has no places the dims are still those of the slice."),
    ("zero-and-reversed", [0, 3], [-1], [-4], [-1], [1], "An axis is reversed beside one without places."),
    ("lists-end-before-rank", [2, 3, 2], [1, 0], [2, 2], [1, 1], [0, 1], "Lists shorter than the rank leave the other axes whole."),
]
# without axes, or without steps, which ONNX also allows
DEFAULT_AXES = [
    ("axes-absent", [3, 4], [1, 1], [3, 3], [1, 2], "Axes that are left out are the first ones, in order."),
    ("axes-absent-one-entry", [3, 4], [1], [3], [1], "One entry without axes is for the first axis."),
    ("axes-absent-reversed", [2, 3], [-1, -1], [-9, -9], [-1, -1], "Axes that are left out are the first ones with negative steps too."),
]


def lists(dtype, *of):
    return [one if one is None else vector(dtype, one) for one in of]


def evaluate_openvino(version, attributes, data, start, stop, step, axes=None):
    return model.slice_(data, numbers(start), numbers(stop), numbers(step), numbers(axes), onnx=False)


def evaluate_onnx(version, attributes, data, starts, ends, axes=None, steps=None):
    return model.slice_(data, numbers(starts), numbers(ends), numbers(steps), numbers(axes), onnx=True)


def evaluate_attributes(version, attributes, data):
    return model.slice_(data, attributes["starts"], attributes["ends"], None, attributes.get("axes"), onnx=True)


def cases():
    suite = Suite("slice")
    openvino(suite.openvino("Slice", 8, evaluate_openvino))
    changed = """type-* indices-* negative-* axis* axes-* step-0* start-below-* *-int64-m* *-absent
                 inner reverse step-2 step-minus-2 two-axes"""
    for number, only in [(10, changed + " extremes both-* one-forward-* rank-* zero-* stop-minus-*"), (11, changed), (13, "")]:
        onnx(suite.onnx("Slice", number, evaluate_onnx, only=only))
    onnx_attributes(suite.onnx("Slice", 1, evaluate_attributes))
    return suite.cases


def openvino(version):
    def inputs(data, starts, stops, steps, axes=None, dtype="int64"):
        return [data, *lists(dtype, starts, stops, steps), *([] if axes is None else lists(dtype, axes))]

    for name, start, stop, step, why in FORWARD + BACKWARD:
        version.must(name, why, *inputs(labels("float32", [5]), [start], [stop], [step], [0]))
    for name, start, stop, step in BEFORE_THE_AXIS:
        version.must(name, PYTHON_BEFORE, *inputs(labels("float32", [5]), [start], [stop], [step], [0]))
    for name, shape, starts, stops, steps, axes, why in SEVERAL:
        version.must(name, why, *inputs(labels("int32", shape), starts, stops, steps, axes))
    for name, shape, starts, stops, steps, why in DEFAULT_AXES:
        version.must(name, why, *inputs(labels("int32", shape), starts, stops, steps))
    for dtype in ["bool", *OPENVINO_NUMERIC]:
        version.must(f"type-{dtype}", f"T may be {dtype}, and items are moved with every bit they have.",
                     *inputs(telling(dtype, [9]), [8], [INT64_MIN], [-1], [0]))
    for dtype in OPENVINO_BEYOND:
        version.choice(f"type-{dtype}", f"Which types are supported is left to the runtime; {dtype} items are moved like others.",
                       *inputs(telling(dtype, [9]), [8], [INT64_MIN], [-1], [0]))
    for dtype in INTEGERS:
        version.must(f"indices-{dtype}", f"T_IND may be any integer type, {dtype} among them.",
                     *inputs(labels("float32", [5]), [1], [4], [2], [0], dtype))
        if dtype.startswith("int"):
            version.must(f"negative-indices-{dtype}", f"Negative numbers of {dtype} are sign-extended.",
                         *inputs(labels("float32", [5]), [-1], [-6], [-2], [-1], dtype))
    version.must("axes-of-another-type", "T_AXIS is an integer type of its own beside T_IND.",
                 labels("float32", [2, 3]), *lists("int32", [0], [2], [1]), vector("int8", [1]))
    version.must("stop-int64-max-as-uint64", "An unsigned stop may be as large as INT_MAX.",
                 labels("float32", [5]), *lists("uint64", [1], [INT64_MAX], [1]), vector("uint64", [0]))
    for name, start, stop, step in BEYOND_INT64:
        version.must(name, BEYOND_INT64_WHY, labels("float32", [5]), *lists("uint64", [start], [stop], [step]), vector("int64", [0]))
    bad = [
        ("step-0", [5], [0], [5], [0], [0], "A step cannot be 0."),
        ("step-0-zero-axis", [0], [0], [0], [0], [0], "A step cannot be 0, also on an axis without places."),
        ("step-0-second-axis", [2, 3], [0, 0], [2, 3], [1, 0], [0, 1], "No step can be 0, the second either."),
        ("axis-is-rank", [2, 3], [0], [2], [1], [2], "An axis lies in [-r, r - 1]."),
        ("axis-below-minus-rank", [2, 3], [0], [2], [1], [-3], "An axis lies in [-r, r - 1]."),
        ("axis-repeated", [2, 3], [0, 0], [2, 1], [1, 1], [1, 1], "The values of axes are unique."),
        ("axis-repeated-by-alias", [2, 3], [0, 0], [2, 1], [1, 1], [1, -1], "The values of axes are unique, however they are counted."),
        ("stop-shorter", [2, 3], [0, 0], [2], [1, 1], [0, 1], "Start, stop, step and axes have the same number of entries."),
        ("step-shorter", [2, 3], [0, 0], [2, 3], [1], [0, 1], "Start, stop, step and axes have the same number of entries."),
        ("axes-shorter", [2, 3], [0, 0], [2, 3], [1, 1], [0], "Start, stop, step and axes have the same number of entries."),
        ("axes-longer", [2, 3], [0], [2], [1], [0, 1], "Start, stop, step and axes have the same number of entries."),
    ]
    for name, shape, starts, stops, steps, axes, why in bad:
        version.reject(name, why, *inputs(labels("int32", shape), starts, stops, steps, axes))
    version.reject("more-entries-than-axes", "There is no third axis for the third entry.",
                   *inputs(labels("int32", [2, 3]), [0, 0, 0], [1, 1, 1], [1, 1, 1]))
    version.reject("rank-0", "Data has at least one axis.", scalar("float32", 1), *lists("int64", [], [], [], []))
    version.reject("float-indices", "T_IND is an integer type.",
                   labels("float32", [5]), *lists("float32", [1], [4], [1]), vector("int64", [0]))
    version.reject("start-of-rank-2", "Start has one axis.",
                   labels("float32", [5]), tensor("int64", [1, 1], [0]), *lists("int64", [4], [1], [0]))


def onnx(version):
    def inputs(data, starts, ends, steps, axes=None, dtype="int64"):
        return [data, *lists(dtype, starts, ends, axes, steps)]

    old = "This version leaves open" if version.number < 13 else "The document leaves open"
    for name, start, stop, step, why in FORWARD + BACKWARD:
        version.must(name, why, *inputs(labels("float32", [5]), [start], [stop], [step], [0]))
    for name, start, stop, step in BEFORE_THE_AXIS:
        kind, why = ("must", ONNX_BEFORE) if version.number >= 13 else ("choice", ONNX_OLD_BEFORE)
        version.add(kind, name, why, *inputs(labels("float32", [5]), [start], [stop], [step], [0]))
    for name, shape, starts, stops, steps, axes, why in SEVERAL:
        unsaid = version.number == 10 and any(axis < 0 for axis in axes)
        why = f"{old} whether axes may be negative; later versions count them from the end." if unsaid else why
        version.add("choice" if unsaid else "must", name, why, *inputs(labels("int32", shape), starts, stops, steps, axes))
    for name, shape, starts, stops, steps, why in DEFAULT_AXES:
        version.must(name, why, *inputs(labels("int32", shape), starts, stops, steps))
    version.must("steps-absent", "Steps that are left out are 1.",
                 labels("int32", [3, 4]), *lists("int64", [1, 1], [3, 3], [1, 0]))
    version.must("axes-and-steps-absent", "Axes that are left out are the first, steps that are left out are 1.",
                 labels("int32", [3, 4]), *lists("int64", [0, 1], [-1, 1000]))
    for dtype in onnx_dtypes(version.number):
        version.must(f"type-{dtype}", f"T lists {dtype}, and items are moved with every bit they have.",
                     *inputs(telling(dtype, [9]), [8], [INT64_MIN], [-1], [0]))
    version.must("indices-int32", "Tind may be int32.", *inputs(labels("float32", [5]), [1], [4], [2], [0], "int32"))
    version.must("negative-indices-int32", "Negative numbers of int32 count from the end.",
                 *inputs(labels("float32", [5]), [-1], [INT32_MIN], [-2], [0], "int32"))
    version.must("extremes-of-int32", "The extremes of int32 are beyond both ends, and adding a dim to them must not overflow.",
                 *inputs(labels("float32", [5]), [INT32_MIN], [INT32_MAX], [INT32_MAX], [0], "int32"))
    for dtype in ("int8", "int16", "uint8", "uint64"):
        version.reject(f"indices-{dtype}", f"Tind lists int32 and int64, and not {dtype}.",
                       *inputs(labels("float32", [5]), [1], [4], [2], [0], dtype))
    zero = "reject" if version.number >= 11 else "refusal"
    why = "Steps cannot be 0." if version.number >= 11 else f"{old} what a step of 0 does; it is an error, as later versions say."
    version.add(zero, "step-0", why, *inputs(labels("int32", [5]), [0], [5], [0], [0]))
    version.add(zero, "step-0-zero-axis", why, *inputs(labels("int32", [0]), [0], [0], [0], [0]))
    version.add(zero, "step-0-second-axis", why, *inputs(labels("int32", [2, 3]), [0, 0], [2, 3], [1, 0], [0, 1]))
    unequal = "Each entry of starts has one of ends, steps and axes that corresponds to it."
    range_why = "An axis lies in [-r, r - 1]."
    version.reject("axis-is-rank", range_why, *inputs(labels("int32", [2, 3]), [0], [2], [1], [2]))
    version.reject("axis-below-minus-rank", range_why, *inputs(labels("int32", [2, 3]), [0], [2], [1], [-3]))
    version.reject("ends-shorter", unequal, *inputs(labels("int32", [2, 3]), [0, 0], [2], [1, 1], [0, 1]))
    version.reject("steps-shorter", unequal, *inputs(labels("int32", [2, 3]), [0, 0], [2, 3], [1], [0, 1]))
    version.reject("axes-shorter", unequal, *inputs(labels("int32", [2, 3]), [0, 0], [2, 3], [1, 1], [0]))
    version.reject("axes-longer", unequal, *inputs(labels("int32", [2, 3]), [0], [2], [1], [0, 1]))
    version.reject("more-entries-than-axes", "There is no third axis for the third entry.",
                   *inputs(labels("int32", [2, 3]), [0, 0, 0], [1, 1, 1], [1, 1, 1]))
    repeated = f"{old} what an axis does that is named twice; it is an error." if version.number < 13 else (
        "The behaviour is undefined where an axis is repeated; it is an error here, and other runtimes take the last entry.")
    version.refusal("axis-repeated", repeated, *inputs(labels("int32", [2, 3]), [0, 0], [2, 1], [1, 1], [1, 1]))
    version.refusal("axis-repeated-by-alias", repeated, *inputs(labels("int32", [2, 3]), [0, 0], [2, 1], [1, 1], [1, -1]))
    version.refusal("rank-0", "Nothing is said of data without axes; it is an error, as in Slice-8.",
                    scalar("float32", 1), *lists("int64", [], [], [], []))
    version.reject("float-indices", "Tind is int32 or int64.", labels("float32", [5]), *lists("float32", [1], [4], [0], [1]))
    version.reject("starts-of-rank-2", "Starts has one axis.",
                   labels("float32", [5]), tensor("int64", [1, 1], [0]), *lists("int64", [4], [0], [1]))


def onnx_attributes(version):
    for name, start, stop, step, why in FORWARD:
        if step == 1:
            version.must(name, why, labels("float32", [5]), starts=[start], ends=[stop], axes=[0])
    for name, shape, starts, stops, steps, axes, why in SEVERAL:
        if set(steps) <= {1}:
            unsaid = any(axis < 0 for axis in axes)
            why = "This version leaves open whether axes may be negative; later ones count them from the end." if unsaid else why
            version.add("choice" if unsaid else "must", name, why, labels("int32", shape), starts=starts, ends=stops, axes=axes)
    version.must("axes-absent", "Axes that are left out are the first ones, in order.",
                 labels("int32", [3, 4]), starts=[1, 1], ends=[3, 3])
    version.must("axes-absent-one-entry", "One entry without axes is for the first axis.",
                 labels("int32", [3, 4]), starts=[1], ends=[3])
    for dtype in onnx_dtypes(1):
        version.must(f"type-{dtype}", f"T lists {dtype}, and items are moved with every bit they have.",
                     telling(dtype, [9]), starts=[0], ends=[8], axes=[0])
    bad = [
        ("axis-is-rank", [2, 3], [0], [2], [2], "An axis lies below the rank."),
        ("ends-shorter", [2, 3], [0, 0], [2], [0, 1], "Each entry of starts has one of ends and axes that corresponds to it."),
        ("axes-shorter", [2, 3], [0, 0], [2, 3], [0], "Each entry of starts has one of ends and axes that corresponds to it."),
        ("axes-longer", [2, 3], [0], [2], [0, 1], "Each entry of starts has one of ends and axes that corresponds to it."),
        ("more-entries-than-axes", [2, 3], [0, 0, 0], [1, 1, 1], [0, 1, 2], "There is no third axis for the third entry."),
    ]
    for name, shape, starts, ends, axes, why in bad:
        version.reject(name, why, labels("int32", shape), starts=starts, ends=ends, axes=axes)
    version.refusal("axis-repeated", "Nothing is said of an axis that is named twice; it is an error.",
                    labels("int32", [2, 3]), starts=[0, 0], ends=[2, 1], axes=[1, 1])


# the cases of each operator, by its name
FILES = {"slice": cases}
