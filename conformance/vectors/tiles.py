"""Tile: ONNX Tile 6 and 13, OpenVINO Tile-1."""
from . import movement
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, numbers, onnx_dtypes
from .tensors import labels, scalar, telling, tensor, vector

# name, shape, repeats, what the specification says
LAYOUTS = [
    ("rank-1", [3], [2], "The items follow one another again."),
    ("rank-1-thrice", [2], [3], "The items follow one another again and again."),
    ("once", [2, 3], [1, 1], "Repeats of 1 change nothing."),
    ("rows", [2, 2], [2, 1], "On the first axis all rows follow one another again."),
    ("columns", [2, 2], [1, 2], "On the last axis each row follows itself."),
    ("both-axes", [2, 3], [2, 2], "All axes may be repeated at once."),
    ("each-its-own", [2, 3], [3, 2], "Each axis has its own number of repeats."),
    ("middle-axis", [2, 2, 2], [1, 3, 1], "An axis in the middle is repeated as a whole."),
    ("outer-axes", [2, 2, 2], [2, 1, 2], "The axis in the middle stays."),
    ("rank-3", [1, 2, 3], [3, 2, 1], "Rank 3."),
    ("rank-4", [1, 2, 1, 2], [2, 1, 2, 2], "Rank 4."),
    ("rank-5", [1, 1, 2, 1, 2], [1, 2, 1, 3, 1], "Rank 5."),
    ("dims-of-1", [1, 1], [3, 4], "One item may be repeated on several axes."),
    ("row-to-rows", [1, 3], [4, 1], "An axis of one place is repeated like others."),
    ("column-to-columns", [3, 1], [1, 4], "An axis of one place is repeated like others."),
    ("repeats-0", [3], [0], "Repeats of 0 leave no places."),
    ("repeats-0-of-one-axis", [2, 3], [2, 0], "Repeats of 0 leave no places, and other axes are repeated."),
    ("zero-axis", [0], [3], "An axis without places stays so."),
    ("zero-axis-beside", [2, 0], [2, 3], "An axis without places stays so, and others are repeated."),
    ("rank-0", [], [], "Data without axes has no repeats."),
]
# OpenVINO puts ones in front of what is shorter
ALIGNED = [
    ("repeats-longer", [2, 3], [2, 2, 2], "Axes of one place are put in front of the data, as in the text's example."),
    ("repeats-longer-by-2", [2], [3, 1, 2], "Axes of one place are put in front of the data."),
    ("repeats-longer-with-1", [2, 2], [1, 1, 1], "An axis that is put in front stays if it is not repeated."),
    ("repeats-for-rank-0", [], [3], "Data without axes gets one."),
    ("repeats-shorter", [2, 2, 3], [2, 2], "Ones are put in front of the repeats, as in the text's example."),
    ("repeats-shorter-by-2", [2, 1, 2], [3], "Ones are put in front of the repeats, so that the last axis is repeated."),
    ("repeats-none", [2, 3], [], "Without repeats all of them are 1."),
    ("repeats-0-in-front", [2], [0, 1], "Repeats of 0 of an axis that is put in front leave no places."),
]


def evaluate_onnx(version, attributes, data, repeats):
    return movement.tile(data, numbers(repeats))


def evaluate_openvino(version, attributes, data, repeats):
    return movement.tile(data, numbers(repeats), aligned=True)


def cases():
    suite = Suite("tile")
    for number, only in [(6, ""), (13, "type-* rank-* both-axes repeats-* zero-*")]:
        version = suite.onnx("Tile", number, evaluate_onnx, only=only)
        common(version)
        for dtype in onnx_dtypes(number):
            version.must(f"type-{dtype}", f"T lists {dtype}, and every bit is kept.", telling(dtype, [9]), vector("int64", [2]))
        for name, shape, repeats, _ in ALIGNED:
            version.reject(name, "Repeats has as many numbers as the input axes.", labels("int32", shape), vector("int64", repeats))
        version.reject("repeats-negative", "A number of copies is not negative, as in NumPy.", labels("int32", [2]), vector("int64", [-1]))
        version.reject("repeats-int32", "Repeats are int64, and not int32.", labels("int32", [2]), vector("int32", [2]))
    version = suite.openvino("Tile", 1, evaluate_openvino)
    common(version)
    for name, shape, repeats, why in ALIGNED:
        version.must(name, why, labels("int32", shape), vector("int64", repeats))
    negative = "It is not said what a negative number of copies is; it is an error, and OpenVINO's CPU plugin takes it for 0."
    version.refusal("repeats-negative", negative, labels("int32", [2]), vector("int64", [-1]))
    for dtype in ["bool", *OPENVINO_NUMERIC]:
        version.must(f"type-{dtype}", f"T1 may be any type, {dtype} among them, and every bit is kept.", telling(dtype, [9]), vector("int64", [2]))
    for dtype in OPENVINO_BEYOND:
        version.choice(f"type-{dtype}", f"Which types are supported is left to the runtime; {dtype} items are moved like others.",
                       telling(dtype, [9]), vector("int64", [2]))
    for dtype in INTEGERS:
        if dtype != "int64":
            version.must(f"repeats-{dtype}", f"T2 may be any integer type, {dtype} among them.", labels("int32", [2]), vector(dtype, [3]))
    return suite.cases


def common(version):
    for name, shape, repeats, why in LAYOUTS:
        data = labels("int32", shape) if shape else scalar("int32", 5)
        version.must(name, why, data, vector("int64", repeats))
    version.reject("repeats-float", "Repeats are integers.", labels("int32", [2]), vector("float32", [2]))
    version.reject("repeats-of-rank-2", "Repeats have one axis.", labels("int32", [2, 2]), tensor("int64", [1, 2], [2, 1]))
    version.reject("repeats-beyond-counting", "No shape has as many places.", labels("int32", [2, 2]),
                   vector("int64", [1 << 62, 1 << 62]))


# the cases of each operator, by its name
FILES = {"tile": cases}
