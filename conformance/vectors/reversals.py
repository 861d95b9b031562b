"""Reverse-1 of OpenVINO; ReverseSequence: ONNX 10 and 28, OpenVINO ReverseSequence-1."""
from . import movement
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, numbers, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector

# name, shape, axes, what the specification says
INDEXED = [
    ("rank-1", [4], [0], "The items of the axis come in reverse."),
    ("rows", [3, 2], [0], "On the first axis rows come in reverse."),
    ("columns", [2, 3], [1], "On the last axis each row comes in reverse."),
    ("both-axes", [2, 3], [0, 1], "Several axes may be reversed."),
    ("axes-in-any-order", [2, 1, 3], [2, 0], "The order of axes does not matter."),
    ("middle-axis", [2, 3, 2], [1], "On an axis in the middle blocks come in reverse."),
    ("all-of-3", [2, 2, 2], [0, 1, 2], "All axes may be reversed."),
    ("rank-5", [1, 2, 1, 2, 3], [1, 4], "Rank 5."),
    ("dim-1", [1, 3], [0], "The reverse of one place is that place."),
    ("zero", [0, 3], [0, 1], "A tensor without items stays so."),
    ("no-axes", [2, 3], [], "Where no axis is named the data comes out as it is."),
    ("rank-0", [], [], "Data without axes has none to name."),
]
MASKED = [
    ("first", [3, 2], [1, 0], "An axis whose mask is true is reversed."),
    ("last", [2, 3], [0, 1], "An axis whose mask is true is reversed."),
    ("both", [2, 3], [1, 1], "Several axes may be reversed."),
    ("none", [2, 3], [0, 0], "Where the mask is false everywhere the data comes out as it is."),
    ("outer-of-3", [2, 2, 3], [1, 0, 1], "An axis whose mask is false stays."),
    ("zero", [0, 2], [1, 1], "A tensor without items stays so."),
]
# name, shape, batch axis, time axis, lengths, what the specifications say
SEQUENCES = [
    ("batch-first", [2, 4], 0, 1, [3, 2], "Of each sequence as many items as its length are reversed, and the rest stays."),
    ("time-first", [4, 2], 1, 0, [3, 4], "Of each sequence as many items as its length are reversed, and the rest stays."),
    ("document-example-time-first", [4, 4], 1, 0, [4, 3, 2, 1], "Each sequence has a length of its own."),
    ("document-example-batch-first", [4, 4], 0, 1, [1, 2, 3, 4], "Each sequence has a length of its own."),
    ("whole", [2, 3], 0, 1, [3, 3], "A length of the dim reverses the whole sequence."),
    ("length-1", [2, 3], 0, 1, [1, 1], "A length of 1 changes nothing."),
    ("items-of-vectors", [2, 3, 2], 0, 1, [2, 3], "What a sequence has at each time stays as it is."),
    ("items-of-vectors-time-first", [3, 2, 2], 1, 0, [2, 3], "What a sequence has at each time stays as it is."),
    ("items-of-matrices", [2, 3, 2, 2], 0, 1, [3, 2], "What a sequence has at each time stays as it is."),
    ("one-sequence", [1, 5], 0, 1, [4], "One sequence is a batch."),
    ("one-time", [3, 1], 0, 1, [1, 1, 1], "A sequence of one item is its own reverse."),
    ("no-sequences", [0, 3], 0, 1, [], "A batch without sequences has no lengths."),
    ("no-items", [2, 3, 0], 0, 1, [2, 3], "What has no items stays so."),
]


def evaluate_reverse(version, attributes, data, axes):
    mode = attributes["mode"]
    movement.refuse_if(mode not in ("index", "mask"), f"mode {mode}")
    if mode == "index":
        return movement.reverse(data, numbers(axes))
    movement.refuse_if(axes.dtype.kind != "bool" or axes.shape != [data.rank], f"a mask of dtype {axes.dtype} and shape {axes.shape}")
    return movement.reverse(data, [n for n, of in enumerate(axes.items) if of])


def evaluate_onnx(version, attributes, data, lengths):
    batch, time = attributes.get("batch_axis", 1), attributes.get("time_axis", 0)
    movement.refuse_if(batch not in (-data.rank, 1 - data.rank, 0, 1) or time not in (-data.rank, 1 - data.rank, 0, 1), f"axes {batch}, {time}")
    movement.refuse_if(lengths.dtype.kind not in ("int", "uint"), f"lengths of dtype {lengths.dtype}")
    return movement.reverse_sequence(data, lengths, batch, time)


