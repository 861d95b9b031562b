"""Concat: ONNX Concat 4, 11 and 13, ONNX ConcatFromSequence 11, OpenVINO Concat-1."""
from . import model
from .suite import OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, numeric, onnx_dtypes
from .tensors import labels, scalar, telling

# name, shapes, axis, what the specification says
LAYOUTS = [
    ("rank-1", [[2], [3]], 0, "The items of the second follow those of the first."),
    ("one-input", [[2, 3]], 0, "One input comes out as it is."),
    ("one-input-axis-1", [[2, 3]], 1, "One input comes out as it is."),
    ("three-inputs", [[1], [3], [2]], 0, "Any number of inputs follow one another in order."),
    ("six-inputs", [[1]] * 6, 0, "Any number of inputs follow one another in order."),
    ("axis-0-of-2", [[1, 3], [2, 3]], 0, "On axis 0 rows follow rows."),
    ("axis-1-of-2", [[2, 1], [2, 3]], 1, "On axis 1 each row is that of the first, then that of the second."),
    ("axis-1-of-2-three", [[2, 2], [2, 1], [2, 3]], 1, "On axis 1 each row goes through all inputs."),
    ("axis-0-of-3", [[1, 2, 2], [2, 2, 2]], 0, "On axis 0 blocks follow blocks."),
    ("axis-1-of-3", [[2, 1, 2], [2, 3, 2]], 1, "In the middle the axes before and behind are as they were."),
    ("axis-2-of-3", [[2, 2, 1], [2, 2, 2]], 2, "On the last axis items follow items."),
    ("same-shapes", [[2, 2], [2, 2]], 1, "Inputs of one shape may follow one another on any axis."),
    ("rank-4", [[1, 2, 1, 2], [1, 2, 3, 2]], 2, "Rank 4, on the third axis."),
    ("rank-5", [[1, 1, 2, 1, 2], [1, 2, 2, 1, 2]], 1, "Rank 5, on the second axis."),
    ("zero-first", [[0, 2], [3, 2]], 0, "An input without places on the axis adds none."),
    ("zero-middle", [[2], [0], [1]], 0, "An input without places on the axis adds none."),
    ("zero-last-axis-1", [[2, 3], [2, 0]], 1, "An input without places on the axis adds none."),
    ("all-zero", [[0], [0]], 0, "Inputs without places give an output without places."),
    ("other-axis-zero", [[2, 0], [3, 0]], 0, "Where another axis has no places the dims of the axis still add up."),
    ("dims-of-1", [[1, 1], [1, 1]], 1, "Axes of one place add up like others."),
]
NEGATIVE = [
    ("axis-minus-1", [[2, 1], [2, 2]], -1, "A negative axis counts from the last."),
    ("axis-minus-rank", [[1, 2], [2, 2]], -2, "The axis -r is the first."),
    ("axis-minus-2-of-3", [[2, 1, 2], [2, 2, 2]], -2, "A negative axis counts from the last."),
]
UNFIT = [
    ("other-dim-differs", [[2, 3], [2, 4]], 0, "All dims but that of the axis are the same."),
    ("other-dim-differs-axis-1", [[2, 3], [3, 3]], 1, "All dims but that of the axis are the same."),
    ("other-dim-of-1", [[2, 3], [2, 1]], 0, "All dims but that of the axis are the same; a dim of 1 is not spread."),
    ("third-differs", [[1, 3], [1, 3], [1, 2]], 0, "All dims but that of the axis are the same, in every input."),
    ("rank-differs", [[2, 3], [3]], 0, "All inputs have the same rank."),
    ("rank-differs-by-leading-1", [[3], [1, 3]], 0, "All inputs have the same rank; no axis is added or dropped."),
    ("empty-of-another-shape", [[2, 3], [0]], 0, "All inputs have the same rank, also one without items."),
    ("empty-with-another-dim", [[2, 3], [0, 4]], 0, "All dims but that of the axis are the same, also of an input without items."),
    ("axis-is-rank", [[2], [3]], 1, "The axis is below the rank."),
    ("axis-below-minus-rank", [[2], [3]], -2, "The axis is at least minus the rank."),
]
# with new_axis: name, shape, number of inputs, axis
STACKED = [
    ("new-axis-0", [3], 2, 0, "With new_axis the inputs become the places of a new axis."),
    ("new-axis-1", [3], 2, 1, "With new_axis and axis r the new axis is the last."),
    ("new-axis-0-of-3", [2, 2], 3, 0, "With new_axis the inputs become the places of a new axis."),
    ("new-axis-1-of-3", [2, 2], 3, 1, "A new axis in the middle."),
    ("new-axis-2-of-3", [2, 3], 2, 2, "With new_axis and axis r the new axis is the last."),
    ("new-axis-minus-1", [2, 3], 2, -1, "With new_axis an axis of -1 is the last of the output, behind all of the inputs."),
    ("new-axis-minus-2", [2, 3], 2, -2, "With new_axis a negative axis counts from the last of the output."),
    ("new-axis-minus-rank-minus-1", [2, 3], 2, -3, "With new_axis the axis -r - 1 is the first."),
    ("new-axis-one-input", [2, 3], 1, 1, "One input gets an axis of one place."),
    ("new-axis-zero", [0], 2, 0, "Inputs without items are stacked by shape."),
]


