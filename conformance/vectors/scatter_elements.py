"""ScatterElements: ONNX ScatterElements 11, 13, 16 and 18, Scatter 9, OpenVINO ScatterElementsUpdate-3 and -12."""
from . import items, model
from .gather_elements import LAYOUTS, NEGATIVE, OUTSIDE, SHORTER
from .items import Refused
from .reductions import BRIEFLY, OPENVINO, onnx_reductions, reductions
from .suite import FLOATS, INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, WIDER, Suite, numeric, one_number, onnx_dtypes
from .tensors import labels, places, scalar, telling, tensor, vector

OPENVINO_NAMES = {**OPENVINO, "mean": "mean"}
# where GatherElements' layouts put twice to a place, others take their names
DISTINCT = [
    ("axis-0", [3, 3], [2, 3], [1, 2, 0, 2, 0, 1], 0),
    ("axis-1", [2, 3], [2, 2], [0, 2, 1, 0], 1),
    ("axis-minus-1", [2, 3], [2, 2], [2, 0, 1, 2], -1),
    ("axis-0-distinct-of-3", [3, 2, 2], [2, 2, 2], [2, 0, 1, 1, 0, 2, 2, 0], 0),
    ("axis-2-distinct-of-3", [2, 2, 3], [2, 2, 2], [2, 0, 1, 0, 0, 2, 2, 1], 2),
    ("all-places", [2, 2], [2, 2], [1, 0, 0, 1], 0),
]
REPEATS = [
    ("repeat", [4], [2], [1, 1], 0),
    ("repeat-of-three", [4], [4], [2, 0, 2, 2], 0),
    ("repeat-on-axis-0", [3, 2], [3, 2], [1, 0, 1, 2, 0, 0], 0),
    ("repeat-on-axis-1", [2, 3], [2, 3], [1, 2, 1, 0, 0, 0], 1),
    ("repeat-in-rank-3", [2, 2, 2], [2, 2, 2], [0, 0, 0, 1, 1, 1, 0, 0], 1),
]
LONGER = ("repeat-longer-than-the-axis", [2, 2], [2, 4], [1, 1, 0, 1, 0, 0, 1, 0], 1)
SHAPES = [
    ("updates-shorter", [4], [2], [0, 1], 0, [1]),
    ("updates-longer", [4], [2], [0, 1], 0, [3]),
    ("updates-scalar", [4], [2], [0, 1], 0, []),
    ("updates-broadcast-dim-1", [2, 3], [2, 2], [0, 1, 1, 0], 1, [2, 1]),
    ("updates-broadcast-rank", [2, 3], [2, 2], [0, 1, 1, 0], 1, [2]),
    ("updates-transposed", [2, 3], [1, 2], [0, 1], 1, [2, 1]),
    ("updates-shape-of-data", [2, 3], [2, 2], [0, 1, 1, 0], 1, [2, 3]),
]


def evaluate_onnx(version, attributes, data, indices, updates):
    reduction = attributes.get("reduction", "none")
    if reduction not in ("none", *version.reductions):
        raise Refused(f"reduction {reduction!r}")
    return model.scatter_elements(data, indices, updates, attributes.get("axis", 0), reduction)


def evaluate_openvino(version, attributes, data, indices, updates, axis):
    if version.number == 3 and any(number < 0 for number in indices.items):
        raise Refused("a negative index")
    known = {"none": "none", **{value: name for name, value in version.reductions.items()}}
    reduction = attributes.get("reduction", "none")
    if reduction not in known:
        raise Refused(f"reduction {reduction!r}")
    return model.scatter_elements(data, indices, updates, one_number(axis), known[reduction], attributes.get("use_init_val", True))


def cases():
    suite = Suite("scatter-elements")
    few = "type-* index-* negative-* repeat updates-broadcast-* axis-0 axis-1 axis-1-of-3 no-places "
    for number, only in [(11, few + "indices-* rank-* axis-*"), (13, few), (16, few + BRIEFLY), (18, "")]:
        version = suite.onnx("ScatterElements", number, evaluate_onnx, only=only)
        version.reductions = onnx_reductions(number)
        onnx(version)
    version = suite.onnx("Scatter", 9, evaluate_onnx, prefix="onnx-scatter", only=few + "indices-* rank-* axis-*")
    version.reductions = {}
    onnx(version)
    for number in (3, 12):
        version = suite.openvino("ScatterElementsUpdate", number, evaluate_openvino)
        version.reductions = OPENVINO_NAMES if number == 12 else {}
        openvino(version)
    return suite.cases


