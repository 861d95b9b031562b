"""DepthToSpace and SpaceToDepth of ONNX and OpenVINO; BatchToSpace-2, SpaceToBatch-2 and ShuffleChannels-1 of OpenVINO."""
from . import movement
from .suite import OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, numbers, onnx_dtypes
from .tensors import labels, telling, tensor, vector

SPATIAL = range(3, 9)
# name, shape of what has the depth, size of the blocks, for data of four axes
BLOCKS = [
    ("one-block", [1, 4, 1, 1], 2),
    ("two-channels", [1, 8, 1, 1], 2),
    ("wide", [1, 4, 1, 3], 2),
    ("high", [1, 4, 3, 1], 2),
    ("two-channels-and-places", [1, 8, 2, 1], 2),
    ("batches", [2, 4, 1, 2], 2),
    ("blocks-of-3", [1, 9, 1, 2], 3),
    ("blocks-of-1", [1, 2, 2, 3], 1),
    ("two-channels-of-3", [1, 18, 1, 1], 3),
    ("no-batches", [0, 4, 1, 2], 2),
    ("no-width", [1, 4, 2, 0], 2),
]
# the same for OpenVINO's, with other numbers of axes
BLOCKS_OF_OTHER_RANK = [
    ("rank-3", [1, 4, 3], 2),
    ("rank-3-of-3", [2, 3, 2], 3),
    ("rank-5", [1, 8, 1, 1, 2], 2),
    ("rank-5-two-channels", [1, 16, 1, 1, 1], 2),
    ("rank-6", [1, 16, 1, 1, 1, 1], 2),
]
FIRST = "The places in a block change most slowly along the depth, and channels fastest."
LAST = "Channels change most slowly along the depth, and the places in a block fastest."