def inputs(shapes, dtype="int32", make=labels):
    first, made = 1, []
    for shape in shapes:
        made.append(make(dtype, shape, first))
        first += len(made[-1].items)
    return made


def evaluate(version, attributes, *tensors):
    return model.concat(list(tensors), attributes["axis"])


def evaluate_sequence(version, attributes, sequence):
    return model.concat(sequence, attributes["axis"], attributes.get("new_axis", 0) == 1)


def cases():
    suite = Suite("concat")
    few = "type-* axis-* other-dim-differs zero-first "
    for number, only in [(4, few + "rank-* zero-* *-rank*"), (11, few), (13, "")]:
        version = suite.onnx("Concat", number, evaluate, only=only)
        common(version, lambda tensors: tensors)
        onnx_types(version, lambda tensors: tensors)
    version = suite.openvino("Concat", 1, evaluate)
    common(version, lambda tensors: tensors)
    for dtype in OPENVINO_NUMERIC:
        version.must(f"type-{dtype}", f"T may be {dtype}, and every bit is kept.", *inputs([[9], [2]], dtype, telling), axis=0)
    for dtype in ["bool", *OPENVINO_BEYOND]:
        kind, why = numeric(dtype)
        version.add(kind, f"type-{dtype}", why, *inputs([[9], [2]], dtype, telling), axis=0)
    version = suite.onnx("ConcatFromSequence", 11, evaluate_sequence, prefix="onnx-sequence")
    common(version, lambda tensors: [tensors])
    onnx_types(version, lambda tensors: [tensors])
    stacked(version)
    return suite.cases


def common(version, arranged):
    said = version.number != 4
    for name, shapes, axis, why in LAYOUTS:
        version.must(name, why, *arranged(inputs(shapes)), axis=axis)
    for name, shapes, axis, why in NEGATIVE:
        why = why if said else "This version leaves open whether the axis may be negative; later ones count it from the last."
        version.add("must" if said else "choice", name, why, *arranged(inputs(shapes)), axis=axis)
    for name, shapes, axis, why in UNFIT:
        version.reject(name, why, *arranged(inputs(shapes)), axis=axis)
    version.reject("types-differ", "All inputs are of one type.", *arranged([labels("int32", [2]), labels("int64", [2])]), axis=0)
    version.reject("rank-0", "Inputs without axes have none to follow one another on.",
                   *arranged([scalar("int32", 1), scalar("int32", 2)]), axis=0)
    same = labels("int32", [2])
    version.must("same-input-twice", "An input may stand in two places.", *arranged([same, same]), axis=0)


def onnx_types(version, arranged):
    for dtype in onnx_dtypes(version.number):
        version.must(f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", *arranged(inputs([[9], [2]], dtype, telling)), axis=0)


def stacked(version):
    for name, shape, count, axis, why in STACKED:
        version.must(name, why, inputs([shape] * count), axis=axis, new_axis=1)
    version.must("new-axis-of-scalars", "With new_axis inputs may have no axes.", [scalar("int32", 5), scalar("int32", 6)], axis=0, new_axis=1)
    version.must("new-axis-of-scalars-minus-1", "Of inputs without axes the new axis is the only one.",
                 [scalar("int32", 5), scalar("int32", 6)], axis=-1, new_axis=1)
    version.must("new-axis-0-said", "new_axis of 0 is the default.", inputs([[1, 2], [2, 2]]), axis=0, new_axis=0)
    for name, shapes, axis, why in [
        ("new-axis-shapes-differ", [[2], [3]], 0, "With new_axis all shapes are the same, on every axis."),
        ("new-axis-ranks-differ", [[2], [1, 2]], 0, "With new_axis all shapes are the same."),
        ("new-axis-beyond-rank", [[2], [2]], 2, "With new_axis the axis lies in [-r - 1, r]."),
        ("new-axis-below-minus-rank-minus-1", [[2], [2]], -3, "With new_axis the axis lies in [-r - 1, r]."),
    ]:
        version.reject(name, why, inputs(shapes), axis=axis, new_axis=1)


# the cases of each operator, by its name
FILES = {"concat": cases}
