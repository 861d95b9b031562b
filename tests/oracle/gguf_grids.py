"""Writes crates/files/src/formats/gguf/grids.bin: the grids of the IQ types of GGUF, from the package gguf.

    python tests/oracle/gguf_grids.py > crates/files/src/formats/gguf/grids.bin

Needs gguf 0.19.0 (MIT licence).  An entry of a grid is 8 codes of 2 bits or 4 codes of 4 bits, the first in the low bits,
in two bytes, little-endian.
"""

import sys

import gguf.quants as quants


def main():
    for name in ["IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ1_S", "IQ3_XXS", "IQ3_S"]:
        of = getattr(quants, name)
        of.init_grid()
        codes = {value: code for code, value in enumerate(of.grid_map)}
        items = of.grid_shape[1]
        for row in of.grid.reshape(of.grid_shape):
            entry = sum(codes[int(value)] << 16 // items * n for n, value in enumerate(row))
            sys.stdout.buffer.write(entry.to_bytes(2, "little"))


if __name__ == "__main__":
    main()
