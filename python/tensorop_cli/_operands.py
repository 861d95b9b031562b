"""Tensors as the program reads them."""

from __future__ import annotations

import importlib
import io
import os
import sys
import zipfile
from collections.abc import Mapping
from typing import Any

# The kinds of dtypes in .npy, each with the codes of buffers.
_KINDS = {"b": "?", "i": "bhilqn", "u": "BHILQN", "f": "efd"}


def operand(tensor: Any) -> tuple[str | bytes, str | None]:
    """An operand of the program, or the bytes of a file; and the dtype of items for which NumPy has no name."""
    if isinstance(tensor, (str, os.PathLike)):
        return os.fspath(tensor), None
    if isinstance(tensor, bytes):
        return tensor, None
    if not isinstance(tensor, Mapping):
        return _npy(tensor)
    stream, named = io.BytesIO(), set()
    with zipfile.ZipFile(stream, "w") as members:
        for name, member in tensor.items():
            content, dtype = _npy(member)
            members.writestr(zipfile.ZipInfo(f"{name}.npy"), content)
            named |= {dtype} if dtype else set()
    if len(named) > 1:
        raise TypeError(f"expected one dtype beyond NumPy's own in a dictionary, got {' and '.join(sorted(named))}")
    return stream.getvalue(), named.pop() if named else None


def _npy(tensor: Any) -> tuple[bytes, str | None]:
    """The bytes of a .npy file, and the dtype, if .npy has no name for it (bfloat16 of ml_dtypes and the like)."""
    numpy = importlib.import_module("numpy") if hasattr(tensor, "__array__") else None
    array = numpy.asarray(tensor) if numpy else tensor
    try:
        content = _npy_of_buffer(memoryview(array))
    except (TypeError, ValueError):
        content = None
    if content is not None:
        return content, None
    if numpy is None:
        raise TypeError(f"expected a path, bytes, an array, a buffer of numbers or a dictionary, got {type(tensor).__name__}")
    if array.dtype == object and all(isinstance(item, str) for item in array.flat):
        array = array.astype(str)
    stream = io.BytesIO()
    numpy.save(stream, array, allow_pickle=False)
    return stream.getvalue(), array.dtype.name if array.dtype.isbuiltin == 2 else None


def _npy_of_buffer(view: memoryview) -> bytes | None:
    """The bytes that `numpy.save` writes for C order, in a tenth of its time. None if the items are no real numbers."""
    kind = next((kind for kind, codes in _KINDS.items() if view.format.lstrip("@=<>!") in codes), None)
    if kind is None:
        return None
    is_big = view.format[0] in ">!" or sys.byteorder == "big" and view.format[0] != "<"
    order = "|" if view.itemsize == 1 else ">" if is_big else "<"
    head = f"{{'descr': '{order}{kind}{view.itemsize}', 'fortran_order': False, 'shape': {view.shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    start = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()
    return b"".join([start, view if view.c_contiguous else view.tobytes()])