def cut(shape, size):
    """The shape whose blocks make the depth of another."""
    blocks = size ** (len(shape) - 2)
    return [shape[0], shape[1] // blocks, *(dim * size for dim in shape[2:])]


def data_of(shape):
    return labels("int32", shape)


def depth_of_onnx(move):
    def evaluate(version, attributes, data):
        mode = attributes.get("mode", "DCR")
        movement.refuse_if(mode not in ("DCR", "CRD"), f"mode {mode}")
        movement.refuse_if("blocksize" not in attributes, "no blocksize")
        return move(data, attributes["blocksize"], mode == "DCR", (4,))
    return evaluate


def depth_of_openvino(move):
    def evaluate(version, attributes, data):
        mode = attributes.get("mode")
        movement.refuse_if(mode not in ("blocks_first", "depth_first"), f"mode {mode}")
        return move(data, attributes.get("block_size", 1), mode == "blocks_first", SPATIAL)
    return evaluate


def depth_cases():
    suite = Suite("depth-to-space")
    few = "type-* mode-* depth-* two-channels* blocks-of-* rank-*"
    for number, only in [(1, few), (11, ""), (13, "type-*"), (28, few)]:
        version = suite.onnx("DepthToSpace", number, depth_of_onnx(movement.depth_to_space), only=only)
        version.later("mode", labels("int32", [1, 4, 1, 1]), blocksize=2, mode="DCR")
        onnx(version, [4 * 2, 1, 1], lambda shape, size: shape, modes=number >= 11)
        for name, shape, size in [("depth-no-multiple", [1, 6, 1, 1], 2), ("depth-multiple-of-size-alone", [1, 2, 2, 2], 2)]:
            version.reject(name, "The depth is a multiple of the square of the block size.", data_of(shape), blocksize=size)
    version = suite.openvino("DepthToSpace", 1, depth_of_openvino(movement.depth_to_space))
    openvino(version, lambda shape, size: shape)
    for mode in ("blocks_first", "depth_first"):
        version.reject(f"depth-no-multiple-{mode}", "The depth is a multiple of what blocks hold.", data_of([1, 6, 1, 1]), block_size=2, mode=mode)
        version.reject(f"depth-no-multiple-rank-5-{mode}", "The depth is a multiple of what blocks hold.", data_of([1, 4, 1, 1, 1]),
                       block_size=2, mode=mode)
    return suite.cases


def space_cases():
    suite = Suite("space-to-depth")
    few = "type-* mode-* height-* two-channels* blocks-of-* rank-*"
    for number, only in [(1, ""), (13, "type-*"), (28, few)]:
        version = suite.onnx("SpaceToDepth", number, depth_of_onnx(movement.space_to_depth), only=only)
        version.later("mode", labels("int32", [1, 1, 2, 2]), blocksize=2, mode="DCR")
        onnx(version, [2, 2, 2], cut, modes=number >= 28)
        version.reject("height-no-multiple", "The height is a multiple of the block size.", data_of([1, 1, 3, 2]), blocksize=2)
        version.reject("width-no-multiple", "The width is a multiple of the block size.", data_of([1, 1, 2, 3]), blocksize=2)
    version = suite.openvino("SpaceToDepth", 1, depth_of_openvino(movement.space_to_depth))
    openvino(version, cut)
    for mode in ("blocks_first", "depth_first"):
        version.reject(f"place-no-multiple-{mode}", "Each spatial dim is a multiple of the block size.", data_of([1, 1, 2, 3]), block_size=2, mode=mode)
    return suite.cases


def onnx(version, typed, shape_of, modes):
    first, last = FIRST, LAST
    for name, shape, size in BLOCKS:
        version.must(name, first, data_of(shape_of(shape, size)), blocksize=size)
        if modes:
            version.must(f"mode-CRD-{name}", last, data_of(shape_of(shape, size)), blocksize=size, mode="CRD")
    if modes:
        version.must("mode-DCR-said", "The mode DCR is the default.", data_of(shape_of([1, 8, 1, 1], 2)), blocksize=2, mode="DCR")
        version.reject("mode-unknown", "The modes are DCR and CRD.", data_of(shape_of([1, 4, 1, 1], 2)), blocksize=2, mode="RCD")
    version.reject("rank-3", "The input has four axes.", data_of([1, 4, 2]), blocksize=2)
    version.reject("rank-5", "The input has four axes.", data_of([1, 16, 2, 2, 1]), blocksize=2)
    version.reject("blocks-of-0", "A block has at least one place.", data_of([1, 4, 2, 2]), blocksize=0)
    version.reject("blocks-of-minus-2", "A block has at least one place.", data_of([1, 4, 2, 2]), blocksize=-2)
    version.reject("blocksize-absent", "The block size is required.", data_of([1, 4, 2, 2]))
    for dtype in onnx_dtypes(min(version.number, 13)):
        if version.number != 28 or dtype in ("int32", "float16"):
            version.must(f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", telling(dtype, [1, *typed]), blocksize=2)


def openvino(version, shape_of):
    for mode, why in (("blocks_first", FIRST), ("depth_first", LAST)):
        for name, shape, size in BLOCKS + BLOCKS_OF_OTHER_RANK:
            version.must(f"{name}-{mode}", why, data_of(shape_of(shape, size)), block_size=size, mode=mode)
        version.must(f"size-absent-{mode}", "The block size is 1 if it is left out.", data_of([1, 2, 3]), mode=mode)
        version.reject(f"rank-2-{mode}", "The data has three axes or more.", data_of([1, 4]), block_size=2, mode=mode)
        version.reject(f"blocks-of-0-{mode}", "The block size is positive.", data_of([1, 4, 2, 2]), block_size=0, mode=mode)
        version.reject(f"blocks-of-minus-2-{mode}", "The block size is positive.", data_of([1, 4, 2, 2]), block_size=-2, mode=mode)
    version.reject("mode-unknown", "The modes are blocks_first and depth_first.", data_of([1, 4, 2, 2]), block_size=2, mode="DCR")
    version.reject("mode-absent", "The mode is required.", data_of([1, 4, 2, 2]), block_size=2)
    openvino_types(version, lambda dtype: [telling(dtype, [1, 4, 2, 2])], {"block_size": 2, "mode": "depth_first"}, "must")


def openvino_types(version, inputs, attributes, kind):
    for dtype in OPENVINO_NUMERIC:
        version.must(f"type-{dtype}", f"T may be {dtype}, and every bit is kept.", *inputs(dtype), **attributes)
    for dtype in ["bool", *OPENVINO_BEYOND]:
        version.choice(f"type-{dtype}", f"Which types are supported is left to the runtime; {dtype} items are moved like others.",
                       *inputs(dtype), **attributes)


# ---------------------------------------------------------------------------------------------------- batches and channels

# name, shape of the batches, block_shape, crops_begin, crops_end
CROPS = [
    ("one-axis", [4, 2], [1, 2], [0, 0], [0, 0]),
    ("blocks-of-3", [3, 2], [1, 3], [0, 0], [0, 0]),
    ("two-axes", [4, 1, 2], [1, 2, 2], [0, 0, 0], [0, 0, 0]),
    ("blocks-of-two-sizes", [6, 1, 2], [1, 3, 2], [0, 0, 0], [0, 0, 0]),
    ("second-axis-alone", [4, 2, 2], [1, 1, 2], [0, 0, 0], [0, 0, 0]),
    ("no-blocks", [2, 3], [1, 1], [0, 0], [0, 0]),
    ("two-batches-left", [8, 1, 1], [1, 2, 2], [0, 0, 0], [0, 0, 0]),
    ("rank-4", [8, 1, 2, 1], [1, 2, 2, 2], [0, 0, 0, 0], [0, 0, 0, 0]),
    ("rank-5", [4, 1, 2, 1, 2], [1, 1, 2, 1, 2], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]),
    ("no-batches", [0, 2], [1, 2], [0, 0], [0, 0]),
]
CROPPED = [
    ("cropped-before", [4, 3], [1, 2], [0, 1], [0, 0]),
    ("cropped-after", [4, 3], [1, 2], [0, 0], [0, 2]),
    ("cropped-both-ends", [2, 3], [1, 2], [0, 2], [0, 1]),
    ("cropped-on-two-axes", [4, 2, 2], [1, 2, 2], [0, 1, 0], [0, 0, 3]),
    ("cropped-without-blocks", [1, 5], [1, 1], [0, 2], [0, 1]),
    ("cropped-to-nothing", [4, 2], [1, 2], [0, 1], [0, 3]),
    ("cropped-document-example", [10, 2], [1, 5], [0, 2], [0, 0]),
]
PADDED = [
    ("padded-before", [1, 3], [1, 2], [0, 1], [0, 0]),
    ("padded-after", [1, 3], [1, 2], [0, 0], [0, 1]),
    ("padded-both-ends", [2, 4], [1, 3], [0, 1], [0, 1]),
    ("padded-on-two-axes", [1, 3, 1], [1, 2, 3], [0, 1, 0], [0, 0, 2]),
    ("padded-without-blocks", [1, 2], [1, 1], [0, 1], [0, 2]),
    ("padded-by-a-whole-block", [1, 2], [1, 2], [0, 2], [0, 2]),
    ("padded-from-nothing", [1, 0], [1, 2], [0, 1], [0, 3]),
]


def lists(*of):
    return [vector("int64", one) for one in of]


def evaluate_blocks(move):
    return lambda version, attributes, data, blocks, begin, end: move(data, numbers(blocks), numbers(begin), numbers(end))


def batch_cases():
    suite = Suite("batch-to-space")
    version = suite.openvino("BatchToSpace", 2, evaluate_blocks(movement.batch_to_space))
    for name, shape, *of in CROPS:
        version.must(name, "Batches become the places of blocks, the first axis of blocks slowest.", data_of(shape), *lists(*of))
    for name, shape, *of in CROPPED:
        version.must(name, "What is cropped is left out at either end, after the blocks are put together.", data_of(shape), *lists(*of))
    version.reject("batches-no-multiple", "The batches are a multiple of the product of the block sizes.", data_of([3, 2]), *lists([1, 2], [0, 0], [0, 0]))
    version.reject("crops-beyond-dim", "No more is cropped than there is.", data_of([2, 2]), *lists([1, 2], [0, 3], [0, 2]))
    version.reject("crop-negative", "A crop is not negative.", data_of([4, 2]), *lists([1, 2], [0, -1], [0, 0]))
    blocks_and_numbers(version, [4, 2])
    openvino_types(version, lambda dtype: [telling(dtype, [4, 4]), *lists([1, 2], [0, 0], [0, 0])], {}, "must")
    return suite.cases


def space_to_batch_cases():
    suite = Suite("space-to-batch")
    version = suite.openvino("SpaceToBatch", 2, evaluate_blocks(movement.space_to_batch))
    for name, shape, blocks, begin, end in CROPS:
        shape = [shape[0] // movement.volume(blocks), *(dim * size for dim, size in zip(shape[1:], blocks[1:]))]
        version.must(name, "The places of blocks become batches, the first axis of blocks slowest.", data_of(shape), *lists(blocks, begin, end))
    for name, shape, *of in PADDED:
        version.must(name, "Zeros are added at either end, before blocks are cut.", data_of(shape), *lists(*of))
    version.reject("dim-no-multiple", "What an axis has with what is added is a multiple of its block size.", data_of([1, 3]),
                   *lists([1, 2], [0, 0], [0, 0]))
    version.reject("padded-dim-no-multiple", "What an axis has with what is added is a multiple of its block size.", data_of([1, 4]),
                   *lists([1, 2], [0, 1], [0, 0]))
    version.reject("pad-negative", "A pad is not negative.", data_of([1, 5]), *lists([1, 2], [0, -1], [0, 0]))
    blocks_and_numbers(version, [1, 4])
    openvino_types(version, lambda dtype: [telling(dtype, [1, 9]), *lists([1, 2], [0, 1], [0, 0])], {}, "must")
    return suite.cases


def blocks_and_numbers(version, shape):
    data = data_of(shape)
    version.reject("rank-1", "The data has two axes or more.", data_of([4]), *lists([1], [0], [0]))
    version.reject("block-of-0", "A block has at least one place.", data, *lists([1, 0], [0, 0], [0, 0]))
    version.reject("block-negative", "A block has at least one place.", data, *lists([1, -2], [0, 0], [0, 0]))
    version.reject("blocks-too-few", "There is a number for each axis.", data, *lists([1], [0, 0], [0, 0]))
    version.reject("numbers-too-many", "There is a number for each axis.", data, *lists([1, 2], [0, 0, 0], [0, 0]))
    expected = "The axis of batches is expected to have blocks of 1 and nothing added or cut; anything else is an error, which OpenVINO accepts."
    version.refusal("blocks-of-batches", expected, data_of([4, 2]), *lists([2, 2], [0, 0], [0, 0]))
    version.refusal("batches-at-the-beginning", expected, data_of([4, 2]), *lists([1, 2], [1, 0], [0, 0]))
    version.refusal("batches-at-the-end", expected, data_of([4, 2]), *lists([1, 2], [0, 0], [1, 0]))
    version.reject("blocks-float", "The block sizes are integers.", data, vector("float32", [1, 2]), *lists([0, 0], [0, 0]))
    version.reject("blocks-of-rank-2", "The block sizes have one axis.", data, tensor("int64", [1, 2], [1, 2]), *lists([0, 0], [0, 0]))
    version.must("numbers-int32", "The numbers may be int32.", data, *(vector("int32", one) for one in ([1, 2], [0, 0], [0, 0])))
    version.must("numbers-uint8", "The numbers may be uint8.", data, *(vector("uint8", one) for one in ([1, 2], [0, 0], [0, 0])))


def shuffle_cases():
    suite = Suite("shuffle-channels")
    version = suite.openvino("ShuffleChannels", 1, lambda version, attributes, data: movement.shuffle_channels(
        data, attributes.get("axis", 1), attributes.get("group", 1)))
    for name, shape, axis, group in [
        ("two-groups", [1, 6], 1, 2), ("three-groups", [1, 6], 1, 3), ("rank-1", [8], 0, 2), ("first-axis", [4, 2], 0, 2),
        ("four-axes", [1, 6, 2, 2], 1, 3), ("batches", [2, 4, 2], 1, 2), ("last-axis", [2, 2, 6], 2, 3), ("axis-minus-1", [2, 6], -1, 2),
        ("axis-minus-rank", [6, 2], -2, 3), ("one-group", [1, 5], 1, 1), ("groups-of-one", [1, 5], 1, 5), ("rank-5", [1, 2, 4, 1, 2], 2, 2),
        ("no-batches", [0, 4], 1, 2), ("two-groups-of-2", [1, 4], 1, 2),
    ]:
        version.must(name, "Channels go in the order of their place in a group, then of their group.", data_of(shape), axis=axis, group=group)
    version.must("axis-absent", "The axis is 1 if it is left out.", data_of([2, 6]), group=2)
    version.must("group-absent", "There is one group if none is given.", data_of([2, 4]), axis=1)
    even = "The groups divide the channels."
    version.reject("uneven", even, data_of([1, 5]), axis=1, group=2)
    version.reject("more-groups-than-channels", even, data_of([1, 4]), axis=1, group=8)
    version.reject("groups-0", "There is at least one group.", data_of([1, 4]), axis=1, group=0)
    version.reject("groups-negative", "There is at least one group.", data_of([1, 4]), axis=1, group=-2)
    version.reject("axis-is-rank", "The axis lies in [-r, r - 1].", data_of([1, 4]), axis=2, group=1)
    version.reject("axis-below-minus-rank", "The axis lies in [-r, r - 1].", data_of([1, 4]), axis=-3, group=1)
    openvino_types(version, lambda dtype: [telling(dtype, [1, 8])], {"axis": 1, "group": 2}, "must")
    return suite.cases


# the cases of each operator, by its name
FILES = {
    "depth-to-space": depth_cases,
    "space-to-depth": space_cases,
    "batch-to-space": batch_cases,
    "space-to-batch": space_to_batch_cases,
    "shuffle-channels": shuffle_cases,
}