class Form:
    """How a version takes the axis: as an attribute, or as an input."""

    def __init__(self, version):
        self.version = version

    def add(self, kind, name, why, data, indices, updates, axis=0, **attributes):
        if self.version.specification == "onnx":
            self.version.add(kind, name, why, data, indices, updates, axis=axis, **attributes)
        else:
            self.version.add(kind, name, why, data, indices, updates, scalar("int64", axis), **attributes)


def operands(shape, of_indices, numbers, dtype="int32", indices="int64", updates=None):
    updates = of_indices if updates is None else updates
    return [labels(dtype, shape), tensor(indices, of_indices, numbers), labels(dtype, updates, first=101)]


def repeats(of_indices, numbers, axis):
    """Whether indices, none of which is negative, name a place twice."""
    axis = axis + len(of_indices) if axis < 0 else axis
    named = [(*place[:axis], index, *place[axis + 1:]) for place, index in zip(places(of_indices), numbers)]
    return len(set(named)) < len(named)


def common(version, form, outside, outside_why, repeat_why):
    for name, shape, of_indices, numbers, axis, why in LAYOUTS:
        if not repeats(of_indices, numbers, axis):
            form.add("must", name, why.replace("takes the place", "addresses the place").replace("nothing can be taken, and nothing is",
                     "none can be addressed, and none is").replace("give an output of their shape", "put nothing").replace(
                     "nothing to take", "nothing to put"), *operands(shape, of_indices, numbers), axis)
    for name, shape, of_indices, numbers, axis in DISTINCT:
        form.add("must", name, "Each update goes to its own place but for the axis, where the index says which.",
                 *operands(shape, of_indices, numbers), axis)
    for name, shape, of_indices, numbers, axis in SHORTER:
        form.add("must", name, "Indices may be shorter than data on any axis, and the rest of data stays.",
                 *operands(shape, of_indices, numbers), axis)
    for name, shape, of_indices, numbers, axis in REPEATS:
        form.add("choice", name, repeat_why, *operands(shape, of_indices, numbers), axis)
    form.add("must", "repeat-of-equal-updates", "Where a place gets the same item twice the order cannot be seen.",
             labels("int32", [4]), vector("int64", [2, 2]), vector("int32", [7, 7]), 0)
    for name, shape, of_indices, numbers, axis in OUTSIDE:
        form.add(outside, name, outside_why, *operands(shape, of_indices, numbers), axis)
    for name, shape, of_indices, numbers, axis, updates in SHAPES:
        form.add("reject", name, "Updates have the shape of indices exactly.",
                 *operands(shape, of_indices, numbers, updates=updates), axis)
    form.add("reject", "indices-of-lower-rank", "Indices have the rank of data.", *operands([2, 3], [2], [0, 1]), 0)
    form.add("reject", "indices-of-higher-rank", "Indices have the rank of data.", *operands([3], [1, 2], [0, 1]), 0)
    form.add("reject", "indices-longer-elsewhere", "For a place beyond data on another axis there is no item.",
             *operands([2, 2], [1, 3], [0, 1, 0]), 0)
    form.add("reject", "axis-is-rank", "The axis lies in [-r, r - 1].", *operands([2, 2], [1, 2], [0, 1]), 2)
    form.add("reject", "axis-below-minus-rank", "The axis lies in [-r, r - 1].", *operands([2, 2], [1, 2], [0, 1]), -3)
    form.add("reject", "updates-of-another-type", "Data and updates are of one type.",
             labels("int32", [4]), vector("int64", [0]), labels("int64", [1]), 0)
    form.add("reject", "float-indices", "Indices are integers.", *operands([4], [1], [0], indices="float32"), 0)
    form.add("reject", "bool-indices", "Indices are integers, which bool is not.", *operands([4], [1], [0], indices="bool"), 0)


def put_to_first(form):
    """What `reductions` adds cases with: updates that all go to the first of two places."""
    def put(kind, name, why, dtype, data, updates, reduction):
        form.add(kind, name, why, vector(dtype, data), vector("int64", [0] * len(updates)), vector(dtype, updates), 0,
                 reduction=reduction)
    return put


