#!/usr/bin/env python3
"""Runs tests in OpenVINO's CPU plugin, for `tensorop check TESTS --actual OUTPUTS`.

usage: openvino_adapter.py TESTS OUTPUTS

TESTS is what `tensorop check --export TESTS --layout npy` has written. What the plugin makes of a case of OpenVINO's own
operators goes to OUTPUTS/ID/output.npy; where it refuses, or NumPy has no such type, there is none. Each case runs in a
process of its own, since a plugin may be ended by a signal. Needs numpy and openvino.
"""
import json
import os
import pathlib
import sys

import numpy as np
import openvino
from openvino import opset1, opset3, opset4, opset8, opset12, opset15

# by name and version; inputs are those of the specification, attributes go by their names
OPERATORS = {
    ("Slice", 8): opset8.slice, ("SliceScatter", 15): opset15.slice_scatter, ("ScatterUpdate", 3): opset3.scatter_update,
    ("ScatterNDUpdate", 3): opset4.scatter_nd_update, ("ScatterNDUpdate", 15): opset15.scatter_nd_update,
    ("GatherND", 8): opset8.gather_nd, ("Gather", 1): opset1.gather, ("Gather", 7): openvino.opset7.gather,
    ("Gather", 8): opset8.gather, ("GatherElements", 6): openvino.opset6.gather_elements,
    ("ScatterElementsUpdate", 3): opset3.scatter_elements_update,
    ("ScatterElementsUpdate", 12): opset12.scatter_elements_update, ("Concat", 1): opset1.concat,
    ("Transpose", 1): opset1.transpose, ("Reshape", 1): opset1.reshape, ("Squeeze", 0): opset1.squeeze,
    ("Unsqueeze", 0): opset1.unsqueeze,
}


def run(case, folder, output):
    """Runs a case, and writes what comes out."""
    inputs = [np.load(folder / name) for name in case["inputs"] if name is not None]
    parameters = [opset1.parameter(array.shape, openvino.Type(array.dtype)) for array in inputs]
    make = OPERATORS[case["operator"], case["version"]]
    given = [parameters] if case["operator"] == "Concat" else parameters
    model = openvino.Model([make(*given, **case["attributes"])], parameters)
    made = openvino.compile_model(model, "CPU")(inputs)[0]
    output.mkdir(parents=True, exist_ok=True)
    np.save(output / "output.npy", made)


def main():
    tests, outputs = map(pathlib.Path, sys.argv[1:])
    for path in sorted(tests.rglob("case.json")):
        case = json.loads(path.read_text())
        child = os.fork()
        if child == 0:
            try:
                run(case, path.parent, outputs / path.parent.relative_to(tests))
            except BaseException:
                pass
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
