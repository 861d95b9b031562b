"""GatherND: ONNX GatherND 11, 12 and 13, OpenVINO GatherND-5 and -8."""
from . import model
from .scatter_nds import LAYOUTS, NEGATIVE, OUTSIDE, WHOLE
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, onnx_dtypes
from .tensors import Tensor, labels, scalar, telling, tensor, volume

# name, shape of data, indices (shape and items), batch_dims, what the specification says
BATCHES = [
    ("batch-1", [2, 2], [2, 1], [1, 0], 1, "The first axis of both is a batch, each with tuples of its own."),
    ("batch-1-rows", [2, 3, 2], [2, 1], [1, 0], 1, "In each batch a tuple that is shorter than the axes takes a block."),
    ("batch-1-items", [2, 3, 2], [2, 2], [2, 1, 0, 1], 1, "In each batch a tuple as long as the axes takes one item."),
    ("batch-1-several-tuples", [2, 3], [2, 3, 1], [2, 0, 1, 1, 1, 0], 1, "Each batch may have several tuples."),
    ("batch-1-rows-of-several", [2, 3, 2], [2, 2, 1], [2, 0, 1, 1], 1, "Each batch may have several tuples that take blocks."),
    ("batch-of-one", [1, 3], [1, 1], [2], 1, "A batch of one."),
    ("batch-of-none", [0, 3], [0, 2, 1], [], 1, "No batches give no items."),
    ("batch-without-tuples", [2, 3], [2, 0, 1], [], 1, "Batches without tuples give no items."),
]
BATCHES_OF_2 = [
    ("batch-2", [2, 3, 4], [2, 3, 1, 1], [1, 0, 2, 0, 2, 2], 2, "The first two axes of both are batches, which stay two axes."),
    ("batch-2-one-tuple", [2, 2, 3], [2, 2, 1], [1, 0, 2, 0], 2, "The first two axes of both are batches."),
    ("batch-2-rows", [1, 2, 3, 2], [1, 2, 1], [2, 1], 2, "In each of the batches a row is taken."),
    ("batch-3", [1, 2, 2, 4], [1, 2, 2, 1], [1, 0, 3, 2], 3, "The first three axes of both are batches."),
]
NEGATIVE_BATCH = [("negative-index-in-batch", [2, 3], [2, 1], [-1, -3], 1, "A negative index counts from the end in each batch.")]


def evaluate(version, attributes, data, indices):
    batch = attributes.get("batch_dims", 0)
    if version.specification == "onnx":
        model.refuse_if(indices.shape[-1:] == [0], "tuples of no indices")
    elif version.number == 5:
        model.refuse_if(min(indices.items, default=0) < 0, "a negative index")
    output = model.gather_nd(data, indices, batch)
    if version.specification == "openvino" and version.number == 5 and batch > 1:
        return Tensor(output.dtype, [volume(output.shape[:batch]), *output.shape[batch:]], output.items)
    return output


def cases():
    suite = Suite("gather-nd")
    few = "type-* index-is-dim negative-index elements-of-* rows-of-* repeats no-tuples "
    for number, only in [(11, few + "index-* negative-* *-zero-* empty-* indices-*"), (12, few + "batch* *-in-batch"), (13, "")]:
        onnx(suite.onnx("GatherND", number, evaluate, only=only))
    for number in (5, 8):
        openvino(suite.openvino("GatherND", number, evaluate))
    return suite.cases


def inputs(shape, of_indices, numbers, indices="int64"):
    return [labels("int32", shape), tensor(indices, of_indices, numbers)]


def common(version):
    for name, shape, of_indices, numbers, why in LAYOUTS:
        version.must(name, why.replace("address", "take").replace("updates", "the output").replace(
            "nothing is updated", "nothing is taken").replace("leaves nothing of data", "takes every item"),
            *inputs(shape, of_indices, numbers))
    version.must("repeats", "A tuple may be used any number of times.", *inputs([3], [4, 1], [2, 0, 2, 2]))
    version.must("more-tuples-than-items", "There may be more tuples than items.", *inputs([2], [3, 2, 1], [1, 0, 0, 1, 1, 1]))
    for dtype in INTEGERS:
        listed = ("int64",) if version.specification == "onnx" else INTEGERS
        why = (f"Indices may be {dtype}." if dtype in listed else f"Indices are int64, and not {dtype}.")
        version.add("must" if dtype in listed else "reject", f"indices-{dtype}", why, *inputs([4], [3, 1], [3, 1, 3], indices=dtype))
    version.reject("tuples-longer-than-rank", "A tuple has at most as many indices as data has axes.", *inputs([4], [1, 2], [0, 0]))
    version.reject("rank-0-data", "Data has at least one axis.", scalar("int32", 1), tensor("int64", [1, 1], [0]))
    version.reject("rank-0-indices", "Indices have at least one axis.", labels("int32", [4]), scalar("int64", 1))
    version.reject("float-indices", "Indices are integers.", *inputs([4], [1, 1], [1], indices="float32"))
    version.reject("bool-indices", "Indices are integers, which bool is not.", *inputs([4], [1, 1], [1], indices="bool"))


