#!/usr/bin/env python3
"""Runs tests in OpenVINO's CPU plugin, for `tensorop check TESTS --actual OUTPUTS`.

usage: openvino_adapter.py TESTS OUTPUTS

TESTS is what `tensorop check --export TESTS --layout npy` has written. What the plugin makes of a case of OpenVINO's own
operators goes to OUTPUTS/ID/output.npy, and of one with several outputs to output_0.npy, output_1.npy and so on; where it
refuses, or NumPy has no such type, there is none. Each case runs in a process of its own, since a plugin may be ended by a
signal. Needs numpy and openvino.
"""
import json
import os
import pathlib
import sys

import numpy as np
import openvino
from openvino import opset1
from openvino.utils.node_factory import NodeFactory

# the operator set that has a version, where it is another number
OPSETS = {("ScatterNDUpdate", 3): 4, ("Squeeze", 0): 1, ("Unsqueeze", 0): 1, ("ShuffleChannels", 1): 3}


def run(case, folder, output):
    """Runs a case, and writes what comes out."""
    inputs = [np.load(folder / name) for name in case["inputs"] if name is not None]
    parameters = [opset1.parameter(array.shape, openvino.Type(array.dtype)) for array in inputs]
    opset = OPSETS.get((case["operator"], case["version"]), case["version"])
    given = [parameter.output(0) for parameter in parameters]
    node = NodeFactory(f"opset{opset}").create(case["operator"], given, case["attributes"])
    made = openvino.compile_model(openvino.Model(node.outputs(), parameters), "CPU")(inputs)
    output.mkdir(parents=True, exist_ok=True)
    for n in range(len(made)):
        np.save(output / ("output.npy" if len(made) == 1 else f"output_{n}.npy"), made[n])


def main():
    tests, outputs = map(pathlib.Path, sys.argv[1:])
    for path in sorted(tests.rglob("case.json")):
        case = json.loads(path.read_text())
        if case["specification"] != "openvino":
            continue
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
