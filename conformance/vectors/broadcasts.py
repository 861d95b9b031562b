"""Broadcast: ONNX Expand 8 and 13, OpenVINO Broadcast-1 and Broadcast-3."""
from . import movement
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, numbers, numeric, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector

# name, shape, what it becomes, what the specifications say; in all modes but the explicit one
ONE_WAY = [
    ("row-to-rows", [3], [2, 3], "An axis that is put in front repeats the data."),
    ("row-of-rank-2", [1, 3], [2, 3], "An axis of one place is repeated."),
    ("column-to-columns", [3, 1], [3, 2], "An axis of one place is repeated, also the last."),
    ("both-axes", [1, 1], [2, 3], "One item may be repeated on several axes."),
    ("middle-axis", [2, 1, 2], [2, 3, 2], "An axis in the middle is repeated."),
    ("outer-axes", [1, 2, 1], [3, 2, 2], "The axis in the middle stays as it is."),
    ("same-shape", [2, 3], [2, 3], "A tensor of the shape that is asked for comes out as it is."),
    ("aligned-to-the-right", [2, 1], [3, 2, 4], "Axes correspond from the last on."),
    ("square-aligned-to-the-right", [2], [2, 2], "Axes correspond from the last on, also where the first would fit."),
    ("two-in-front", [2], [3, 1, 2], "Several axes may be put in front."),
    ("ones-in-front", [2, 2], [1, 1, 2, 2], "Axes that are put in front may be of one place."),
    ("scalar-to-axis", [], [3], "Data without axes is repeated everywhere."),
    ("scalar-to-matrix", [], [2, 2], "Data without axes is repeated everywhere."),
    ("scalar-to-scalar", [], [], "Data without axes stays so for an empty shape."),
    ("rank-4", [1, 2, 1, 2], [2, 2, 2, 2], "Rank 4."),
    ("rank-5", [1, 2, 1, 1, 2], [2, 2, 1, 3, 2], "Rank 5."),
    ("zero-stays", [0, 2], [0, 2], "An axis without places stays so."),
    ("zero-and-repeated", [0, 1], [0, 3], "An axis without places stays so beside one that is repeated."),
    ("zero-in-front", [2], [0, 2], "An axis of no places may be put in front."),
    ("zero-behind-new-axis", [0], [2, 0], "An axis without places stays so behind one that is put in front."),
    ("one-to-zero", [1], [0], "A dim of 1 becomes 0 like any other."),
    ("one-to-zero-beside", [1, 2], [0, 2], "A dim of 1 becomes 0 like any other."),
]
# where the data has more places, or more axes, than the shape
BOTH_WAYS = [
    ("shape-of-ones", [2, 3], [1, 1], "A dim of 1 in the shape leaves that of the data."),
    ("shape-of-one-1", [2, 3], [1], "A shape of fewer axes is aligned to the right."),
    ("shape-empty", [2, 3], [], "An empty shape leaves the data as it is."),
    ("shape-of-fewer-axes", [2, 3], [3], "A shape of fewer axes is aligned to the right."),
    ("shape-of-fewer-axes-repeats", [3, 1], [2], "The axes that the shape has may be repeated."),
    ("document-example", [3, 1], [3, 4], "An axis of one place is repeated."),
    ("each-repeats-the-other", [3, 1], [2, 1, 6], "Dims of 1 on either side become those of the other."),
    ("crossed", [1, 3], [2, 1], "Dims of 1 on either side become those of the other."),
    ("zero-beside-1", [0], [1], "A dim of 1 in the shape leaves the data without places."),
    ("zero-of-fewer-axes", [0, 2], [2], "A shape of fewer axes leaves the data without places."),
]
UNFIT = [
    ("dims-differ", [3], [4], "A dim is the one that is asked for, or 1."),
    ("dims-differ-by-multiple", [2], [4], "A dim is the one that is asked for, or 1; nothing is tiled."),
    ("dims-differ-on-first-axis", [2, 3], [3, 3], "A dim is the one that is asked for, or 1."),
    ("aligned-to-the-left", [2, 3], [2, 3, 1, 4], "Axes correspond from the last on."),
    ("zero-to-several", [0], [3], "A dim of 0 is not repeated."),
    ("several-to-zero", [3], [0], "A dim of several places does not become 0."),
    ("negative-dim", [1], [-1], "A dim is not negative."),
    ("negative-dim-for-another", [3], [2, -1], "A dim is not negative; -1 stands for nothing."),
]
# name, shape, what it becomes, the axes of the output that those of the data become
EXPLICIT = [
    ("channels", [2], [3, 2, 2], [1], "The one axis becomes the second, and all others repeat it."),
    ("first-axis", [3], [3, 2], [0], "The one axis becomes the first."),
    ("last-axis", [3], [2, 3], [1], "The one axis becomes the last."),
    ("document-example", [3, 2], [1, 3, 2, 4], [1, 2], "Two axes become those in the middle."),
    ("outer-axes", [2, 3], [2, 2, 3], [0, 2], "Axes need not be neighbours."),
    ("as-it-is", [2, 3], [2, 3], [0, 1], "All axes of the output may be named."),
    ("square", [2, 2], [2, 2, 2], [0, 1], "Which axes correspond is what axes_mapping says, also where others would fit."),
    ("square-from-the-right", [2, 2], [2, 2, 2], [1, 2], "Which axes correspond is what axes_mapping says, also where others would fit."),
    ("scalar", [], [2, 2], [], "Data without axes has none to map."),
    ("rank-4", [2, 2], [2, 1, 2, 3], [0, 2], "Rank 4."),
    ("zero", [0], [2, 0], [1], "An axis without places stays so."),
]


