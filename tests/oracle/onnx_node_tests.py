#!/usr/bin/env python3
"""Runs `tensorop check` on the node tests of the package onnx, which it writes as files: the package itself no longer has them.

usage: onnx_node_tests.py BINARY [FOLDER]

FOLDER gets the tests, and keeps them; else they go to a temporary one. Every test of one node whose operator is among
those below and whose outputs are tensors must pass. Exit status 0 only if so. Needs numpy, ml_dtypes and onnx.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

from onnx import TensorProto, numpy_helper
from onnx.backend.test.case import node

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "conformance"
# those that have conformance vectors
OPERATORS = {case["operator"] for path in sorted(VECTORS.glob("*.json")) for case in json.loads(path.read_text())
             if case["specification"] == "onnx"}


def message(value, info):
    """An input or output of a test as the message that its file holds."""
    if isinstance(value, TensorProto):
        return value
    kinds = {"sequence_type": numpy_helper.from_list, "optional_type": numpy_helper.from_optional,
             "map_type": numpy_helper.from_dict}
    of = next((make for kind, make in kinds.items() if info.type.HasField(kind)), numpy_helper.from_array)
    return of(value, info.name)


def write(folder):
    """Writes all node tests; returns the names of those that must pass."""
    needed = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = node.collect_testcases()
    for case in cases:
        graph = case.model.graph
        gives_tensors = all(value.type.HasField("tensor_type") for value in graph.output)
        if len(graph.node) == 1 and graph.node[0].op_type in OPERATORS and not graph.node[0].domain and gives_tensors:
            needed.add(case.name)
        (folder / case.name).mkdir(parents=True)
        (folder / case.name / "model.onnx").write_bytes(case.model.SerializeToString())
        for at, sides in enumerate(case.data_sets or []):
            data = folder / case.name / f"test_data_set_{at}"
            data.mkdir()
            for kind, values, infos in zip(("input", "output"), sides, (graph.input, graph.output)):
                for n, (value, info) in enumerate(zip(values, infos)):
                    if value is not None:
                        (data / f"{kind}_{n}.pb").write_bytes(message(value, info).SerializeToString())
    return needed


def main():
    binary = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else temporary)
        needed = write(folder)
        done = subprocess.run([binary, "check", folder, "--json"], capture_output=True)
    tests = json.loads(done.stdout)["tests"]
    verdicts = {}
    for test in tests:
        verdicts.setdefault(test["id"].split("/")[0], []).append(test)
    wrong = [test for name in needed for test in verdicts.get(name, [{"id": name, "verdict": "not found"}])
             if test["verdict"] != "passed"]
    wrong += [test for test in tests if test["verdict"] in ("failed", "broken")]
    for test in wrong:
        print(test["id"], test["verdict"], test.get("reason"))
    print(f"{len(tests)} tests, {len(needed)} of operators that tensorop has, {len(wrong)} wrong")
    sys.exit(1 if wrong or not needed else 0)


if __name__ == "__main__":
    main()