def evaluate_openvino(version, attributes, data, lengths):
    movement.refuse_if(lengths.dtype.kind not in ("int", "uint"), f"lengths of dtype {lengths.dtype}")
    return movement.reverse_sequence(data, lengths, attributes.get("batch_axis", 0), attributes.get("seq_axis", 1), least=1)


def data_of(shape):
    return labels("int32", shape) if shape else scalar("int32", 5)


def reverse_cases():
    suite = Suite("reverse")
    version = suite.openvino("Reverse", 1, evaluate_reverse)
    for name, shape, axes, why in INDEXED:
        version.must(f"index-{name}", why, data_of(shape), vector("int64", axes), mode="index")
    for name, shape, mask, why in MASKED:
        version.must(f"mask-{name}", why, data_of(shape), vector("bool", mask), mode="mask")
    version.choice("index-axis-negative", "Whether axes may be negative is not said; they count from the last, as in OpenVINO.",
                   data_of([2, 3]), vector("int64", [-1]), mode="index")
    version.choice("index-axis-repeated", "It is not said what an axis is that is named twice; it is reversed once, as in OpenVINO.",
                   data_of([2, 3]), vector("int64", [1, 1]), mode="index")
    version.reject("index-axis-is-rank", "An axis is one of the data's.", data_of([2, 3]), vector("int64", [2]), mode="index")
    version.reject("index-axis-below-minus-rank", "An axis is one of the data's.", data_of([2, 3]), vector("int64", [-3]), mode="index")
    version.reject("index-float", "T2 is an integer type.", data_of([2, 3]), vector("float32", [1]), mode="index")
    version.reject("mask-shorter", "The mask is as long as the rank.", data_of([2, 3]), vector("bool", [1]), mode="mask")
    version.reject("mask-longer", "The mask is as long as the rank.", data_of([2, 3]), vector("bool", [1, 0, 0]), mode="mask")
    version.reject("mask-integers", "T3 is boolean.", data_of([2, 3]), vector("int64", [0, 1]), mode="mask")
    version.reject("mode-unknown", "The modes are index and mask.", data_of([2, 3]), vector("int64", [1]), mode="axes")
    openvino_types(version, lambda dtype: [vector("int64", [0])], {"mode": "index"}, [9])
    for dtype in INTEGERS:
        if dtype != "int64":
            version.must(f"index-{dtype}", f"T2 may be any integer type, {dtype} among them.", data_of([2, 3]), vector(dtype, [1]), mode="index")
    return suite.cases


def openvino_types(version, inputs, attributes, shape):
    for dtype in ["bool", *OPENVINO_NUMERIC]:
        version.must(f"type-{dtype}", f"T1 may be any type, {dtype} among them, and every bit is kept.", telling(dtype, shape),
                     *inputs(dtype), **attributes)
    for dtype in OPENVINO_BEYOND:
        version.choice(f"type-{dtype}", f"Which types are supported is left to the runtime; {dtype} items are moved like others.",
                       telling(dtype, shape), *inputs(dtype), **attributes)


