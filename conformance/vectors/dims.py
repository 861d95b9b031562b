"""Squeeze, Unsqueeze and Flatten of ONNX, Squeeze-0 and Unsqueeze-0 of OpenVINO."""
from . import model
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, narrow, numbers, numeric, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector

# name, shape, axes, what the specification says
SQUEEZED = [
    ("first", [1, 3], [0], "An axis of one place that is named is removed."),
    ("last", [3, 1], [1], "An axis of one place that is named is removed."),
    ("middle", [2, 1, 3], [1], "An axis of one place that is named is removed."),
    ("two-of-three", [1, 3, 1, 2, 1], [0, 2], "An axis of one place that is not named stays."),
    ("all-named", [1, 1], [0, 1], "With all axes removed one item is left without any."),
    ("axes-in-any-order", [1, 3, 1, 2], [2, 0], "Axes are those of the input, in any order."),
    ("one-axis-to-none", [1], [0], "With the only axis removed one item is left without any."),
    ("zero-beside", [1, 0, 1], [0], "A tensor without items loses an axis of one place."),
]
SQUEEZED_NEGATIVE = [
    ("axis-minus-1", [2, 3, 1], [-1], "A negative axis counts from the last."),
    ("axis-minus-rank", [1, 2, 3], [-3], "The axis -r is the first."),
    ("mixed-signs", [1, 2, 1], [-1, 0], "Axes may be counted from either end in one list."),
]
SQUEEZED_ALL = [
    ("all-ones", [1, 3, 1, 2, 1], "Without axes every dim of 1 is removed."),
    ("no-ones", [2, 3], "Without axes and dims of 1 nothing is removed."),
    ("only-ones", [1, 1, 1], "Without axes a tensor of one item is left without any axis."),
    ("none-of-rank-0", [], "A tensor without axes has none to lose."),
    ("zero-is-not-one", [1, 0, 2], "A dim of 0 is not 1, and stays."),
]
UNSQUEEZED = [
    ("first", [2, 3], [0], "An axis of one place is put where axes say."),
    ("last", [2, 3], [2], "The axis r of the input is the last of the output."),
    ("middle", [2, 3], [1], "An axis of one place is put where axes say."),
    ("two", [2, 3], [0, 3], "Axes count those of the output."),
    ("two-in-a-row", [2, 3], [1, 2], "Axes count those of the output, new ones among them."),
    ("first-and-middle", [3, 4], [0, 2], "Axes count those of the output, new ones among them."),
    ("three", [2], [0, 1, 3], "Axes count those of the output, new ones among them."),
    ("from-rank-0", [], [0], "A tensor without axes gets one of one place."),
    ("from-rank-0-two", [], [0, 1], "A tensor without axes gets two of one place."),
    ("zero", [0, 2], [1], "A tensor without items gets an axis like others."),
    ("no-axes", [2, 3], [], "An empty list adds no axis."),
]
UNSQUEEZED_ANY_ORDER = [
    ("axes-in-any-order", [2, 3], [3, 0], "The order of axes does not matter."),
    ("axes-descending", [2, 3], [1, 0], "The order of axes does not matter; they are not put in one after the other."),
    ("three-in-any-order", [2], [3, 0, 1], "The order of axes does not matter."),
]
UNSQUEEZED_NEGATIVE = [
    ("axis-minus-1", [2, 3], [-1], "A negative axis counts from the last of the output, so that -1 becomes the last."),
    ("axis-minus-2", [2, 3], [-2], "A negative axis counts from the last of the output."),
    ("axis-minus-rank", [2, 3], [-3], "The axis minus the rank of the output is the first."),
    ("mixed-signs", [2, 3], [0, -1], "Axes may be counted from either end in one list."),
    ("two-negative", [2, 3], [-1, -4], "Negative axes count from the rank of the output, which all of them make up."),
]
FLATTENED = [
    ("axis-0", [2, 3], 0, "With axis 0 the first dim is 1."),
    ("axis-1", [2, 3, 2], 1, "The dims before the axis make the first, those from it on the second."),
    ("axis-2", [2, 3, 2], 2, "The dims before the axis make the first, those from it on the second."),
    ("axis-is-rank", [2, 3, 2], 3, "With the axis r the second dim is 1."),
    ("axis-2-of-4", [1, 2, 3, 2], 2, "The dims before the axis make the first, those from it on the second."),
    ("axis-3-of-5", [1, 2, 1, 3, 2], 3, "The dims before the axis make the first, those from it on the second."),
    ("rank-1-axis-0", [3], 0, "One axis becomes a row."),
    ("rank-1-axis-1", [3], 1, "One axis becomes a column."),
    ("rank-0", [], 0, "A tensor without axes becomes one of one row and one column."),
    ("zero-before", [0, 3], 1, "A dim of 0 before the axis makes the first 0."),
    ("zero-behind", [2, 0, 3], 1, "A dim of 0 behind the axis makes the second 0."),
    ("zero-and-axis-0", [2, 0], 0, "With axis 0 the first dim is 1, also where there are no items."),
    ("zero-and-axis-rank", [0, 2], 2, "With the axis r the second dim is 1, also where there are no items."),
]
FLATTENED_NEGATIVE = [
    ("axis-minus-1", [2, 3, 2], -1, "A negative axis counts from the last."),
    ("axis-minus-2", [2, 3, 2], -2, "A negative axis counts from the last."),
    ("axis-minus-rank", [2, 3, 2], -3, "The axis -r is 0."),
]


