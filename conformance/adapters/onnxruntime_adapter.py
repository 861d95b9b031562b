#!/usr/bin/env python3
"""Runs tests in ONNX Runtime, for `tensorop check TESTS --actual OUTPUTS`.

usage: onnxruntime_adapter.py TESTS OUTPUTS
       onnxruntime_adapter.py MODEL INPUTS OUT, for one test: tensorop check --run 'PROGRAM {model} {inputs} {out}'

TESTS is what `tensorop check --export TESTS --layout onnx` has written, or any folder of ONNX backend tests. The outputs of a
data set go to OUTPUTS/ID/output_0.pb and so on. If the runtime refuses it, OUTPUTS/ID/refused has the message; if it crashes or
does not end within 10 seconds, OUTPUTS/ID/crashed says so. If the runtime has no kernel for it, or its Python binding no such
type, OUTPUTS/ID/unsupported has the message. Each test runs in a process of its own. Needs onnx and onnxruntime.
"""
import os
import pathlib
import signal
import sys

import onnx
import onnxruntime
from onnx import numpy_helper
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel

# how the binding and the runtime say that they do not have a type
NO_TYPE = ("can't be converted to MLDataType", "not currently registered or supported", "data type is not supported")


def load(path, info):
    """The input that a file holds."""
    if info.type.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(path.read_bytes()))
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


def run(test, data, output):
    """Runs one data set of a test, and writes the results."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    infos = onnx.load(test / "model.onnx").graph.input
    inputs = {info.name: load(data / f"input_{n}.pb", info) for n, info in enumerate(infos)}
    try:
        session = onnxruntime.InferenceSession(test / "model.onnx", options, providers=["CPUExecutionProvider"])
        made = session.run(None, inputs)
    except Exception as error:
        lacks = isinstance(error, NoKernel) or any(words in str(error) for words in NO_TYPE)
        (output / ("unsupported" if lacks else "refused")).write_text(str(error))
        return
    for n, array in enumerate(made):
        (output / f"output_{n}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def main():
    *given, outputs = map(pathlib.Path, sys.argv[1:])
    if len(given) == 2:
        return run(given[0].parent, given[1], outputs)
    tests, = given
    for data in sorted(tests.rglob("test_data_set_*")):
        output = outputs / data.parent.relative_to(tests) / data.name.removeprefix("test_data_set_")
        output.mkdir(parents=True, exist_ok=True)
        for old in output.iterdir():
            old.unlink()
        if (child := os.fork()) == 0:
            signal.alarm(10)
            try:
                run(data.parent, data, output)
            finally:
                os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != 0:
            (output / "crashed").write_text(signal.Signals(-status).name if status < 0 else f"status {status}")


if __name__ == "__main__":
    main()
