#!/usr/bin/env python3
"""Runs tests in OpenVINO's CPU plugin, for `tensorop check TESTS --actual OUTPUTS`.

usage: openvino_adapter.py TESTS OUTPUTS

TESTS is what `tensorop check --export TESTS --layout npy` has written. The outputs of a case of OpenVINO's own operators go to
OUTPUTS/ID/output.npy, or, if there are several, to output_0.npy, output_1.npy and so on. If the plugin refuses it,
OUTPUTS/ID/refused has the message; if it crashes or does not end within 10 seconds, OUTPUTS/ID/crashed says so. If NumPy, the
binding or the plugin has no such type, OUTPUTS/ID/unsupported says so. Each case runs in a process of its own. Needs numpy and
openvino.
"""
import json
import os
import pathlib
import re
import signal
import sys

import numpy as np
import openvino
from openvino.utils.node_factory import NodeFactory

# the operator set that has a version, where it is another number
OPSETS = {("ScatterNDUpdate", 3): 4, ("Squeeze", 0): 1, ("Unsqueeze", 0): 1, ("ShuffleChannels", 1): 3}
# how the binding and the plugin say that they do not have a type
NO_TYPE = re.compile(r"unsupported (data type|.*precision)|does not support string|multi-character string", re.IGNORECASE)
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}


def compute(case, inputs, constant_from):
    """The outputs of a case, whose inputs from that one on are constants."""
    values = [(openvino.Type(array.dtype), openvino.Shape(array.shape), array) for array in inputs]
    parameters = [openvino.op.Parameter(kind, shape) for kind, shape, _ in values[:constant_from]]
    constants = [openvino.op.Constant(kind, shape, array.ravel().tolist()) for kind, shape, array in values[constant_from:]]
    opset = OPSETS.get((case["operator"], case["version"]), case["version"])
    given = [node.output(0) for node in parameters + constants]
    node = NodeFactory(f"opset{opset}").create(case["operator"], given, case["attributes"])
    model = openvino.Model(node.outputs(), parameters)
    return list(openvino.compile_model(model, "CPU", EXACT)(inputs[:constant_from]).values())


def run(case, folder, output):
    """Runs a case, and writes the results."""
    given = [one for one in case["inputs"] if one is not None]
    if narrow := [one["dtype"] for one in given if isinstance(one, dict)]:
        return (output / "unsupported").write_text(f"NumPy has no {narrow[0]}")
    inputs = [np.load(folder / name) for name in given]
    try:
        try:
            made = compute(case, inputs, len(inputs))
        except Exception:
            made = compute(case, inputs, 1)         # some inputs, such as axes, must be constants
    except Exception as error:
        return (output / ("unsupported" if NO_TYPE.search(str(error)) else "refused")).write_text(str(error))
    for n, array in enumerate(made):
        np.save(output / ("output.npy" if len(made) == 1 else f"output_{n}.npy"), array)


def main():
    tests, outputs = map(pathlib.Path, sys.argv[1:])
    for path in sorted(tests.rglob("case.json")):
        case, output = json.loads(path.read_text()), outputs / path.parent.relative_to(tests)
        if case["specification"] != "openvino":
            continue
        output.mkdir(parents=True, exist_ok=True)
        for old in output.iterdir():
            old.unlink()
        if (child := os.fork()) == 0:
            signal.alarm(10)
            try:
                run(case, path.parent, output)
            finally:
                os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != 0:
            (output / "crashed").write_text(signal.Signals(-status).name if status < 0 else f"status {status}")


if __name__ == "__main__":
    main()