def sequence_cases():
    suite = Suite("reverse-sequence")
    for number, only in [(10, ""), (28, "type-* batch-first time-first length-*")]:
        version = suite.onnx("ReverseSequence", number, evaluate_onnx, only=only)
        common(version, "time_axis")
        version.must("axes-absent", "The batch is axis 1 and the time axis 0 if they are left out.", data_of([3, 2]), vector("int64", [3, 2]))
        version.choice("length-0", "It is not said whether a sequence may be empty; its first 0 items are reversed, as in ONNX Runtime.",
                       data_of([2, 3]), vector("int64", [0, 2]), batch_axis=0, time_axis=1)
        beyond = "It is not said what becomes of a length beyond the dim; it is an error, as in ONNX Runtime."
        version.refusal("length-beyond-dim", beyond, data_of([2, 3]), vector("int64", [4, 2]), batch_axis=0, time_axis=1)
        version.refusal("length-negative", "Nothing is said of a negative length; it is an error.", data_of([2, 3]), vector("int64", [1, -2]), batch_axis=0, time_axis=1)
        version.reject("batch-axis-2", "The axis of the batch is 0 or 1.", data_of([2, 3, 2]), vector("int64", [1, 2]), batch_axis=2, time_axis=1)
        version.reject("time-axis-2", "The axis of time is 0 or 1.", data_of([2, 2, 3]), vector("int64", [1, 2]), batch_axis=0, time_axis=2)
        version.refusal("one-axis-for-both", "It is not said what it means that the batch and the time are one axis; "
                        "it is an error.", data_of([2, 2]), vector("int64", [1, 2]),
                        batch_axis=0, time_axis=0)
        for dtype in onnx_dtypes(13 if number == 28 else 10):
            version.must(f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", telling(dtype, [2, 5]), vector("int64", [4, 5]),
                         batch_axis=0, time_axis=1)
        version.reject("lengths-int32", "The lengths are int64, and not int32.", data_of([2, 3]), vector("int32", [3, 2]),
                       batch_axis=0, time_axis=1)
    version = suite.openvino("ReverseSequence", 1, evaluate_openvino)
    common(version, "seq_axis")
    version.must("axes-absent", "The batch is axis 0 and the sequence axis 1 if they are left out.", data_of([2, 3]), vector("int64", [3, 2]))
    version.must("last-axes", "Any two axes may be named.", data_of([2, 2, 3]), vector("int64", [3, 2]), batch_axis=1, seq_axis=2)
    version.must("outer-axes", "Any two axes may be named.", data_of([2, 2, 3]), vector("int64", [3, 2]), batch_axis=0, seq_axis=2)
    version.must("outer-axes-turned", "Any two axes may be named.", data_of([3, 2, 2]), vector("int64", [3, 2]), batch_axis=2, seq_axis=0)
    version.must("axes-negative", "Negative axes count from the last.", data_of([2, 3]), vector("int64", [1, 2, 2]), batch_axis=-1, seq_axis=-2)
    version.must("axes-of-both-signs", "Negative axes count from the last.", data_of([2, 2, 3]), vector("int64", [2, 3]), batch_axis=0, seq_axis=-1)
    within = "A length lies in [1, dim]."
    version.reject("length-0", within, data_of([2, 3]), vector("int64", [0, 2]), batch_axis=0, seq_axis=1)
    version.reject("length-beyond-dim", within, data_of([2, 3]), vector("int64", [4, 2]), batch_axis=0, seq_axis=1)
    version.reject("length-negative", within, data_of([2, 3]), vector("int64", [1, -2]), batch_axis=0, seq_axis=1)
    version.reject("batch-axis-is-rank", "An axis lies in [-r, r - 1].", data_of([2, 3]), vector("int64", [1, 2]), batch_axis=2, seq_axis=1)
    version.reject("sequence-axis-below-minus-rank", "An axis lies in [-r, r - 1].", data_of([2, 3]), vector("int64", [1, 2]),
                   batch_axis=0, seq_axis=-3)
    version.refusal("one-axis-for-both", "It is not said what it means that the batch and the sequence are one axis; it is an error.",
                    data_of([2, 2]), vector("int64", [1, 2]), batch_axis=1, seq_axis=1)
    version.refusal("one-axis-for-both-by-alias", "It is not said what it means that the batch and the sequence are one axis; it is an error.",
                    data_of([2, 2]), vector("int64", [1, 2]), batch_axis=1, seq_axis=-1)
    openvino_types(version, lambda dtype: [vector("int64", [4, 5])], {"batch_axis": 0, "seq_axis": 1}, [2, 5])
    for dtype in INTEGERS:
        if dtype != "int64":
            version.must(f"lengths-{dtype}", f"T2 may be any numerical type, {dtype} among them.", data_of([2, 3]), vector(dtype, [3, 2]),
                         batch_axis=0, seq_axis=1)
    return suite.cases


def common(version, time):
    for name, shape, batch_axis, time_axis, lengths, why in SEQUENCES:
        version.must(name, why, data_of(shape), vector("int64", lengths), batch_axis=batch_axis, **{time: time_axis})
    each = "There is a length for each sequence."
    version.reject("lengths-too-few", each, data_of([2, 3]), vector("int64", [2]), batch_axis=0, **{time: 1})
    version.reject("lengths-too-many", each, data_of([2, 3]), vector("int64", [2, 3, 1]), batch_axis=0, **{time: 1})
    version.reject("lengths-of-rank-2", "The lengths have one axis.", data_of([2, 3]), tensor("int64", [1, 2], [2, 3]), batch_axis=0, **{time: 1})
    version.reject("rank-1", "The data has two axes or more.", data_of([3]), vector("int64", [2, 3, 1]), batch_axis=0, **{time: 1})


# the cases of each operator, by its name
FILES = {"reverse": reverse_cases, "reverse-sequence": sequence_cases}