# the versions of Squeeze and Unsqueeze, and the cases that those between two others have
FEW = "type-* axis-* mixed-signs dim-is-* first two"
VERSIONS = [(1, ""), (11, FEW), (13, ""), (21, "type-*"), (23, "type-*"), (24, "type-*"), (25, FEW)]


def squeezed(version, attributes, data, axes=None):
    return model.squeeze(data, axes_of(version, attributes, axes))


def unsqueezed(version, attributes, data, axes=None):
    return model.unsqueeze(data, axes_of(version, attributes, axes))


def axes_of(version, attributes, axes):
    axes = attributes.get("axes", numbers_or_one(axes))
    first = version.specification == "onnx" and version.number == 1
    model.refuse_if(first and axes is not None and min(axes, default=0) < 0, f"axes {axes}")
    return axes


def flattened(version, attributes, data):
    axis = attributes.get("axis", 1)
    model.refuse_if(version.number < 11 and axis < 0, f"axis {axis}")
    return model.flatten(data, axis)


def numbers_or_one(axes):
    """A list of axes, which OpenVINO lets be a scalar."""
    if axes is not None and axes.rank == 0:
        return [axes.items[0]]
    return numbers(axes)


class Form:
    """How a version takes axes: before 13 ONNX has them as an attribute, later as an input."""

    def __init__(self, version):
        self.version, self.as_attribute = version, version.specification == "onnx" and version.number < 13

    def add(self, kind, name, why, data, axes=None):
        if axes is None:
            self.version.add(kind, name, why, data)
        elif self.as_attribute:
            self.version.add(kind, name, why, data, axes=axes)
        else:
            self.version.add(kind, name, why, data, vector("int64", axes))


def squeeze_cases():
    suite = Suite("squeeze")
    for number, only in VERSIONS:
        version = suite.onnx("Squeeze", number, squeezed, only=only)
        onnx_types(version, [3, 1, 4])
        squeeze_common(version)
    version = suite.openvino("Squeeze", 0, squeezed)
    squeeze_common(version)
    openvino_types(version, [3, 1, 4])
    return suite.cases


def squeeze_common(version):
    form = Form(version)

    def data(shape):
        return labels("int32", shape)

    for name, shape, axes, why in SQUEEZED:
        form.add("must", name, why, data(shape), axes)
    first = version.specification == "onnx" and version.number == 1
    for name, shape, axes, why in SQUEEZED_NEGATIVE:
        why = "In this version axes are not negative." if first else why
        form.add("reject" if first else "must", name, why, data(shape), axes)
    for name, shape, why in SQUEEZED_ALL:
        form.add("must", name, why, data(shape))
    ignored = ("Newer documents leave an axis that is not of one place as it is, older ones raise an error; it is an error here, as "
               "in ONNX.")
    kind, why = ("reject", "An axis that is named has one place.") if version.specification == "onnx" else ("refusal", ignored)
    form.add(kind, "dim-is-not-1", why, data([1, 2]), [1])
    form.add(kind, "dim-is-0", why, data([1, 0]), [1])
    form.add(kind, "one-of-two-is-not-1", why, data([1, 2, 1]), [0, 1])
    form.add("reject", "axis-is-rank", "An axis lies in [-r, r - 1].", data([1, 2]), [2])
    form.add("reject", "axis-below-minus-rank", "An axis lies in [-r, r - 1].", data([1, 2]), [-3])
    form.add("reject", "axis-of-rank-0", "A tensor without axes has none to name.", scalar("int32", 1), [0])


def unsqueeze_cases():
    suite = Suite("unsqueeze")
    for number, only in VERSIONS:
        version = suite.onnx("Unsqueeze", number, unsqueezed, only=only)
        onnx_types(version, [3, 4])
        unsqueeze_common(version)
    version = suite.openvino("Unsqueeze", 0, unsqueezed)
    unsqueeze_common(version)
    openvino_types(version, [3, 4])
    return suite.cases


