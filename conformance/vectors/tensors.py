"""Tensors as flat lists in row-major order, and the loops over their places."""
from . import items


class Tensor:
    """An element type, a shape, and the items in row-major order."""

    def __init__(self, dtype, shape, flat):
        self.dtype, self.shape, self.items = dtype, list(shape), list(flat)
        assert len(self.items) == volume(shape), (dtype, shape, len(self.items))
        self.made_by = None       # "labels" or "telling", if the items are what these make

    @property
    def rank(self):
        return len(self.shape)

    def __getitem__(self, place):
        return self.items[offset(self.shape, place)]

    def __setitem__(self, place, one):
        self.items[offset(self.shape, place)] = one

    def copy(self):
        return Tensor(self.dtype, self.shape, self.items)

    def width(self):
        """The number of characters of its longest string; 1 if there is none."""
        return max([1, *(len(one) for one in self.items if self.dtype.kind == "string")])

    def json(self, width):
        """The tensor as a case has it; `width` is how many characters its strings may have."""
        name = f"<U{width}" if self.dtype.kind == "string" else self.dtype.name
        head = {"dtype": name, "shape": self.shape}
        if items.needs_hex(self.dtype, self.items):
            return {**head, "hex": items.hexadecimal(self.dtype, self.items)}
        return {**head, "data": [items.json_number(self.dtype, one) for one in self.items]}


def volume(shape):
    """The number of places of a shape."""
    product = 1
    for dim in shape:
        product *= dim
    return product


def offset(shape, place):
    """Where a place lies in row-major order."""
    at = 0
    for dim, index in zip(shape, place, strict=True):
        assert 0 <= index < dim
        at = at * dim + index
    return at


def places(shape):
    """All places of a shape in row-major order."""
    if not shape:
        yield ()
        return
    for index in range(shape[0]):
        for rest in places(shape[1:]):
            yield (index, *rest)


def filled(dtype, shape, function):
    """A tensor whose item at each place is that of a function."""
    return Tensor(dtype, shape, [function(place) for place in places(shape)])


# ------------------------------------------------------------------------------------------------- making operands

def tensor(dtype, shape, numbers):
    """A tensor of numbers that are written in Python."""
    dtype = items.DTYPES[dtype]
    return Tensor(dtype, shape, [items.item(dtype, number) for number in numbers])


def vector(dtype, numbers):
    """A tensor of one axis."""
    return tensor(dtype, [len(numbers)], numbers)


def scalar(dtype, number):
    """A tensor without axes."""
    return tensor(dtype, [], [number])


def labels(dtype, shape, first=1):
    """A tensor whose items only have to be told apart: 1, 2, 3, … as far as the type goes."""
    kind, count = items.DTYPES[dtype].kind, volume(shape)
    numbers = range(first, first + count)
    if dtype in ("int2", "uint2", "int4", "uint4"):
        least, greatest = items.limits(items.DTYPES[dtype])
        numbers = [least + n * (n + 1) // 2 % (greatest - least + 1) for n in numbers]
    elif kind == "bool":
        numbers = [n * n % 11 % 3 % 2 for n in numbers]
    elif kind == "complex":
        numbers = [(n, -n - 0.5) for n in numbers]
    elif kind == "string":
        numbers = [f"{n:02}" for n in numbers]
    elif kind == "narrow float":
        numbers = [n % (1 << items.DTYPES[dtype].bits) for n in numbers]
    made = tensor(dtype, shape, numbers)
    made.made_by = "labels"
    return made


def telling(dtype, shape, first=1):
    """Labels, the first of which are replaced by the items of the type that are lost most easily on a way through another.

    These are the least and greatest integers, neighbours beyond 2^53, infinities, both zeros, subnormal numbers, and NaNs
    with a payload, quiet and signalling, of either sign.
    """
    made = labels(dtype, shape, first)
    kind = items.DTYPES[dtype].kind
    special = []
    if kind in ("int", "uint") and made.dtype.bits >= 8:
        least, greatest = items.limits(made.dtype)
        special = [least, greatest, greatest - 1, greatest // 2 + 1]
    elif kind == "float":
        special = special_floats(made.dtype)
    elif kind == "complex":
        part = special_floats(items.PART[dtype])
        special = [(part[0], part[1]), (part[2], part[3]), (part[4], part[5]), (part[6], part[7])]
    elif kind == "narrow float":
        top = 1 << (made.dtype.bits - 1)
        special = [top, top - 1, 2 * top - 1, 0]
    elif kind == "string":
        special = ["", "\u00e9\u4e16", "a b", "\U0001d54a"]
    for at, one in enumerate(special[: len(made.items)]):
        made.items[at] = items.item(made.dtype, one)
    made.made_by = "telling"
    return made


def special_floats(dtype):
    """Items of a floating-point type that arithmetic, or a way through another type, would change."""
    payload = dtype.quiet_nan | 5
    signalling = dtype.infinity | 1
    bits = [dtype.sign_bit, payload, 1, dtype.sign_bit | signalling, dtype.infinity, dtype.infinity - 1,
            dtype.sign_bit | dtype.infinity, dtype.quiet_nan | dtype.sign_bit]
    return [items.Bits(one) for one in bits]
