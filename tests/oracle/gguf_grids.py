"""Writes src/formats/gguf/grids.rs: the grids of the IQ types of GGUF, from the package gguf.

    python tests/oracle/gguf_grids.py > crates/files/src/formats/gguf/grids.rs

Needs gguf 0.19.0 (MIT licence).  An entry of a grid is 8 codes of 2 bits or 4 codes of 4 bits, the first in the low bits.
"""

import gguf.quants as quants

HEAD = '''//! The grids of the IQ types: an entry has the codes of 8 items, or 4 for the IQ3 types, the first in the low bits.
//!
//! `tests/oracle/gguf_grids.py` makes this file of the Python package gguf 0.19.0, part of llama.cpp (MIT licence,
//! Copyright (c) 2023-2026 The ggml authors).
'''


def main():
    print(HEAD, end="")
    for name in ["IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ1_S", "IQ3_XXS", "IQ3_S"]:
        of = getattr(quants, name)
        of.init_grid()
        codes = {value: code for code, value in enumerate(of.grid_map)}
        items = of.grid_shape[1]
        entries = []
        for row in of.grid.reshape(of.grid_shape):
            entries.append(sum(codes[int(value)] << 16 // items * n for n, value in enumerate(row)))
        print(f"\npub(super) const {name}: [u16; {len(entries)}] = [")
        for at in range(0, len(entries), 14):
            print("    " + ", ".join(f"0x{entry:04x}" for entry in entries[at : at + 14]) + ",")
        print("];")


if __name__ == "__main__":
    main()
