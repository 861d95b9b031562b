"""Compares random blocks of each type of GGUF with the package gguf, bit for bit (a NaN with any other).

    python tests/oracle/gguf_blocks.py PROGRAM [BLOCKS [SEED]]

Half of the files have scales that may be infinite and NaN.  Needs what gguf_golden.py needs.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

GOLDEN = pathlib.Path(__file__).with_name("gguf_golden.py")


def differ(expected, actual):
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return True
    nan = expected != expected
    return not np.array_equal(nan, actual != actual) or expected[~nan].tobytes() != actual[~nan].tobytes()


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    blocks, seed = (sys.argv[2:] + ["1000", "1"][len(sys.argv) - 2 :])[:2]
    failed = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for scales in ([], ["--any"]):
            subprocess.run([sys.executable, GOLDEN, blocks, seed, *scales, "-o", folder], check=True)
            for name in ("types", "quantized", "big"):
                out = folder / "out.npz"
                out.unlink(missing_ok=True)
                subprocess.run([program, "convert", folder / f"{name}.gguf", "-o", out, "-q"], check=True)
                with np.load(folder / f"{name}.npz") as expected, np.load(out) as actual:
                    assert sorted(expected) == sorted(actual), name
                    for member in expected:
                        compared += 1
                        if differ(expected[member], actual[member].astype(actual[member].dtype.newbyteorder("<"))):
                            failed += 1
                            print(f"{name} {' '.join(scales)}: {member} differs")
    print(f"{compared} tensors compared, {failed} differ")
    sys.exit(failed > 0)


main()