def reduce_layouts(form, reduction):
    def add(kind, name, why, *of, **attributes):
        form.add(kind, f"{reduction}-{name}", why, *of, reduction=reduction, **attributes)

    why = "Each place is reduced with the updates that are put to it."
    add("must", "axis-0", why, *operands([3, 2], [3, 2], [1, 0, 1, 2, 0, 0], "int64"), 0)
    add("must", "axis-1", why, *operands([2, 3], [2, 3], [1, 2, 1, 0, 0, 0], "int64"), 1)
    add("must", "axis-minus-1", "A negative axis counts from the last.", *operands([2, 2], [2, 3], [1, 0, 1, 0, 0, 0], "int64"), -1)
    add("must", "no-indices", "Without indices there is nothing to reduce.", *operands([3], [0], [], "int64"), 0)
    add("must", "by-alias", "Indices that name one place in two ways meet there.", *operands([3], [3], [2, -1, 0], "int64"), 0)
    add("must", "longer-than-the-axis", "On the axis there may be more indices than places.",
        *operands([2], [5], [1, 0, 1, 1, 0], "int64"), 0)
    add("reject", "updates-broadcast", "Updates have the shape of indices exactly.",
        *operands([2, 3], [2, 2], [0, 1, 1, 0], updates=[2, 1]), 1)


def onnx(version):
    form = Form(version)
    scatter = version.operator == "Scatter"
    outside = "refusal" if scatter else "reject"
    why = ("Nothing is said of an index out of bounds; it is an error, as in ScatterElements." if scatter else
           "It is an error if an index is out of bounds.")
    common(version, form, outside, why,
           "Indices should not repeat, or what then comes out is not said; the last in row-major order wins here.")
    for name, shape, of_indices, numbers, axis, why in NEGATIVE:
        if scatter:
            why = "Nothing is said of negative indices; they count from the end, as in ScatterElements."
        form.add("choice" if scatter else "must", name, why, *operands(shape, of_indices, numbers), axis)
    form.add("choice", "repeat-by-alias", "Indices that name one place in two ways repeat; the last in row-major order wins here.",
             *operands([4], [2], [3, -1]), 0)
    form.add("choice", LONGER[0], "More indices than places repeat; the last in row-major order wins here.", *operands(*LONGER[1:4]), LONGER[4])
    version.must("axis-absent", "An axis that is left out is the first.", *operands([3, 2], [1, 2], [2, 0]))
    version.reject("rank-0", "Data has at least one axis.", scalar("int32", 1), scalar("int64", 0), scalar("int32", 2), axis=0)
    for dtype in onnx_dtypes(version.number):
        form.add("must", f"type-{dtype}", f"T lists {dtype}; what is written and what stays keep every bit.",
                 telling(dtype, [9]), vector("int64", [8, 0]), telling(dtype, [2]), 0)
    form.add("must", "strings-longer", WIDER, tensor("string", [3], ["a", "b", "c"]), vector("int64", [2]), tensor("string", [1], ["long"]), 0)
    for dtype in INTEGERS:
        said = dtype in ("int32", "int64")
        why = f"Tind may be {dtype}." if said else f"Tind lists int32 and int64, and not {dtype}."
        form.add("must" if said else "reject", f"indices-{dtype}", why, *operands([4], [2], [3, 1], indices=dtype), 0)
    if not version.reductions:
        if not scatter:
            version.later("reduction", *operands([4], [2], [3, 1]), axis=0, reduction="none")
        return
    reductions(put_to_first(form), version.reductions)
    form.add("must", "reduction-none", "A reduction of none is none.", *operands([4], [2], [3, 1]), 0, reduction="none")
    form.add("reject", "reduction-unknown", "The reduction is one of those that are listed, and mean is none of them.",
             *operands([4], [2], [3, 1]), 0, reduction="mean")
    if version.number == 16:
        for reduction in ("max", "min"):
            form.add("reject", f"reduction-{reduction}", "Version 16 lists none, add and mul; max and min came with 18.",
                     *operands([4], [2], [3, 1]), 0, reduction=reduction)
    for reduction in version.reductions:
        reduce_layouts(form, reduction)


