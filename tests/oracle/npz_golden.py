#!/usr/bin/env python3
"""Writes crates/files/tests/golden/npz: the same arrays as np.savez and np.savez_compressed write them, and to a pipe.

usage: npz_golden.py [FOLDER]
"""
import io
import pathlib
import sys

import numpy as np

ARRAYS = {
    "matrix": np.arange(12, dtype="<f4").reshape(3, 4) / 8,
    "fortran": np.asfortranarray(np.arange(20, dtype="<i2").reshape(4, 5)),
    "none": np.zeros((0, 3)),
    "one": np.array(1.5 - 2j),
    "größe/x": (np.arange(2000) % 7).astype("u1"),
}


class Pipe(io.BytesIO):
    """Written from front to back, so that sizes and checksums come behind the members."""

    def seekable(self):
        return False

    def seek(self, *_):
        raise io.UnsupportedOperation("seek")

    def tell(self):
        raise io.UnsupportedOperation("tell")


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "crates/files/tests/golden/npz")
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "stored.npz", **ARRAYS)
    np.savez_compressed(folder / "deflated.npz", **ARRAYS)
    pipe = Pipe()
    np.savez_compressed(pipe, **ARRAYS)
    (folder / "streamed.npz").write_bytes(pipe.getvalue())

main()
