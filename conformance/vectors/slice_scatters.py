"""SliceScatter: OpenVINO SliceScatter-15. Which places a slice has is what Slice-8 says; its cases are taken from there."""
from . import model
from .slices import BACKWARD, BEYOND_INT64, BEYOND_INT64_WHY, DEFAULT_AXES, FORWARD, INT64_MAX, INT64_MIN, SEVERAL, lists
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, numbers, numeric
from .tensors import labels, scalar, telling, tensor, vector

# those of Slice's cases on one axis that differ in what is written, and not only in how the end is found
ON_ONE_AXIS = """
inner whole first-only last-only start-minus-1 start-below-minus-dim stop-minus-1 stop-below-minus-dim both-negative
start-is-stop start-after-stop start-beyond-dim stop-beyond-dim stop-int32-max stop-int64-max start-int64-min extremes step-2
step-2-before-stop step-3-remainder step-4-exact step-beyond-dim step-int64-max
reverse reverse-by-minus-dim-minus-1 stop-minus-dim-backward stop-0-backward stop-minus-1-backward start-is-dim-backward
start-beyond-dim-backward start-int64-max-backward stop-int64-max-backward start-0-backward start-before-stop-backward
step-minus-2 step-minus-2-from-3 step-minus-2-before-stop step-minus-4-exact step-below-minus-dim step-int64-min
""".split()
OUTSIDE = "What the slice does not take is as it was."


def evaluate(version, attributes, data, updates, start, stop, step, axes=None):
    return model.slice_scatter(data, updates, numbers(start), numbers(stop), numbers(step), numbers(axes))


