#!/usr/bin/env python3
"""How long golden checks in pytest take, against numpy.load with numpy.testing.assert_allclose.

usage: golden.py PROGRAM [--checks N] [--runs N]

A suite has N tests (by default 500), each of a float32 tensor of 1 MiB. The bytes of `equal` are those of the golden file, which
needs no process; the items of `near` differ in a bit or two, so that each check starts PROGRAM. Suites take turns, and the
table has the fastest run of each, less the time of the same tests without a check. Needs pytest and NumPy.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

TEST = """
import numpy as np
import pytest

ITEMS = np.random.default_rng(1).standard_normal((512, 512)).astype("f4")

@pytest.mark.parametrize("number", range({checks}))
def test_it(golden, number):
    actual = np.roll(ITEMS, number) * np.float32({factor})
    {check}
"""

CHECKS = {
    "nothing": "pass",
    "numpy": "np.testing.assert_allclose(actual, np.load(golden.path()), rtol=1e-5)",
    "tensorop": "golden.check(actual, rtol=1e-5)",
}


def seconds(folder, *args):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tensorop_cli.pytest_plugin"]
    start = time.perf_counter()
    subprocess.run([*command, *args, folder / "test_checks.py"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--checks", type=int, default=500)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    os.environ["TENSOROP"] = str(options.program.resolve())
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, factor in (("equal", 1), ("near", 1.0000002)):
            test = TEST.replace("{checks}", str(options.checks))
            (folder / "test_checks.py").write_text(test.format(factor=1, check=CHECKS["tensorop"]))
            seconds(folder, "--golden-update")
            best = dict.fromkeys(CHECKS, float("inf"))
            for _ in range(options.runs):
                for kind, check in CHECKS.items():
                    (folder / "test_checks.py").write_text(test.format(factor=factor, check=check))
                    best[kind] = min(best[kind], seconds(folder))
            numpy, tensorop = best["numpy"] - best["nothing"], best["tensorop"] - best["nothing"]
            print(f"{name}: numpy {numpy:.2f} s, tensorop {tensorop:.2f} s, {tensorop / numpy:.2f} times as long;", end=" ")
            print(f"whole suites {best['tensorop'] / best['numpy']:.2f} times as long", flush=True)


if __name__ == "__main__":
    main()