def unsqueeze_common(version):
    form = Form(version)
    onnx = version.specification == "onnx"
    first = onnx and version.number == 1

    def data(shape):
        return labels("int32", shape)

    for name, shape, axes, why in UNSQUEEZED:
        form.add("must", name, why, data(shape), axes)
    for name, shape, axes, why in UNSQUEEZED_ANY_ORDER:
        said = onnx and not first
        form.add("must" if said else "choice", name, why if said else "Whether axes have to ascend is not said; their order does not matter.",
                 data(shape), axes)
    for name, shape, axes, why in UNSQUEEZED_NEGATIVE:
        why = "In this version axes are not negative." if first else why
        form.add("reject" if first else "must", name, why, data(shape), axes)
    repeated = "Axes have no duplicates." if onnx and not first else "Nothing is said of an axis that is named twice; it is an error."
    for name, axes in [("axis-repeated", [1, 1]), ("axis-repeated-by-alias", [0, -4])]:
        form.add("reject" if onnx and not first else "refusal", name, repeated, data([2, 3]), axes)
    form.add("reject", "axis-is-rank-of-output", "An axis lies below the rank of the output.", data([2, 3]), [3])
    form.add("reject", "axis-below-minus-rank-of-output", "An axis is at least minus the rank of the output.", data([2, 3]), [-4])
    form.add("reject", "second-axis-beyond", "Every axis lies below the rank of the output.", data([2, 3]), [0, 4])


def flatten_cases():
    suite = Suite("flatten")
    few = "type-* axis-1 axis-2 rank-0 axis-minus-*"
    for number, only in [(1, ""), (9, few), (11, ""), (13, few), (21, "type-*"), (23, "type-*"), (24, "type-*"), (25, few)]:
        version = suite.onnx("Flatten", number, flattened, only=only)
        dtypes = ["float16", "float32", "float64"] if number == 1 else onnx_dtypes(number)
        for dtype in dtypes:
            if number <= 13 or narrow(dtype):
                version.must(f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", telling(dtype, [3, 2, 2]), axis=2)
        flatten_common(version)
    return suite.cases


def flatten_common(version):
    def data(shape):
        return labels("float32", shape)

    for name, shape, axis, why in FLATTENED:
        version.must(name, why, data(shape), axis=axis)
    version.must("axis-absent", "An axis that is left out is 1.", data([2, 3, 2]))
    for name, shape, axis, why in FLATTENED_NEGATIVE:
        if version.number < 11:
            why = "In this version the axis lies in [0, r]."
        version.add("must" if version.number >= 11 else "reject", name, why, data(shape), axis=axis)
    version.reject("axis-beyond-rank", "The axis is at most the rank.", data([2, 3]), axis=3)
    version.reject("axis-below-minus-rank", "The axis is at least minus the rank.", data([2, 3]), axis=-3)
    version.reject("axis-absent-of-rank-0", "An axis that is left out is 1, which is beyond a tensor without axes.", scalar("float32", 1))


def onnx_types(version, shape):
    form = Form(version)
    for dtype in onnx_dtypes(version.number):
        if version.number <= 13 or narrow(dtype):
            form.add("must", f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", telling(dtype, shape), [1])
    if version.number >= 13:
        version.reject("axes-int32", "Axes are int64, and not int32.", labels("int32", shape), vector("int32", [1]))
        version.reject("axes-float", "Axes are int64.", labels("int32", shape), vector("float32", [1]))
        version.reject("axes-of-rank-2", "Axes have one axis.", labels("int32", shape), tensor("int64", [1, 1], [1]))


def openvino_types(version, shape):
    for dtype in OPENVINO_NUMERIC:
        version.must(f"type-{dtype}", f"T may be {dtype}, and every bit is kept.", telling(dtype, shape), vector("int64", [1]))
    for dtype in ["bool", *OPENVINO_BEYOND]:
        kind, why = numeric(dtype)
        version.add(kind, f"type-{dtype}", why, telling(dtype, shape), vector("int64", [1]))
    for dtype in INTEGERS:
        version.must(f"axes-{dtype}", f"T_INT may be any integer type, {dtype} among them.", labels("int32", shape), vector(dtype, [1]))
    version.must("axes-scalar", "One axis may be given as a scalar.", labels("int32", shape), scalar("int64", 1))
    version.reject("axes-float", "T_INT is an integer type.", labels("int32", shape), vector("float32", [1]))


# the cases of each operator, by its name
FILES = {"squeeze": squeeze_cases, "unsqueeze": unsqueeze_cases, "flatten": flatten_cases}