def openvino(version):
    form = Form(version)
    third = version.number == 3
    why = ("An index that is negative, or points to no item, raises an exception." if third else
           "An index that points to no item raises an exception.")
    common(version, form, "reject", why, "Where indices repeat the order of updates is undefined; the last in row-major order wins here.")
    for name, shape, of_indices, numbers, axis, negative_why in NEGATIVE:
        form.add("reject" if third else "must", name, why if third else negative_why, *operands(shape, of_indices, numbers), axis)
    for dtype in OPENVINO_NUMERIC:
        form.add("must", f"type-{dtype}", f"T may be {dtype}; what is written and what stays keep every bit.",
                 telling(dtype, [9]), vector("int64", [8, 0]), telling(dtype, [2]), 0)
    for dtype in ["bool", *OPENVINO_BEYOND]:
        said = dtype == "bool" and not third
        why = (f"T may be any type, {dtype} among them." if said else
               f"Whether {dtype} is among the types of T is left open; its items are moved.")
        kind = "must" if said else "choice"
        if third:
            kind, why = numeric(dtype)
        form.add(kind, f"type-{dtype}", why,
                 telling(dtype, [9]), vector("int64", [8, 0]), labels(dtype, [2], first=5), 0)
    for dtype in INTEGERS:
        form.add("must", f"indices-{dtype}", f"T_IND may be any integer type, {dtype} among them.",
                 *operands([4], [2], [3, 1], indices=dtype), 0)
        version.must(f"axis-{dtype}", f"T_AXIS may be any integer type, {dtype} among them.",
                     *operands([2, 3], [2, 1], [2, 0]), scalar(dtype, 1))
    version.must("axis-of-one-item", "The axis is a scalar or a tensor of one axis and one item.",
                 *operands([2, 3], [2, 1], [2, 0]), vector("int64", [1]))
    version.reject("axis-of-two-items", "The axis is one number.", *operands([2, 3], [2, 1], [2, 0]), vector("int64", [0, 1]))
    if third:
        for attribute, value in [("reduction", "none"), ("use_init_val", True)]:
            version.later(attribute, *operands([4], [2], [3, 1]), scalar("int64", 0), **{attribute: value})
        return
    form.add("choice", "repeat-by-alias", "Indices that name one place in two ways repeat; the last in row-major order wins here.",
             *operands([4], [2], [3, -1]), 0)
    form.add("choice", LONGER[0], "On the axis there may be more indices than places, which then repeat; the last wins here.",
             *operands(*LONGER[1:4]), LONGER[4])
    reductions(put_to_first(form), version.reductions, bool_is_said=("add", "mul"), complex_is_a_type=False)
    form.add("must", "reduction-none", "A reduction of none is none.", *operands([4], [2], [3, 1]), 0, reduction="none")
    form.add("reject", "reduction-of-onnx", "The reduction is called sum; add is ONNX's name of it.",
             *operands([4], [2], [3, 1]), 0, reduction="add")
    for reduction in version.reductions.values():
        reduce_layouts(form, reduction)
    initial_value(form, version)
    means(form)
    examples(version)


def initial_value(form, version):
    """use_init_val: whether what is there takes part."""
    why = "With use_init_val false what is there takes no part, and places that nothing is put to stay as they are."
    for reduction in version.reductions.values():
        for dtype in ("int64", "float32"):
            form.add("must", f"{reduction}-without-initial-{dtype}", why, vector(dtype, [2, 3, 4, 6]),
                     vector("int64", [1, 0, 0, 2]), vector(dtype, [10, 20, 30, 40]), 0, reduction=reduction, use_init_val=False)
        form.add("must", f"{reduction}-without-initial-one-update", "Without what is there a single update stays as it is.",
                 vector("int64", [100, -100, 50]), vector("int64", [0, 1]), vector("int64", [7, 9]), 0,
                 reduction=reduction, use_init_val=False)
        form.add("must", f"{reduction}-without-initial-axis-1", why, *operands([2, 3], [2, 3], [1, 2, 1, 0, 0, 0], "int64"), 1,
                 reduction=reduction, use_init_val=False)
        form.add("must", f"{reduction}-without-initial-no-indices", "Where nothing is put all stays as it is.",
                 *operands([3], [0], [], "int64"), 0, reduction=reduction, use_init_val=False)
        form.add("must", f"{reduction}-with-initial-said", "use_init_val is true where it is left out.", vector("int64", [2, 3, 4]),
                 vector("int64", [1, 1]), vector("int64", [10, 20]), 0, reduction=reduction, use_init_val=True)
    form.add("must", "none-without-initial", "Without a reduction use_init_val has no effect.",
             *operands([4], [2], [3, 1]), 0, reduction="none", use_init_val=False)
    form.add("must", "sum-without-initial-nan", "What is there takes no part, also where it is NaN.",
             vector("float32", ["nan", 1]), vector("int64", [0, 0]), vector("float32", [1, 2]), 0, reduction="sum", use_init_val=False)
    form.add("must", "max-without-initial-below", "What is there takes no part, also where it would be the greatest.",
             vector("float32", [100, 1]), vector("int64", [0, 0]), vector("float32", [-1, -2]), 0, reduction="max", use_init_val=False)
    form.add("must", "min-without-initial-above", "What is there takes no part, also where it would be the least.",
             vector("float32", [-100, 1]), vector("int64", [0, 0]), vector("float32", [3, 2]), 0, reduction="min", use_init_val=False)
    for reduction in ("sum", "prod"):
        for old, new in [(1, 0), (0, 1)]:
            form.add("must", f"{reduction}-without-initial-bool-{new}", "Of bool items too what is there takes no part.",
                     vector("bool", [old, 1]), vector("int64", [0]), vector("bool", [new]), 0, reduction=reduction, use_init_val=False)