def batches(version, several, bad_kind):
    for name, shape, of_indices, numbers, batch_dims, why in BATCHES + several:
        version.must(name, why, *inputs(shape, of_indices, numbers), batch_dims=batch_dims)
    for name, shape, of_indices, batch_dims, why in [
        ("batch-is-rank-of-indices", [2, 3], [2], 1, "batch_dims is less than the rank of indices."),
        ("batch-is-rank-of-data", [2], [2, 1], 1, "batch_dims is less than the rank of data."),
        ("batch-is-rank-of-both", [2, 2], [2, 2], 2, "batch_dims is less than both ranks."),
        ("batches-differ", [2, 3], [3, 1], 1, "The batches of data and indices are the same."),
        ("tuples-longer-than-rest", [2, 3], [2, 2], 1, "A tuple has at most as many indices as data has axes behind the batch."),
    ]:
        version.reject(name, why, *inputs(shape, of_indices, [0] * volume(of_indices)), batch_dims=batch_dims)
    version.add("reject" if version.specification == "openvino" else "refusal", "batch-negative",
                "batch_dims is 0 or more." if version.specification == "openvino" else
                "Nothing is said of a negative batch_dims; it is an error.", *inputs([2, 3], [2, 1], [0, 0]), batch_dims=-1)
    broadcast = ("The batches of data and indices are equal." if bad_kind == "reject" else
                 "The document lets a batch of 1 be spread over that of the other side; nothing is spread here, as in ONNX.")
    version.add(bad_kind, "batch-of-indices-broadcast", broadcast, *inputs([2, 3], [1, 1], [0]), batch_dims=1)
    version.add(bad_kind, "batch-of-data-broadcast", broadcast, *inputs([1, 3], [2, 1], [0, 1]), batch_dims=1)


def onnx(version):
    common(version)
    for name, shape, of_indices, numbers, why in NEGATIVE:
        version.must(name, why, *inputs(shape, of_indices, numbers))
    for name, shape, of_indices, numbers in OUTSIDE:
        version.reject(name, "It is an error if an index is out of bounds.", *inputs(shape, of_indices, numbers))
    for name, shape, of_indices, numbers, why in WHOLE:
        version.reject(name, "A tuple has at least one index.", *inputs(shape, of_indices, numbers))
    version.later("batch_dims", *inputs([2, 2], [2, 1], [1, 0]), batch_dims=1)
    for dtype in onnx_dtypes(version.number):
        version.must(f"type-{dtype}", f"T lists {dtype}, and items are moved with every bit they have.",
                     telling(dtype, [9]), tensor("int64", [9, 1], [8, 0, 7, 1, 6, 2, 5, 3, 4]))
    if version.number >= 12:
        batches(version, BATCHES_OF_2 + NEGATIVE_BATCH, "reject")
        version.must("batch-0-said", "batch_dims of 0 is the default.", *inputs([2, 2], [2, 1], [1, 0]), batch_dims=0)


def openvino(version):
    common(version)
    for name, shape, of_indices, numbers, why in NEGATIVE:
        fifth = version.number == 5
        version.add("reject" if fifth else "must", name, "Indices are required to lie in [0, dim - 1]." if fifth else why,
                    *inputs(shape, of_indices, numbers))
    for name, shape, of_indices, numbers in OUTSIDE:
        version.reject(name, "Indices are required to be in range.", *inputs(shape, of_indices, numbers))
    for name, shape, of_indices, numbers, why in WHOLE:
        version.choice(name, "The document does not exclude tuples of no indices, which give the whole of data.",
                       *inputs(shape, of_indices, numbers))
    for dtype in ["bool", *OPENVINO_NUMERIC]:
        version.must(f"type-{dtype}", f"T may be any type, {dtype} among them, and every bit is kept.",
                     telling(dtype, [9]), tensor("int64", [9, 1], [8, 0, 7, 1, 6, 2, 5, 3, 4]))
    for dtype in OPENVINO_BEYOND:
        version.choice(f"type-{dtype}", f"Which types are supported is left to the runtime; {dtype} items are moved like others.",
                       telling(dtype, [9]), tensor("int64", [9, 1], [8, 0, 7, 1, 6, 2, 5, 3, 4]))
    batches(version, BATCHES_OF_2 + NEGATIVE_BATCH if version.number == 8 else [], "refusal")


# the cases of each operator, by its name
FILES = {"gather-nd": cases}
