"""Transpose: ONNX Transpose 1, 13, 21, 23, 24 and 25, OpenVINO Transpose-1."""
from . import model
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, narrow, numbers, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector

# name, shape, perm, what the specification says
LAYOUTS = [
    ("rank-1", [3], [0], "One axis has one permutation, which changes nothing."),
    ("identity", [2, 3], [0, 1], "A permutation that moves no axis leaves the tensor as it is."),
    ("matrix", [2, 3], [1, 0], "Rows become columns."),
    ("square", [3, 3], [1, 0], "The items of a square tensor move although the shape stays."),
    ("rotation", [2, 3, 4], [1, 2, 0], "Axis i of the output is axis perm[i] of the input; the permutation is not its inverse."),
    ("rotation-back", [2, 3, 4], [2, 0, 1], "Axis i of the output is axis perm[i] of the input; the permutation is not its inverse."),
    ("cube-rotation", [2, 2, 2], [1, 2, 0], "Where all dims are the same only the items tell a permutation from its inverse."),
    ("first-two", [2, 3, 4], [1, 0, 2], "The last axis stays, and whole rows move."),
    ("last-two", [2, 3, 4], [0, 2, 1], "The first axis stays, and each block is turned."),
    ("outer-two", [2, 3, 4], [2, 1, 0], "The axes are reversed."),
    ("rank-4-channels-last", [1, 2, 3, 2], [0, 2, 3, 1], "The second axis becomes the last."),
    ("rank-4-channels-first", [1, 2, 3, 2], [0, 3, 1, 2], "The last axis becomes the second."),
    ("rank-4-swap-middle", [2, 3, 2, 2], [0, 2, 1, 3], "The two axes in the middle change places."),
    ("rank-5", [1, 2, 1, 3, 2], [4, 2, 0, 3, 1], "Rank 5."),
    ("rank-6", [1, 2, 1, 2, 1, 2], [5, 3, 1, 4, 2, 0], "Rank 6."),
    ("dims-of-1", [1, 4, 1], [1, 0, 2], "An axis of one place moves without moving an item."),
    ("zero-axis", [0, 3], [1, 0], "A tensor without items changes its shape."),
    ("zero-axis-in-the-middle", [2, 0, 3], [2, 0, 1], "A tensor without items changes its shape."),
]
DEFAULT = [
    ("reversed-by-default", [2, 3, 2], "Without a permutation the axes are reversed."),
    ("reversed-by-default-matrix", [2, 3], "Without a permutation the axes are reversed."),
    ("reversed-by-default-rank-1", [3], "A tensor of one axis stays as it is."),
    ("reversed-by-default-rank-4", [1, 2, 3, 2], "Without a permutation the axes are reversed, not only the last two changed."),
    ("reversed-by-default-zero", [0, 2], "A tensor without items changes its shape."),
]
BAD = [
    ("perm-repeats", [2, 3], [0, 0], "The permutation has each axis exactly once."),
    ("perm-repeats-the-last", [2, 3], [1, 1], "The permutation has each axis exactly once."),
    ("perm-too-short", [2, 3], [1], "The permutation has each axis exactly once, so that it is as long as the rank."),
    ("perm-too-long", [2, 3], [1, 0, 2], "The permutation has each axis exactly once, so that it is as long as the rank."),
    ("perm-beyond-rank", [2, 3], [0, 2], "The permutation has axes of the tensor only."),
    ("perm-below-minus-rank", [2, 3], [0, -3], "The permutation has axes of the tensor only."),
    ("perm-repeats-by-alias", [2, 3], [1, -1], "The permutation has each axis exactly once."),
]
NEGATIVE = [
    ("perm-negative", [2, 3], [-1, 0]),
    ("perm-negative-of-3", [2, 3, 2], [-1, -3, 1]),
]


def evaluate_onnx(version, attributes, data):
    perm = attributes.get("perm")
    model.refuse_if(perm is not None and min(perm, default=0) < 0, f"perm {perm}")
    return model.transpose(data, perm)


def evaluate_openvino(version, attributes, data, order):
    order = numbers(order)
    if order == [] and data.rank > 0:
        return model.transpose(data)
    model.refuse_if(min(order, default=0) < 0, f"order {order}")
    return model.transpose(data, order)


def cases():
    suite = Suite("transpose")
    types = "type-*"
    few = "type-bfloat16 type-uint2 type-int2 perm-* rotation matrix rank-0 reversed-by-default rank-4-* zero-axis"
    for number, only in [(1, ""), (13, types), (21, types), (23, types), (24, types), (25, few)]:
        onnx(suite.onnx("Transpose", number, evaluate_onnx, only=only))
    openvino(suite.openvino("Transpose", 1, evaluate_openvino))
    return suite.cases


def onnx(version):
    for dtype in onnx_dtypes(version.number):
        if version.number <= 13 or narrow(dtype):
            version.must(f"type-{dtype}", f"T lists {dtype}, and items are moved with every bit they have.",
                         telling(dtype, [3, 4]), perm=[1, 0])
    for name, shape, perm, why in LAYOUTS:
        version.must(name, why, labels("int32", shape), perm=perm)
    for name, shape, why in DEFAULT:
        version.must(name, why, labels("int32", shape))
    version.must("rank-0", "A tensor without axes stays as it is.", scalar("int32", 5))
    for name, shape, perm, why in BAD:
        version.reject(name, why, labels("int32", shape), perm=perm)
    for name, shape, perm in NEGATIVE:
        version.reject(name, "The permutation has the axes 0 to n - 1, and no negative ones.",
                       labels("int32", shape), perm=perm)


def openvino(version):
    for name, shape, perm, why in LAYOUTS:
        version.must(name, why, labels("int32", shape), vector("int64", perm))
    for name, shape, why in DEFAULT:
        version.must(name, why.replace("Without a permutation", "With an empty order"), labels("int32", shape), vector("int64", []))
    version.must("rank-0", "A tensor without axes stays as it is.", scalar("int32", 5), vector("int64", []))
    for name, shape, perm, why in BAD:
        version.reject(name, why, labels("int32", shape), vector("int64", perm))
    for name, shape, perm in NEGATIVE:
        version.reject(name, "The order has the axes 0 to n - 1, and no negative ones.",
                       labels("int32", shape), vector("int64", perm))
    for dtype in ["bool", *OPENVINO_NUMERIC]:
        version.must(f"type-{dtype}", f"T may be any type, {dtype} among them, and every bit is kept.",
                     telling(dtype, [3, 4]), vector("int64", [1, 0]))
    for dtype in OPENVINO_BEYOND:
        version.choice(f"type-{dtype}", f"Which types are supported is left to the runtime; {dtype} items are moved like others.",
                       telling(dtype, [3, 4]), vector("int64", [1, 0]))
    for dtype in INTEGERS:
        if dtype == "int64":
            continue
        version.must(f"order-{dtype}", f"T_AXIS may be any integer type, {dtype} among them.",
                     labels("int32", [2, 3]), vector(dtype, [1, 0]))
    version.reject("order-float", "T_AXIS is an integer type.", labels("int32", [2, 3]), vector("float32", [1, 0]))
    version.reject("order-of-rank-2", "The order has one axis.", labels("int32", [2, 3]), tensor("int64", [1, 2], [1, 0]))


# the cases of each operator, by its name
FILES = {"transpose": cases}
