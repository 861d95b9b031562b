"""Items of tensors: element types, the bits of floating-point numbers, and arithmetic that rounds once a step.

Nothing here stands on the machine's own floating-point arithmetic. An item is

- of bool, int and uint types: a Python integer;
- of float types: the integer that its bits are;
- of complex types: a pair of such integers, real and imaginary;
- of strings: a Python string.

So an operator that only moves items never looks at one, and no NaN loses its payload on the way. A sum or a product is
worked out exactly, as a fraction, and then rounded to nearest, ties to even, in the item's own type.
"""
from fractions import Fraction


class Refused(Exception):
    """What an operator must not accept, and why."""


class DType:
    """An element type: its name in tensor JSON, its kind and its size."""

    def __init__(self, name, kind, bits, fraction=0):
        self.name, self.kind, self.bits, self.fraction = name, kind, bits, fraction
        self.bytes = max(1, bits // 8)
        if fraction:
            width = bits - 1 - fraction                  # of the exponent
            self.sign_bit = 1 << (bits - 1)
            self.infinity = ((1 << width) - 1) << fraction
            self.quiet_nan = self.infinity | 1 << (fraction - 1)
            self.least = 2 - (1 << (width - 1))          # the exponent of the smallest normal number

    def __repr__(self):
        return self.name


def _dtypes():
    yield DType("bool", "bool", 8)
    for bits in (2, 4, 8, 16, 32, 64):
        yield DType(f"int{bits}", "int", bits)
        yield DType(f"uint{bits}", "uint", bits)
    for name, bits, fraction in (("float16", 16, 10), ("bfloat16", 16, 7), ("float32", 32, 23), ("float64", 64, 52)):
        yield DType(name, "float", bits, fraction)
    yield DType("complex64", "complex", 64)
    yield DType("complex128", "complex", 128)
    # these are only ever moved, so nothing needs to be known of their bits
    for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"):
        yield DType(name, "narrow float", 8)
    yield DType("float4_e2m1fn", "narrow float", 4)
    yield DType("string", "string", 0)


DTYPES = {dtype.name: dtype for dtype in _dtypes()}
PART = {"complex64": DTYPES["float32"], "complex128": DTYPES["float64"]}


def limits(dtype):
    """The least and the greatest item of an integer type."""
    if dtype.kind == "int":
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


def wrapped(dtype, number):
    """An integer as the type holds it: modulo 2 to the power of its bits."""
    number %= 1 << dtype.bits
    return number - (1 << dtype.bits) if dtype.kind == "int" and number >> (dtype.bits - 1) else number


# -------------------------------------------------------------------------------------------- floating-point numbers

def is_nan(dtype, bits):
    return bits & ~dtype.sign_bit > dtype.infinity


def is_infinite(dtype, bits):
    return bits & ~dtype.sign_bit == dtype.infinity


def is_negative(dtype, bits):
    return bits & dtype.sign_bit != 0


def value(dtype, bits):
    """The number that the bits of a finite item stand for; both zeros are 0."""
    count = bits & ((1 << dtype.fraction) - 1)
    exponent = (bits & dtype.infinity) >> dtype.fraction
    if exponent:
        count |= 1 << dtype.fraction
    number = count * Fraction(2) ** (dtype.least - dtype.fraction + max(exponent, 1) - 1)
    return -number if is_negative(dtype, bits) else number


def rounded(dtype, number, negative_zero=False):
    """The bits of the item nearest to a number, the even one of two; above the greatest it is infinity."""
    if number == 0:
        return dtype.sign_bit if negative_zero else 0
    sign = dtype.sign_bit if number < 0 else 0
    number = abs(number)
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    if Fraction(2) ** exponent > number:
        exponent -= 1
    exponent = max(exponent, dtype.least)
    unit = Fraction(2) ** (exponent - dtype.fraction)
    count, rest = divmod(number, unit)
    if 2 * rest > unit or (2 * rest == unit and count % 2 == 1):
        count += 1
    # the leading 1 of a normal number's count raises the exponent field by one, which a subnormal's lacks
    bits = ((exponent - dtype.least) << dtype.fraction) + count
    return sign | min(bits, dtype.infinity)


def _float_add(dtype, a, b):
    if is_nan(dtype, a) or is_nan(dtype, b):
        return dtype.quiet_nan
    if is_infinite(dtype, a):
        return dtype.quiet_nan if is_infinite(dtype, b) and a != b else a
    if is_infinite(dtype, b):
        return b
    both_negative = is_negative(dtype, a) and is_negative(dtype, b)
    return rounded(dtype, value(dtype, a) + value(dtype, b), negative_zero=both_negative)


def _float_mul(dtype, a, b):
    if is_nan(dtype, a) or is_nan(dtype, b):
        return dtype.quiet_nan
    negative = is_negative(dtype, a) != is_negative(dtype, b)
    zero = [not bits & ~dtype.sign_bit for bits in (a, b)]
    if is_infinite(dtype, a) or is_infinite(dtype, b):
        return dtype.quiet_nan if any(zero) else dtype.infinity | (dtype.sign_bit if negative else 0)
    number = value(dtype, a) * value(dtype, b)
    bits = rounded(dtype, number, negative_zero=negative)
    return bits | dtype.sign_bit if negative else bits      # a product too small to hold is a zero that keeps its sign


def _negated(dtype, bits):
    return bits if is_nan(dtype, bits) else bits ^ dtype.sign_bit


def _float_greater(dtype, a, b):
    """Whether a > b, of items that are no NaN."""
    def key(bits):
        if is_infinite(dtype, bits):
            return (-1 if is_negative(dtype, bits) else 1, 0)
        return (0, value(dtype, bits))
    return key(a) > key(b)


def float_mean(dtype, total, count):
    """A sum in the item's own type, divided once."""
    if is_nan(dtype, total) or is_infinite(dtype, total):
        return total
    return rounded(dtype, value(dtype, total) / count, negative_zero=is_negative(dtype, total))


# ------------------------------------------------------------------------------------------------------- reductions

def reduce(name, dtype, old, new):
    """One step of a reduction: what an item becomes when another is put to it."""
    if name == "none":
        return new
    if dtype.kind in ("string", "narrow float") or dtype.bits < 8:
        raise Refused(f"reduction {name} of {dtype} items")
    if dtype.kind == "bool":
        return {"add": old | new, "max": old | new, "mul": old & new, "min": old & new, "sub": old ^ new}[name]
    if dtype.kind == "complex":
        return _reduce_complex(name, dtype, old, new)
    if name in ("max", "min"):
        return _extreme(name, dtype, old, new)
    if dtype.kind == "float":
        if name == "mul":
            return _float_mul(dtype, old, new)
        return _float_add(dtype, old, new if name == "add" else _negated(dtype, new))
    return wrapped(dtype, {"add": old + new, "sub": old - new, "mul": old * new}[name])


def _extreme(name, dtype, old, new):
    if dtype.kind == "float":
        if is_nan(dtype, old) or is_nan(dtype, new):
            return dtype.quiet_nan
        new_wins = _float_greater(dtype, new, old) if name == "max" else _float_greater(dtype, old, new)
    else:
        new_wins = new > old if name == "max" else new < old
    return new if new_wins else old


def _reduce_complex(name, dtype, old, new):
    part = PART[dtype.name]
    if name in ("max", "min"):
        raise Refused(f"complex numbers have no order for reduction {name}")
    if name == "add":
        return _float_add(part, old[0], new[0]), _float_add(part, old[1], new[1])
    if name == "sub":
        return _float_add(part, old[0], _negated(part, new[0])), _float_add(part, old[1], _negated(part, new[1]))
    (a, b), (c, d) = old, new

    def product(x, y):
        return _float_mul(part, x, y)
    real = _float_add(part, product(a, c), _negated(part, product(b, d)))
    return real, _float_add(part, product(a, d), product(b, c))


# ----------------------------------------------------------------------------------------------- Python's numbers, JSON

class Bits(int):
    """The bits of a floating-point item, where a number would not say which."""


def item(dtype, number):
    """The item for a number, a word such as "nan", a string, or Bits."""
    if dtype.kind == "string":
        return str(number)
    if dtype.kind == "complex":
        pair = number if isinstance(number, tuple) else (number, 0)
        return tuple(item(PART[dtype.name], one) for one in pair)
    if dtype.kind == "narrow float" or isinstance(number, Bits):
        return int(number)
    if dtype.kind == "float":
        if number == "nan":
            return dtype.quiet_nan
        if number in ("inf", "-inf"):
            return dtype.infinity | (dtype.sign_bit if number == "-inf" else 0)
        negative_zero = number == 0 and str(number).startswith("-")
        return rounded(dtype, Fraction(number), negative_zero)
    least, greatest = limits(dtype) if dtype.kind != "bool" else (0, 1)
    if not least <= number <= greatest:
        raise ValueError(f"{number} is no {dtype}")
    return int(number)


def needs_hex(dtype, items):
    """Whether JSON cannot say the bits of all items: narrow floats, and NaNs that are not the usual one."""
    if dtype.kind == "narrow float":
        return True
    if dtype.kind == "complex":
        return any(needs_hex(PART[dtype.name], pair) for pair in items)
    return dtype.kind == "float" and any(is_nan(dtype, bits) and bits != dtype.quiet_nan for bits in items)


def hexadecimal(dtype, items):
    """The bytes of the items, little-endian, as digits."""
    if dtype.kind == "complex":
        part = PART[dtype.name]
        return "".join(hexadecimal(part, pair) for pair in items)
    return "".join((bits % (1 << 8 * dtype.bytes)).to_bytes(dtype.bytes, "little").hex() for bits in items)


def json_number(dtype, one):
    """An item as tensor JSON has it."""
    if dtype.kind == "bool":
        return bool(one)
    if dtype.kind == "complex":
        return [json_number(PART[dtype.name], part) for part in one]
    if dtype.kind != "float":
        return one
    if is_nan(dtype, one):
        return "NaN"
    if is_infinite(dtype, one):
        return "-Infinity" if is_negative(dtype, one) else "Infinity"
    number = float(value(dtype, one))      # exact: no item here is wider than Python's float
    return -0.0 if number == 0 and is_negative(dtype, one) else number
