"""Tensors as the program reads them."""

from __future__ import annotations

import dataclasses
import importlib
import io
import json
import math
import os
import struct
import sys
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

# A test shows its own lines, not those of this module.
__tracebackhide__ = __unittest = True

# The kinds of dtypes in .npy, each with the codes of buffers.
_KINDS = {"b": "?", "i": "bhilqn", "u": "BHILQN", "f": "efd"}

# The kinds of numbers, each of which holds those before it.
_NUMBERS = (int, float, complex)


@dataclasses.dataclass(frozen=True)
class Operand:
    """A tensor, or several. `content` is an operand of the program as text, or the bytes of a file."""

    content: str | bytes
    # the dtype of items for which NumPy has no name
    dtype: str | None = None
    # what the bytes are made of, if those are items of Python, which have no dtype
    values: Values | None = None


class Values:
    """Items of Python: a number, a bool or a string, or lists of these."""

    def __init__(self, value: Any, shape: tuple[int, ...], items: list[Any]) -> None:
        self.value, self.shape, self.items = value, shape, items
        kinds = {next(kind for kind in (bool, str, *_NUMBERS) if isinstance(item, kind)) for item in items}
        if len(kinds) > 1 and not kinds <= set(_NUMBERS):
            raise TypeError(f"expected items of one kind, got {' and '.join(sorted(kind.__name__ for kind in kinds))}")
        self.kind: type = max(kinds, key=lambda kind: _NUMBERS.index(kind) if kind in _NUMBERS else 0, default=float)

    def npy(self, kind: type | None = None) -> bytes:
        """The bytes of a .npy file of int64, uint64, float64, complex128, bool or str, or of the items as another kind of number."""
        kind = kind or self.kind
        if kind is int:
            code = "q" if all(-(1 << 63) <= item < 1 << 63 for item in self.items) else "Q"
            try:
                content = struct.pack(f"<{len(self.items)}{code}", *self.items)
            except struct.error:
                raise ValueError("no integer dtype holds all of the integers") from None
            return _npy_file("<i8" if code == "q" else "<u8", self.shape, content)
        if kind is bool:
            return _npy_file("|b1", self.shape, bytes(self.items))
        if kind is str:
            width = max(1, *map(len, self.items))
            texts = (item.ljust(width, "\0").encode("utf-32-le", "surrogatepass") for item in self.items)
            return _npy_file(f"<U{width}", self.shape, b"".join(texts))
        try:
            parts = [part for item in map(complex, self.items) for part in (item.real, item.imag)]
        except OverflowError as error:
            raise ValueError(str(error)) from None
        if kind is float:
            parts = parts[::2]
        return _npy_file("<f8" if kind is float else "<c16", self.shape, struct.pack(f"<{len(parts)}d", *parts))

    def json(self) -> bytes | None:
        """The items as JSON that names no dtype, or None for complex numbers, which JSON has only with a dtype."""

        def plain(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [plain(one) for one in value]
            if isinstance(value, float) and not math.isfinite(value):
                return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            return value

        return None if self.kind is complex else json.dumps({"data": plain(self.value)}).encode()


def typed_together(left: Values, right: Values) -> tuple[bytes, bytes]:
    """The .npy files of values on both sides: numbers of two kinds become those of the wider kind."""
    kinds = [left.kind, right.kind]
    common = max(kinds, key=_NUMBERS.index) if set(kinds) <= set(_NUMBERS) else None
    return left.npy(common), right.npy(common)


def operand(tensor: Any) -> Operand:
    if isinstance(tensor, (str, os.PathLike)):
        return Operand(os.fspath(tensor))
    if isinstance(tensor, bytes):
        return Operand(tensor)
    tensors = by_name(tensor)
    if tensors is None:
        return _of_one(tensor)
    stream, named, names = io.BytesIO(), set(), set()
    with zipfile.ZipFile(stream, "w") as members:
        for name, member in _members(tensors):
            if name in names:
                raise ValueError(f"two tensors of the dictionary are called {name!r}")
            names.add(name)
            one = _of_one(member)
            members.writestr(zipfile.ZipInfo(f"{name}.npy"), one.content)
            named |= {one.dtype} if one.dtype else set()
    if len(named) > 1:
        raise TypeError(f"expected one dtype beyond NumPy's own in a dictionary, got {' and '.join(sorted(named))}")
    return Operand(stream.getvalue(), named.pop() if named else None)


def _members(tensors: Mapping[Any, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The tensors of a dictionary. The names of dictionaries within it stand before those of their tensors."""
    for name, member in tensors.items():
        within = by_name(member)
        if within is None:
            yield f"{before}{name}", member
        else:
            yield from _members(within, f"{before}{name}.")


def by_name(value: Any) -> Mapping[Any, Any] | None:
    """A dictionary, or the names `0`, `1`, … with the members of a list or tuple with arrays that have different shapes."""
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, (list, tuple)) or not _has_arrays(value):
        return None
    numpy = importlib.import_module("numpy")
    try:
        is_one = len({numpy.shape(one) for one in value}) == 1
    except ValueError:
        is_one = False
    return None if is_one else {str(n): one for n, one in enumerate(value)}


def _has_arrays(value: list[Any] | tuple[Any, ...]) -> bool:
    return any(hasattr(one, "__array__") or isinstance(one, (list, tuple)) and _has_arrays(one) for one in value)


def _of_one(tensor: Any) -> Operand:
    has_array = hasattr(tensor, "__array__")
    if not has_array and isinstance(tensor, (bool, list, tuple, *_NUMBERS)):
        values = _values(tensor)
        if values is not None:
            return Operand(values.npy(), values=values)
        has_array = True
    return _of_array(tensor, importlib.import_module("numpy") if has_array else None)


def _of_array(tensor: Any, numpy: Any) -> Operand:
    """A .npy file, and the dtype, if .npy has no name for it (bfloat16 of ml_dtypes and the like)."""
    if numpy and numpy.ma.is_masked(tensor):
        raise TypeError("got a masked array, whose masked items have no value: give them one with filled(), or take compressed()")
    array = numpy.asarray(tensor) if numpy else tensor
    try:
        content = _npy_of_buffer(memoryview(array))
    except (TypeError, ValueError):
        content = None
    if content is not None:
        return Operand(content)
    if numpy is None:
        expected = "a path, bytes, an array, a buffer of numbers, a number, a list or a dictionary"
        raise TypeError(f"expected {expected}, got {type(tensor).__name__}")
    if array.dtype == object and all(isinstance(item, str) for item in array.flat):
        array = array.astype(str)
    stream = io.BytesIO()
    numpy.save(stream, array, allow_pickle=False)
    return Operand(stream.getvalue(), array.dtype.name if array.dtype.isbuiltin == 2 else None)


def _values(value: Any) -> Values | None:
    """A number or lists as values, or None for lists that hold arrays.

    Raises `ValueError` if lists beside one another have unequal lengths.
    """
    shape: list[int] = []
    items, first = [value], value
    while isinstance(first, (list, tuple)):
        size = len(first)
        if not all(isinstance(one, (list, tuple)) and len(one) == size for one in items):
            raise ValueError(f"expected lists of one length at depth {len(shape)}, the first has {size} items")
        shape.append(size)
        items = [item for one in items for item in one]
        first = items[0] if items else None
    for item in items:
        if not isinstance(item, (bool, str, *_NUMBERS)):
            if hasattr(item, "__array__"):
                _refuse_masked(items)
                return None
            if isinstance(item, (list, tuple)):
                raise ValueError(f"expected a number at depth {len(shape)} as in the first place, got a list")
            raise TypeError(f"expected numbers, bools or strings in a list, got {type(item).__name__}")
    return Values(value, tuple(shape), items)


def _refuse_masked(items: list[Any]) -> None:
    numpy = importlib.import_module("numpy")
    for item in items:
        if numpy.ma.is_masked(item):
            raise TypeError("got a list with a masked item, which has no value: give it one with filled()")


def _npy_of_buffer(view: memoryview) -> bytes | None:
    """The bytes that `numpy.save` writes for C order, in a tenth of its time. None if the items are no real numbers."""
    kind = next((kind for kind, codes in _KINDS.items() if view.format.lstrip("@=<>!") in codes), None)
    if kind is None:
        return None
    is_big = view.format[0] in ">!" or sys.byteorder == "big" and view.format[0] != "<"
    order = "|" if view.itemsize == 1 else ">" if is_big else "<"
    return _npy_file(f"{order}{kind}{view.itemsize}", view.shape or (), view if view.c_contiguous else view.tobytes())


def _npy_file(descr: str, shape: tuple[int, ...], items: bytes | memoryview) -> bytes:
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"".join([b"\x93NUMPY\x01\x00", len(head).to_bytes(2, "little"), head.encode(), items])
