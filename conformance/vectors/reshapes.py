"""Reshape: ONNX Reshape 5, 13, 14, 19, 21, 23, 24 and 25, OpenVINO Reshape-1."""
from . import model
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, narrow, numbers, numeric, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector

# name, shape of data, new shape, what the specification says
PLAIN = [
    ("flat", [2, 3], [6], "Items stay in row-major order."),
    ("from-flat", [6], [3, 2], "Items stay in row-major order."),
    ("regrouped", [2, 3], [3, 2], "A new shape regroups the items and transposes nothing."),
    ("same", [2, 3], [2, 3], "The same shape changes nothing."),
    ("merged", [2, 3, 2], [6, 2], "Two axes become one."),
    ("split", [4, 3], [2, 2, 3], "An axis becomes two."),
    ("leading-1", [3], [1, 3], "A dim of 1 may stand anywhere."),
    ("trailing-1", [3], [3, 1, 1], "A dim of 1 may stand anywhere."),
    ("rank-6", [8], [1, 2, 1, 2, 2, 1], "A shape may have any number of dims."),
    ("to-rank-0", [1], [], "An empty shape makes a tensor without axes."),
    ("to-rank-0-from-3", [1, 1, 1], [], "An empty shape makes a tensor without axes."),
    ("from-rank-0", [], [1], "A tensor without axes has one item."),
    ("from-rank-0-to-3", [], [1, 1, 1], "A tensor without axes has one item."),
    ("rank-0-to-rank-0", [], [], "A tensor without axes may stay without."),
    ("infer-first", [2, 6], [-1, 3], "The dim -1 is what the others leave of the items."),
    ("infer-last", [2, 6], [4, -1], "The dim -1 is what the others leave of the items."),
    ("infer-middle", [12], [2, -1, 2], "The dim -1 is what the others leave of the items."),
    ("infer-all", [2, 3, 2], [-1], "A lone -1 makes one axis of all items."),
    ("infer-1", [2, 3], [2, -1, 3], "The dim -1 may be inferred to be 1."),
    ("infer-from-rank-0", [], [-1], "A lone -1 makes one axis of the one item."),
    ("infer-zero", [0, 3], [-1, 3], "The dim -1 is 0 where there are no items."),
]
# 0 means the dim of data
COPIED = [
    ("copy-first", [2, 6], [0, 3, 2], "A 0 copies the dim of data in its place."),
    ("copy-last", [2, 3], [2, 0], "A 0 copies the dim of data in its place."),
    ("copy-all", [2, 3], [0, 0], "A 0 copies the dim of data in its place."),
    ("copy-and-infer", [2, 3, 4], [0, -1], "A dim may be copied beside one that is inferred."),
    ("infer-and-copy", [3, 1, 1], [-1, 0], "A dim may be copied behind one that is inferred, by its own place."),
    ("copy-middle-and-infer", [2, 3, 4], [-1, 0, 2], "The 0 in place 1 copies dim 1, whatever stands before it."),
    ("copy-two-and-infer", [2, 2, 3], [0, 0, 1, -1], "Several dims may be copied."),
    ("copy-a-zero", [0, 3], [0, 3], "The dim that is copied may be 0."),
    ("copy-zero-to-more", [2, 0], [2, 0, 5], "The dim that is copied may be 0."),
    ("copy-beside-another-order", [3, 4], [4, 0], "The dim is that of the same place.",),
]
# 0 means 0
KEPT = [
    ("zero-stays", [0], [0, 5], "A 0 that is a dim stays."),
    ("zero-stays-elsewhere", [3, 0], [0, 3], "A 0 may stand in another place than in data."),
    ("zero-stays-past-rank", [0], [2, 3, 0], "A 0 may stand beyond the axes of data."),
    ("zero-stays-twice", [2, 0], [0, 0], "A dim may be 0 more than once."),
    ("zero-document-example", [2, 5, 5, 0], [0, 4], "A tensor without items takes any shape without items."),
]
BAD = [
    ("too-few", [2, 3], [5], "Both shapes have the same number of items."),
    ("too-many", [2, 3], [7], "Both shapes have the same number of items."),
    ("rank-0-of-several", [2], [], "A tensor without axes has one item."),
    ("two-inferred", [2, 6], [-1, -1], "At most one dim is -1."),
    ("two-inferred-and-one-given", [2, 6], [-1, 2, -1], "At most one dim is -1."),
    ("not-divisible", [2, 3], [4, -1], "The items do not divide into what the other dims ask for."),
    ("dim-minus-2", [2, 3], [-2, 3], "A dim is -1, 0 or positive."),
    ("dims-minus-2-and-3", [2, 3], [-2, -3], "A dim is -1, 0 or positive; that the product fits is not enough."),
    ("dim-int64-min", [2, 3], [-(1 << 63), 6], "A dim is -1, 0 or positive."),
    ("product-overflows", [2, 3], [1 << 32, 1 << 32, 6], "A product of dims that does not fit 64 bits is not the number of items."),
    ("product-overflows-to-items", [2, 3], [1 << 62, 4, 6], "A product that is 0 modulo 2^64 is no number of items."),
    ("product-wraps-to-items", [2, 3], [162, ((1 << 63) + 1) // 27], "This product is 6 modulo 2^64, which is not enough."),
]


def evaluate_onnx(version, attributes, data, shape):
    return model.reshape(data, numbers(shape), attributes.get("allowzero", 0) == 1)


def evaluate_openvino(version, attributes, data, shape):
    return model.reshape(data, numbers(shape), not attributes["special_zero"])


def cases():
    suite = Suite("reshape")
    types = "type-*"
    few = "type-* *infer* copy-* allowzero-* zero-stays"
    for number, only in [(5, ""), (13, types), (14, ""), (19, types), (21, types), (23, types), (24, types), (25, few)]:
        onnx(suite.onnx("Reshape", number, evaluate_onnx, only=only))
    openvino(suite.openvino("Reshape", 1, evaluate_openvino))
    return suite.cases


def data_of(shape):
    return labels("int32", shape)


def onnx(version):
    for dtype in onnx_dtypes(version.number):
        if version.number <= 14 or narrow(dtype):
            version.must(f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", telling(dtype, [3, 4]), vector("int64", [2, 6]))
    for name, shape, new, why in PLAIN + COPIED:
        if name == "copy-beside-another-order":
            version.reject(name, "A 0 copies the dim of its own place, which does not fit here.", data_of(shape), vector("int64", new))
        else:
            version.must(name, why, data_of(shape), vector("int64", new))
    for name, shape, new, why in BAD:
        version.reject(name, why, data_of(shape), vector("int64", new))
    version.reject("copy-past-rank", "A 0 beyond the axes of data has no dim to copy.", data_of([2, 3]), vector("int64", [2, 3, 0]))
    version.reject("copy-from-rank-0", "A tensor without axes has no dim to copy.", scalar("int32", 1), vector("int64", [0]))
    version.refusal("infer-beside-copied-zero", "A -1 beside a dim of 0 could be anything; it is an error, as in NumPy.",
                    data_of([0, 3]), vector("int64", [0, -1]))
    version.reject("shape-float", "The shape is int64.", data_of([2, 3]), vector("float32", [6]))
    version.reject("shape-of-rank-2", "The shape has one axis.", data_of([2, 3]), tensor("int64", [1, 2], [3, 2]))
    version.reject("shape-int32", "The shape is int64, and not int32.", data_of([2, 3]), vector("int32", [-1, 2]))
    if version.number < 14:
        version.later("allowzero", data_of([2, 3]), vector("int64", [6]), allowzero=1)
        return
    for name, shape, new, why in KEPT:
        version.must(name, why, data_of(shape), vector("int64", new), allowzero=1)
    version.must("allowzero-0-said", "allowzero of 0 is the default.", data_of([2, 3]), vector("int64", [0, 3]), allowzero=0)
    version.must("allowzero-without-zero", "Without a 0 in the shape allowzero has no effect.",
                 data_of([2, 3]), vector("int64", [3, -1]), allowzero=1)
    version.reject("allowzero-not-copied", "With allowzero a 0 is a dim, which does not fit a tensor of items.",
                   data_of([2, 3]), vector("int64", [0, 3]), allowzero=1)
    version.reject("allowzero-beside-infer", "With allowzero a 0 and a -1 may not stand together.",
                   data_of([0, 3]), vector("int64", [0, -1]), allowzero=1)
    version.reject("allowzero-infer-before", "With allowzero a 0 and a -1 may not stand together, in any order.",
                   data_of([0]), vector("int64", [-1, 0]), allowzero=1)


def openvino(version):
    for special in (True, False):
        mode = "" if special else "-zero-is-zero"
        for name, shape, new, why in PLAIN:
            version.must(name + mode, why, data_of(shape), vector("int64", new), special_zero=special)
        for name, shape, new, why in BAD:
            version.reject(name + mode, why, data_of(shape), vector("int64", new), special_zero=special)
    for name, shape, new, why in COPIED:
        if name != "copy-beside-another-order":
            version.must(name, why, data_of(shape), vector("int64", new), special_zero=True)
    for name, shape, new, why in KEPT:
        version.must(name, why, data_of(shape), vector("int64", new), special_zero=False)
    version.reject("copy-past-rank", "The place of a 0 is not beyond the rank.", data_of([2, 3]), vector("int64", [2, 3, 0]), special_zero=True)
    version.reject("zero-not-copied", "A 0 that is a dim does not fit a tensor of items.",
                   data_of([2, 3]), vector("int64", [0, 3]), special_zero=False)
    version.refusal("infer-beside-zero", "A -1 beside a dim of 0 could be anything; it is an error.",
                    data_of([0, 3]), vector("int64", [0, -1]), special_zero=False)
    version.refusal("infer-beside-copied-zero", "A -1 beside a dim of 0 could be anything; it is an error.",
                    data_of([0, 3]), vector("int64", [0, -1]), special_zero=True)
    version.reject("shape-float", "T_SHAPE is an integer type.", data_of([2, 3]), vector("float32", [6]), special_zero=True)
    version.reject("shape-of-rank-2", "The shape has one axis.", data_of([2, 3]), tensor("int64", [1, 2], [3, 2]), special_zero=True)
    for dtype in OPENVINO_NUMERIC:
        version.must(f"type-{dtype}", f"T may be {dtype}, and every bit is kept.",
                     telling(dtype, [3, 4]), vector("int64", [2, 6]), special_zero=True)
    for dtype in ["bool", *OPENVINO_BEYOND]:
        kind, why = numeric(dtype)
        version.add(kind, f"type-{dtype}", why, telling(dtype, [3, 4]), vector("int64", [2, 6]), special_zero=True)
    for dtype in INTEGERS:
        if dtype == "int64":
            continue
        version.must(f"shape-{dtype}", f"T_SHAPE may be any integer type, {dtype} among them.",
                     data_of([2, 3]), vector(dtype, [3, 2]), special_zero=True)


# the cases of each operator, by its name
FILES = {"reshape": cases}