def means(form):
    def mean(kind, name, why, dtype, data, updates, **attributes):
        form.add(kind, f"mean-{name}-{dtype}", why, vector(dtype, data), vector("int64", [0] * len(updates)), vector(dtype, updates), 0,
                 reduction="mean", **attributes)

    for dtype in INTEGERS:
        mean("must", "exact", "The mean is of what is there and all updates.", dtype, [1, 50], [2, 6])
        mean("must", "rounded-down", "A mean of integers is rounded down.", dtype, [1, 50], [2, 2, 2])
        mean("must", "updates-alone", "Without what is there the mean is that of the updates.", dtype, [100, 50], [2, 4],
             use_init_val=False)
        greatest = items.limits(items.DTYPES[dtype])[1]
        mean("choice", "sum-beyond-the-type", "Nothing is said of a sum beyond the type; the mean is that of the exact sum.",
             dtype, [greatest, 50], [greatest])
        if dtype.startswith("int"):
            negative = ("The document rounds the mean of integers down, towards negative infinity; it is rounded toward zero here, as "
                        "OpenVINO's CPU plugin does.")
            mean("choice", "negative", negative, dtype, [-5, 50], [-3, -7, -3])
            mean("choice", "negative-odd", negative, dtype, [-1, 50], [0])
            mean("must", "negative-exact", "A mean that is an integer needs no rounding.", dtype, [-5, 50], [-3])
    for dtype in FLOATS:
        top = 1 << (items.DTYPES[dtype].fraction + 1)
        mean("must", "exact", "The mean is of what is there and all updates.", dtype, [1, 50], [2, 6])
        mean("must", "of-two", "The mean of two items is half their sum.", dtype, [1, 50], [2])
        mean("must", "updates-alone", "Without what is there the mean is that of the updates.", dtype, [100, 50], [2, 4],
             use_init_val=False)
        mean("choice", "thirds", "How a mean is rounded is not said; the sum is divided once, to nearest even.", dtype, [1, 50], [0, 0])
        mean("choice", "rounds-each-sum", "How a mean is rounded is not said; sums are rounded one by one in the item's own type.",
             dtype, [top, 50], [1, 1, top])
        mean("choice", "sum-overflows", "How a mean is rounded is not said; a sum beyond the type is infinity, and so is the mean.",
             dtype, [items.value(items.DTYPES[dtype], items.DTYPES[dtype].infinity - 1), 50],
             [items.value(items.DTYPES[dtype], items.DTYPES[dtype].infinity - 1)])
        mean("must", "nan", "A mean with NaN is NaN.", dtype, [1, 50], ["nan"])
    mean("reject", "refused", "The mean is not supported for boolean items.", "bool", [1, 0], [1])
    mean("refusal", "refused", "Nothing is said of a mean of strings; it is an error.", "string", ["ab", "cd"], ["ef"])


def examples(version):
    axis = vector("int64", [0])
    second = vector("int64", [1])
    ones = tensor("int32", [3, 4], [1] * 12)
    version.must("example-1", "The document's first example.", vector("float32", [2, 3, 4, 6]), vector("int64", [1, 0, 0, -2, -1, 2]),
                 vector("float32", [10, 20, 30, 40, 70, 60]), axis, reduction="sum", use_init_val=True)
    version.must("example-2", "The document's second example.", vector("float32", [2, 3, 4, 6]), vector("int64", [1, 0, 0, 2, 3, 2]),
                 vector("float32", [10, 20, 30, 40, 70, 60]), axis, reduction="sum", use_init_val=False)
    for name, data, numbers, reduction in [
        ("example-3", tensor("int32", [3, 4], [0] * 12), [1, 2, 0, 3], "none"),
        ("example-4", ones, [1, 1, 0, 3], "sum"),
        ("example-5", tensor("int32", [3, 4], [2] * 12), [1, 1, 0, 3], "prod"),
    ]:
        version.must(name, "An example of the document, with updates of two rows.", data, tensor("int64", [2, 2], numbers),
                     tensor("int32", [2, 2], [11, 12, 13, 14]), second, reduction=reduction, use_init_val=True)


# the cases of each operator, by its name
FILES = {"scatter-elements": cases}