def evaluate_expand(version, attributes, data, shape):
    return movement.broadcast(data, numbers(shape), both_ways=True)


def evaluate_openvino(version, attributes, data, shape, axes=None):
    mode = attributes.get("mode", "numpy")
    movement.refuse_if(mode not in ("numpy", "explicit") and (mode != "bidirectional" or version.number == 1), f"mode {mode}")
    if mode == "explicit":
        movement.refuse_if(axes is None, "no axes_mapping")
        return movement.broadcast_explicit(data, numbers(shape), normal(numbers(axes), len(numbers(shape))))
    return movement.broadcast(data, numbers(shape), both_ways=mode == "bidirectional")


def normal(axes, rank):
    """Axes that may count from the end."""
    return [movement.normal_axis(axis, rank) for axis in axes]


def data_of(shape):
    return labels("int32", shape) if shape else scalar("int32", 5)


def cases():
    suite = Suite("broadcast")
    few = "type-* row-* scalar-* shape-* zero-* crossed dims-differ*"
    for number, only in [(8, ""), (13, few)]:
        version = suite.onnx("Expand", number, evaluate_expand, prefix="onnx-expand", only=only)
        for name, shape, to, why in ONE_WAY + BOTH_WAYS:
            version.must(name, why, data_of(shape), vector("int64", to))
        for name, shape, to, why in UNFIT:
            version.reject(name, why, data_of(shape), vector("int64", to))
        for dtype in onnx_dtypes(number):
            version.must(f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", telling(dtype, [3, 1]), vector("int64", [2, 1, 2]))
        version.must("many-special-items", "Every bit of every item is kept.", telling("float32", [2, 4]), vector("int64", [2, 1, 1]))
        version.reject("shape-float", "The shape is int64.", data_of([3]), vector("float32", [3]))
        version.reject("shape-of-rank-2", "The shape has one axis.", data_of([3]), tensor("int64", [1, 2], [2, 3]))
        version.reject("shape-int32", "The shape is int64, and not int32.", data_of([3]), vector("int32", [2, 3]))
        version.reject("shape-beyond-counting", "No shape has as many places.", data_of([1]), vector("int64", [1 << 62, 1 << 62]))
    for number in (1, 3):
        openvino(suite.openvino("Broadcast", number, evaluate_openvino))
    return suite.cases


def openvino(version):
    new = version.number >= 3
    for name, shape, to, why in ONE_WAY:
        version.must(f"numpy-{name}", why, data_of(shape), vector("int64", to), mode="numpy")
    version.must("mode-absent", "The mode is numpy if none is given.", data_of([3, 1]), vector("int64", [2, 3, 2]))
    for name, shape, to, why in UNFIT:
        version.reject(f"numpy-{name}", why, data_of(shape), vector("int64", to), mode="numpy")
    for name, shape, to, _ in BOTH_WAYS:
        if name != "document-example":
            why = "In mode numpy the data becomes the shape, and not the other way round."
            version.reject(f"numpy-{name}", why, data_of(shape), vector("int64", to), mode="numpy")
    for name, shape, to, axes, why in EXPLICIT:
        version.must(f"explicit-{name}", why, data_of(shape), vector("int64", to), vector("int64", axes), mode="explicit")
    bad = [
        ("dim-differs", [3], [3, 2], [1], "A dim of the data is that of the axis it becomes."),
        ("axes-too-few", [2, 3], [2, 3], [0], "All axes of the data are mapped."),
        ("axes-too-many", [3], [2, 3], [0, 1], "No more axes are mapped than the data has."),
        ("axis-is-rank", [3], [2, 3], [2], "An axis is one of the output's."),
        ("axes-descend", [3, 2], [2, 3], [1, 0], "The axes are sorted, so that nothing is transposed."),
        ("axes-descend-in-square", [2, 2], [2, 2], [1, 0], "The axes are sorted, also where a transposed tensor would fit."),
        ("negative-dim", [3], [-1, 3], [1], "A dim is not negative."),
        ("zero-to-several", [0], [2, 2], [1], "A dim of the data is that of the axis it becomes."),
    ]
    for name, shape, to, axes, why in bad:
        version.reject(f"explicit-{name}", why, data_of(shape), vector("int64", to), vector("int64", axes), mode="explicit")
    version.refusal("explicit-axis-repeated", "It is not said what it means that two axes become one; it is an error, and OpenVINO's CPU "
                    "plugin gives items of no meaning.", data_of([2, 2]), vector("int64", [2, 2]), vector("int64", [1, 1]), mode="explicit")
    version.choice("explicit-axis-negative", "It is not said whether axes may be negative; they count from the last of the output here, and "
                   "OpenVINO refuses them.", data_of([2]), vector("int64", [2, 3]), vector("int64", [-2]), mode="explicit")
    version.choice("explicit-dim-1", "It is not said whether a dim of 1 becomes another; it is repeated, as in OpenVINO.",
                   data_of([1]), vector("int64", [2, 3]), vector("int64", [1]), mode="explicit")
    version.choice("explicit-dim-1-of-2", "It is not said whether a dim of 1 becomes another; it is repeated, as in OpenVINO.",
                   data_of([2, 1]), vector("int64", [2, 2, 3]), vector("int64", [0, 2]), mode="explicit")
    version.reject("explicit-without-axes", "In mode explicit there are axes_mapping.", data_of([3]), vector("int64", [2, 3]), mode="explicit")
    version.reject("mode-unknown", "The modes are those that the text lists.", data_of([3]), vector("int64", [2, 3]), mode="pdpd")
    if new:
        for name, shape, to, why in ONE_WAY + BOTH_WAYS:
            version.must(f"bidirectional-{name}", why, data_of(shape), vector("int64", to), mode="bidirectional")
        for name, shape, to, why in UNFIT[:6]:
            version.reject(f"bidirectional-{name}", why, data_of(shape), vector("int64", to), mode="bidirectional")
    else:
        version.reject("mode-bidirectional", "Mode bidirectional came with version 3.", data_of([3, 1]), vector("int64", [1, 2]),
                       mode="bidirectional")
    for dtype in OPENVINO_NUMERIC:
        version.must(f"type-{dtype}", f"T may be {dtype}, and every bit is kept.", telling(dtype, [3, 1]), vector("int64", [2, 3, 2]))
    for dtype in ["bool", *OPENVINO_BEYOND]:
        kind, why = numeric(dtype) if new else (
            "choice", f"Which types are supported is left to the runtime; {dtype} items are moved like others.")
        version.add(kind, f"type-{dtype}", why, telling(dtype, [3, 1]), vector("int64", [2, 3, 2]))
    for dtype in INTEGERS:
        if dtype != "int64":
            version.must(f"shape-{dtype}", f"The shape may be of any integer type, {dtype} among them.", data_of([3]), vector(dtype, [2, 3]))
    version.must("axes-int32", "axes_mapping may be of another integer type than the shape." if not new else "T_SHAPE may be int32.",
                 data_of([3]), vector("int64" if not new else "int32", [3, 2]), vector("int32", [0]), mode="explicit")
    version.reject("shape-float", "The shape is of an integer type.", data_of([3]), vector("float32", [3]))


# the cases of each operator, by its name
FILES = {"broadcast": cases}
