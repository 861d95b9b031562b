"""What the reductions of ScatterND and ScatterElements share: puts to one place, of every element type.

A specification gives a reduction as a loop whose every step stores an item of type T, and leaves the order of the loop
open. So the result of a case is a `must` where the order cannot be seen, as with equal updates, and a `choice` where it can.
"""
from fractions import Fraction

from . import items
from .suite import COMPLEX, FLOATS, INTEGERS

STEP = "Every step of the loop stores an item of type T, so that each sum or product is rounded by itself"
ORDER = "The order of the loop is left open, and this result is that of row-major order."
WRAP = "Nothing is said of integers that do not fit; they wrap, as NumPy's do."


def onnx_reductions(number):
    """What a version of ONNX's operators names its reductions, by the names that they have in the model."""
    names = {16: ["add", "mul"], 18: ["add", "mul", "max", "min"]}.get(number, [])
    return {name: name for name in names}


# the cases of reductions that a version has between two others
BRIEFLY = """*-twice-* *-rounds-each-step-* *-wraps-* *-small-complex* add-nan-* mul-nan-* add-overflows-* *-false-true-*
             *-true-true-* add-rows mul-rows add-axis-1 mul-axis-1 reduction-*"""
OPENVINO = {"add": "sum", "mul": "prod", "max": "max", "min": "min"}


def reductions(put, names, bool_is_said=(), complex_is_a_type=True):
    """Adds the cases of reductions.

    `put(kind, name, why, dtype, data, updates, reduction)` adds one that puts updates to the first place of data. `names`
    are the version's names of reductions, and `bool_is_said` those of which it says what they do to bool.
    """
    def each(kind, name, reduction, why, dtype, data, updates):
        if reduction in names:
            put(kind, f"{names[reduction]}-{name}-{dtype}", why, dtype, data, updates, names[reduction])

    for dtype in INTEGERS:
        of_integers(each, dtype)
    for dtype in FLOATS:
        of_floats(each, dtype)
    for reduction, what in [("add", "or"), ("sub", "exclusive or"), ("mul", "and"), ("max", "or"), ("min", "and")]:
        said = reduction in bool_is_said
        why = f"Of bool items the reduction is a logical {what}." if said else (
            f"Nothing is said of bool items; the reduction is a logical {what}, as in NumPy.")
        for name, old, new in [("false-true", 0, 1), ("true-true", 1, 1), ("true-false", 1, 0)]:
            each("must" if said else "choice", name, reduction, why, "bool", [old, 0], [new])
    for dtype in COMPLEX:
        kind = "must" if complex_is_a_type else "choice"
        of = "" if complex_is_a_type else " Complex types are none of OpenVINO's, and are taken beyond it."
        each(kind, "small", "add", f"Complex numbers are added by parts.{of}", dtype, [(1, 2), (5, 6)], [(10, -20), (0.5, 0)])
        each(kind, "small", "sub", f"Complex numbers are subtracted by parts.{of}", dtype, [(1, 2), (5, 6)], [(10, -20)])
        each(kind, "small", "mul", f"Complex numbers are multiplied as such, not by parts.{of}", dtype, [(1, 2), (5, 6)], [(3, -4)])
        for reduction in ("max", "min"):
            each("refusal", "refused", reduction, "Complex numbers have no order, so that this reduction of them is an error.",
                 dtype, [(1, 2), (5, 6)], [(3, -4)])
    for reduction in ("add", "max"):
        each("refusal", "refused", reduction, "Nothing is said of a reduction of strings; it is an error.", "string",
             ["ab", "cd"], ["ef"])