def cases():
    suite = Suite("slice-scatter")
    version = suite.openvino("SliceScatter", 15, evaluate)

    def inputs(dtype, shape, starts, stops, steps, axes=None, indices="int64", updates=None, make=labels):
        if updates is None:
            taken = model.sliced_places(shape, starts, stops, steps, axes, onnx=False)
            updates = [len(one) for one in taken]
        return [make(dtype, shape), labels(dtype, updates, first=101 if dtype != "int8" else 70),
                *lists(indices, starts, stops, steps), *([] if axes is None else lists(indices, axes))]

    for name, start, stop, step, why in FORWARD + BACKWARD:
        if name in ON_ONE_AXIS:
            version.must(name, f"{why} {OUTSIDE}", *inputs("float32", [5], [start], [stop], [step], [0]))
    version.must("start-below-minus-dim-backward",
                 "The snippet is Python's, where a start before the axis stays before it, so that nothing is written.",
                 *inputs("float32", [5], [-6], [INT64_MIN], [-1], [0]))
    for name, shape, starts, stops, steps, axes, why in SEVERAL:
        version.must(name, f"{why} {OUTSIDE}", *inputs("int32", shape, starts, stops, steps, axes))
    for name, shape, starts, stops, steps, why in DEFAULT_AXES:
        version.must(name, f"{why} {OUTSIDE}", *inputs("int32", shape, starts, stops, steps))
    for dtype in OPENVINO_NUMERIC:
        moved = telling(dtype, [4])
        version.must(f"type-{dtype}", f"T may be {dtype}; what is written and what stays keep every bit.",
                     telling(dtype, [9]), moved, *lists("int64", [8], [4], [-1], [0]))
    for dtype in ["bool", *OPENVINO_BEYOND]:
        version.add(numeric(dtype)[0], f"type-{dtype}", numeric(dtype)[1],
                    telling(dtype, [9]), labels(dtype, [4]), *lists("int64", [8], [4], [-1], [0]))
    for dtype in INTEGERS:
        version.must(f"indices-{dtype}", f"T_IND may be any integer type, {dtype} among them.",
                     *inputs("float32", [5], [1], [4], [2], [0], dtype))
    version.must("example-1", "The document's first example: a row of two is replaced.",
                 tensor("float32", [2, 5], range(10)), tensor("float32", [1, 5], [10, 20, 30, 40, 50]),
                 *lists("int32", [0], [1], [1], [0]))
    version.must("example-2", "The document's second example: every second column, with start and stop clamped.",
                 tensor("float32", [2, 5], range(10)), tensor("float32", [2, 3], [10, 20, 30, 40, 50, 60]),
                 *lists("int32", [-25], [25], [2], [1]))
    version.must("example-3", "The document's third example, with the lists as it prints them and the dims that these have.",
                 tensor("float32", [3, 5], range(15)), tensor("float32", [2, 2], [50, 60, 70, 80]),
                 *lists("int32", [0, 1], [3, 5], [2, 2]))
    for name, start, stop, step in BEYOND_INT64:
        version.must(name, f"{BEYOND_INT64_WHY} {OUTSIDE}", *inputs("float32", [5], [start], [stop], [step], [0], "uint64"))
    version.reject("strings-longer", numeric("string")[1], tensor("string", [3], ["a", "b", "c"]), tensor("string", [1], ["long"]),
                   *lists("int64", [1], [2], [1], [0]))
    shapes = "Updates have the shape of the slice exactly."
    rejected = [
        ("updates-broadcast-dim-1", [2, 5], [0], [4], [1], [1], [2, 1], f"{shapes} NumPy's assignment would broadcast a dim of 1."),
        ("updates-broadcast-rank", [2, 5], [0], [4], [1], [1], [4], f"{shapes} NumPy's assignment would add an axis in front."),
        ("updates-scalar", [2, 5], [0], [4], [1], [1], [], f"{shapes} One item is not spread over it."),
        ("updates-longer", [5], [1], [3], [1], [0], [3], shapes),
        ("updates-shorter", [5], [1], [4], [1], [0], [2], shapes),
        ("updates-extra-axis", [5], [1], [4], [1], [0], [1, 3], f"{shapes} NumPy's assignment would drop a leading 1."),
        ("updates-same-volume", [2, 3], [0], [2], [1], [0], [3, 2], f"{shapes} The same number of items is not enough."),
        ("updates-for-empty-slice", [5], [3], [3], [1], [0], [1], f"{shapes} NumPy's assignment would take 1 for 0."),
        ("updates-shape-of-data", [5], [0], [5], [2], [0], [5], shapes),
        ("step-0", [5], [0], [5], [0], [0], [5], "A step cannot be 0."),
        ("step-0-zero-axis", [0], [0], [0], [0], [0], [0], "A step cannot be 0, also on an axis without places."),
        ("axis-is-rank", [2, 3], [0], [2], [1], [2], [2, 3], "An axis lies in [-r, r - 1]."),
        ("axis-below-minus-rank", [2, 3], [0], [2], [1], [-3], [2, 3], "An axis lies in [-r, r - 1]."),
        ("axis-repeated", [2, 3], [0, 0], [2, 1], [1, 1], [1, 1], [2, 1], "The values of axes are unique."),
        ("axis-repeated-by-alias", [2, 3], [0, 0], [2, 1], [1, 1], [1, -1], [2, 1], "The values of axes are unique, however counted."),
        ("stop-shorter", [2, 3], [0, 0], [2], [1, 1], [0, 1], [2, 3], "Start, stop, step and axes have the same number of entries."),
        ("step-shorter", [2, 3], [0, 0], [2, 3], [1], [0, 1], [2, 3], "Start, stop, step and axes have the same number of entries."),
        ("axes-longer", [2, 3], [0], [2], [1], [0, 1], [2, 3], "Start, stop, step and axes have the same number of entries."),
        ("more-entries-than-axes", [2], [0, 0], [2, 2], [1, 1], None, [2], "There is no second axis for the second entry."),
    ]
    for name, shape, starts, stops, steps, axes, updates, why in rejected:
        version.reject(name, why, *inputs("int32", shape, starts, stops, steps, axes, updates=updates))
    version.reject("updates-of-another-type", "Data and updates are both of type T.",
                   labels("int32", [5]), labels("int64", [2]), *lists("int64", [0], [2], [1], [0]))
    version.reject("rank-0", "Data has at least one axis.",
                   scalar("float32", 1), scalar("float32", 2), *lists("int64", [], [], [], []))
    version.reject("float-indices", "T_IND is an integer type.",
                   labels("float32", [5]), labels("float32", [3]), *lists("float32", [1], [4], [1]), vector("int64", [0]))
    version.must("long-axis", "An axis of more than 255 places is written to beyond the range of a byte.",
                 labels("int32", [300]), labels("int32", [2], first=900), *lists("int64", [257], [INT64_MAX], [40], [0]))
    return suite.cases


# the cases of each operator, by its name
FILES = {"slice-scatter": cases}
