#!/usr/bin/env python3
"""Runs tests in ONNX Runtime, for `tensorop check TESTS --actual OUTPUTS`.

usage: onnxruntime_adapter.py TESTS OUTPUTS

TESTS is what `tensorop check --export TESTS --layout onnx` has written, or any folder of ONNX backend tests. What the
runtime makes of a data set goes to OUTPUTS/ID/output_0.pb; where it refuses, or its Python binding has no such type
(bfloat16 and types of fewer than 8 bits), there is none. Each test runs in a process of its own, since a runtime may be
ended by a signal. Needs onnx and onnxruntime.
"""
import os
import pathlib
import sys

import onnx
import onnxruntime
from onnx import numpy_helper


def load(path, info):
    """The input that a file holds."""
    if info.type.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(path.read_bytes()))
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


def run(test, data, output):
    """Runs one data set of a test, and writes what comes out."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(test / "model.onnx", options, providers=["CPUExecutionProvider"])
    infos = onnx.load(test / "model.onnx").graph.input
    inputs = {info.name: load(data / f"input_{n}.pb", info) for n, info in enumerate(infos)}
    made = session.run(None, inputs)
    output.mkdir(parents=True, exist_ok=True)
    for n, array in enumerate(made):
        (output / f"output_{n}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def main():
    tests, outputs = map(pathlib.Path, sys.argv[1:])
    for model in sorted(tests.rglob("model.onnx")):
        for data in sorted(model.parent.glob("test_data_set_*")):
            output = outputs / model.parent.relative_to(tests) / data.name.removeprefix("test_data_set_")
            child = os.fork()
            if child == 0:
                try:
                    run(model.parent, data, output)
                except Exception:
                    pass
                os._exit(0)
            os.waitpid(child, 0)


if __name__ == "__main__":
    main()