def of_integers(each, dtype):
    least, greatest = items.limits(items.DTYPES[dtype])
    signed = least < 0
    each("must", "twice", "add", "All updates of a place are added to what is there.", dtype, [5, 50], [7, 9])
    each("must", "twice", "mul", "What is there is multiplied by all updates of its place.", dtype, [2, 50], [3, 7])
    each("must", "twice", "sub", "All updates of a place are subtracted from what is there.", dtype, [100, 50], [7, 9])
    each("must", "of-three", "max", "The greatest of what is there and all updates stays.", dtype, [5, 50], [9, 7])
    each("must", "of-three", "min", "The least of what is there and all updates stays.", dtype, [5, 50], [3, 4])
    if dtype in ("int32", "int64", "uint8"):
        each("must", "old-stays", "max", "What is there takes part, and stays where it is the greatest.", dtype, [60, 50], [9, 7])
        each("must", "old-stays", "min", "What is there takes part, and stays where it is the least.", dtype, [2, 50], [9, 7])
    high = f"The extremes of {dtype} are compared as {'signed' if signed else 'unsigned'} numbers."
    each("must", "extremes", "max", high, dtype, [least, 50], [greatest])
    each("must", "extremes", "min", high, dtype, [greatest, 50], [least])
    each("choice", "wraps", "add", WRAP, dtype, [greatest, 50], [3])
    each("choice", "wraps", "mul", WRAP, dtype, [greatest // 2 + 2, 50], [3])
    each("choice", "wraps", "sub", WRAP, dtype, [least, 50], [3])
    if dtype in ("int64", "uint64"):
        exact = "Integers beyond 2^53 are added and compared exactly; a float64 could not tell them apart."
        each("must", "beyond-2-to-53", "add", exact, dtype, [(1 << 53) + 1, 50], [2])
        each("must", "beyond-2-to-53", "max", exact, dtype, [1 << 53, 50], [(1 << 53) + 1])
        each("must", "beyond-2-to-53", "min", exact, dtype, [(1 << 53) + 1, 50], [1 << 53])
        each("must", "beyond-2-to-53", "mul", exact, dtype, [(1 << 31) + 1, 50], [(1 << 31) - 1])
    if signed:
        each("must", "negative", "max", "Negative numbers are less than 0.", dtype, [-5, 50], [-3])
        each("must", "negative", "min", "Negative numbers are less than 0.", dtype, [3, 50], [-5])
        each("must", "negative", "mul", "Two negative factors give a positive product.", dtype, [-5, 50], [-3])


def of_floats(each, dtype):
    kind = items.DTYPES[dtype]
    top = 1 << (kind.fraction + 1)             # from here on every second integer is left out
    greatest = items.value(kind, kind.infinity - 1)
    tiny = items.Bits(1)
    each("must", "twice", "add", "All updates of a place are added to what is there.", dtype, [0.5, 50], [7, 9])
    each("must", "twice", "mul", "What is there is multiplied by all updates of its place.", dtype, [0.5, 50], [3, 7])
    each("must", "twice", "sub", "All updates of a place are subtracted from what is there.", dtype, [0.5, 50], [7, 9])
    each("must", "of-three", "max", "The greatest of what is there and all updates stays.", dtype, [0.5, 50], [9, 7])
    each("must", "of-three", "min", "The least of what is there and all updates stays.", dtype, [5, 50], [-0.5, 4])
    each("must", "old-stays", "max", "What is there takes part, and stays where it is the greatest.", dtype, [60, 50], [9, 7])
    each("must", "old-stays", "min", "What is there takes part, and stays where it is the least.", dtype, [-2, 50], [9, 7])
    each("must", "infinities", "max", "Infinity is the greatest number.", dtype, ["-inf", 50], [1, "inf"])
    each("must", "infinities", "min", "Negative infinity is the least number.", dtype, ["inf", 50], [1, "-inf"])
    # rounding
    each("must", "rounds-each-step", "add", f"{STEP}: 1 twice is lost beside {top}, where 2 would not be.", dtype, [top, 50], [1, 1])
    each("must", "rounds-each-step", "sub", f"{STEP}: 1 twice is lost beside {-top}, where 2 would not be.", dtype, [-top, 50], [1, 1])
    factor = cube_that_rounds_twice(kind)
    each("must", "rounds-each-step", "mul", f"{STEP}, and the cube of this number differs from that rounded once.",
         dtype, [factor, 50], [factor, factor])
    each("must", "tie-to-even", "add", "A sum halfway between two items is rounded to the even one, here the greater.",
         dtype, [top + 2, 50], [1])
    each("must", "above-a-tie", "add", "A sum above the middle of two items is rounded up.", dtype, [top, 50], [1.5])
    each("must", "overflows", "add", "A sum beyond the greatest item is infinity.", dtype, [greatest, 50], [greatest])
    each("must", "overflows", "mul", "A product beyond the greatest item is infinity.", dtype, [greatest, 50], [-2])
    each("must", "subnormal", "add", "Numbers below the smallest normal one are added, not flushed to 0.", dtype, [tiny, 50], [tiny])
    each("must", "subnormal", "max", "A number below the smallest normal one is greater than 0.", dtype, [0, 50], [tiny])
    each("must", "underflows", "mul", "A product too small for the type is a zero with the sign of the product.", dtype, [tiny, 50], [-0.25])
    each("must", "negative-zero", "mul", "A product of 0 and a negative number is -0.", dtype, [0, 50], [-3])
    each("must", "negative-zeros", "add", "The sum of two -0 is -0, and that of -0 and 0 is 0.", dtype, [-0.0, 50], [-0.0])
    each("must", "cancels-to-zero", "add", "The sum of opposite numbers is +0.", dtype, [3, 50], [-3])
    each("must", "infinity-minus-infinity", "add", "The sum of opposite infinities is no number.", dtype, ["inf", 50], ["-inf"])
    each("must", "infinity-times-zero", "mul", "The product of infinity and 0 is no number.", dtype, ["inf", 50], [0])
    each("must", "nan", "add", "A sum with NaN is NaN.", dtype, [1, 50], ["nan", 2])
    each("must", "nan", "mul", "A product with NaN is NaN.", dtype, ["nan", 50], [2])
    # order
    each("choice", "order-small-first", "add", ORDER, dtype, [0, 50], [1, 1, top])
    each("choice", "order-large-first", "add", ORDER, dtype, [0, 50], [top, 1, 1])
    each("choice", "order-cancelling", "add", ORDER, dtype, [1, 50], [top, -top])
    each("choice", "order-overflow-and-back", "add", ORDER, dtype, [greatest, 50], [greatest, -greatest])
    each("choice", "order-overflow-and-back", "mul", ORDER, dtype, [greatest, 50], [2, 0.5])
    each("choice", "order-underflow-and-back", "mul", ORDER, dtype, [tiny, 50], [0.25, 4])
    each("choice", "order", "sub", ORDER, dtype, [0, 50], [top, 1, 1, -top])
    # NaN and zeros of either sign among max and min
    for reduction in ("max", "min"):
        nan = "Nothing is said of NaN; on either side it gives NaN, as in NumPy. Comparisons in C lose it on one side or the other."
        each("choice", "nan-is-there", reduction, nan, dtype, ["nan", 50], [1])
        each("choice", "nan-is-put", reduction, nan, dtype, [1, 50], ["nan"])
        each("choice", "nan-then-number", reduction, nan, dtype, [1, 50], ["nan", 2])
        zero = "Nothing is said of zeros of both signs, which are equal; what is there stays."
        each("choice", "zero-and-negative-zero", reduction, zero, dtype, [0, 50], [-0.0])
        each("choice", "negative-zero-and-zero", reduction, zero, dtype, [-0.0, 50], [0])


def cube_that_rounds_twice(dtype):
    """The first number above about 4/3 whose cube, rounded after each product, differs from the cube rounded once."""
    unit = Fraction(1, 1 << dtype.fraction)
    number = 1 + (1 << dtype.fraction) // 3 * unit
    while True:
        square = items.value(dtype, items.rounded(dtype, number * number))
        if items.rounded(dtype, square * number) != items.rounded(dtype, number**3):
            return number
        number += unit
