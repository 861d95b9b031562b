#!/usr/bin/env python3
"""Compares the types and attributes that `tensorop check` takes of ONNX's operators with those that the package onnx lists.

usage: onnx_types.py PROGRAM

For each operator of the vectors, each of its versions (by its first and its last opset) and each input, a case is made of a
vector with every type of tensors that ONNX has, and with a sequence: `check` has to refuse exactly what the schema does not list.
Inputs of one type variable change together; where they do not, the case has to be refused, too. An attribute of another version
has to be refused, and one of no version is broken. Prints the counts. Needs onnx.
"""
import collections
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
# the newest opset that the program knows
NEWEST = int(re.search(r"opset ai.onnx (\d+)", (ROOT / "crates/kernels/src/ops/call/nodes/operators.txt").read_text())[1])
# the types as the program names them, and as the schemas do; the bytes of an item
TYPES = {"bool": ("bool", 1), "int8": ("int8", 1), "int16": ("int16", 2), "int32": ("int32", 4), "int64": ("int64", 8),
         "uint8": ("uint8", 1), "uint16": ("uint16", 2), "uint32": ("uint32", 4), "uint64": ("uint64", 8), "float16": ("float16", 2),
         "bfloat16": ("bfloat16", 2), "float32": ("float", 4), "float64": ("double", 8), "complex64": ("complex64", 8),
         "complex128": ("complex128", 16), "string": ("string", 0), "int4": ("int4", 1), "uint4": ("uint4", 1), "int2": ("int2", 1),
         "uint2": ("uint2", 1), "float4_e2m1fn": ("float4e2m1", 1), "float8_e4m3fn": ("float8e4m3fn", 1),
         "float8_e4m3fnuz": ("float8e4m3fnuz", 1), "float8_e5m2": ("float8e5m2", 1), "float8_e5m2fnuz": ("float8e5m2fnuz", 1),
         "float8_e8m0fnu": ("float8e8m0", 1)}
VALUES = {"INT": 1, "INTS": [0], "STRING": "none", "FLOAT": 0.5}


def schemas():
    """The schemas of each operator, by version."""
    found = collections.defaultdict(dict)
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.domain:
            found[schema.name][schema.since_version] = schema
    return found


def bases():
    """The must-vectors of each operator and version, the shortest first."""
    found = collections.defaultdict(list)
    for path in sorted((ROOT / "conformance").glob("*.json")):
        for case in json.loads(path.read_text()):
            if case["specification"] == "onnx" and case["class"] == "must" and "reduction" not in case["attributes"]:
                found[case["operator"], case["version"]].append(case)
    return {key: sorted(cases, key=lambda case: len(json.dumps(case))) for key, cases in found.items()}


def retyped(given, dtype):
    """An input of another type: its own numbers where the type is of integers, else items of zeros."""
    if "sequence" in given:
        return {"sequence": [retyped(one, dtype) for one in given["sequence"]]}
    if dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64") and given["dtype"].startswith(("int", "uint")):
        if "data" in given and all(isinstance(one, int) and (dtype[0] == "i" or one >= 0) and abs(one) < 128 for one in given["data"]):
            return {**given, "dtype": dtype}
    count = 1
    for dim in given["shape"]:
        count *= dim
    if dtype == "string":
        return {"dtype": "<U1", "shape": given["shape"], "data": [""] * count}
    return {"dtype": dtype, "shape": given["shape"], "hex": "00" * (TYPES[dtype][1] * count)}


def refusal(case, **others):
    """A case that is to be refused, made of one that is not."""
    case = {key: value for key, value in copy.deepcopy(case).items() if key not in ("output", "outputs", "why")}
    count = len(others.pop("outputs", [None]))
    return {**case, "error": "refused", "class": "reject", **({"output_count": count} if count != 1 else {}), **others}


def is_listed(schema, n, name, is_sequence):
    listed = schema.inputs[min(n, len(schema.inputs) - 1)].types
    name = f"tensor({TYPES[name][0]})"
    return (f"seq({name})" if is_sequence else name) in listed


def cases(schema, opset, case):
    """Cases made of one vector: what is wanted of each, `refused` or `taken`, and the case."""
    outputs = case.get("outputs", [None])
    given = [n for n, one in enumerate(case["inputs"]) if one is not None]
    variable = {n: schema.inputs[min(n, len(schema.inputs) - 1)].type_str for n in given}
    for n in given:
        is_sequence = "sequence" in case["inputs"][n]
        for dtype in TYPES:
            together = [m for m in given if variable[m] == variable[n]]
            inputs = [retyped(one, dtype) if m in together else one for m, one in enumerate(case["inputs"])]
            wanted = "taken" if is_listed(schema, n, dtype, is_sequence) else "refused"
            yield wanted, refusal(case, version=opset, inputs=inputs, outputs=outputs)
            now = case["inputs"][n]["sequence"][0]["dtype"] if is_sequence else case["inputs"][n]["dtype"]
            if len(together) > 1 and dtype != now and not (dtype == "string" and now.startswith("<U")):
                inputs = [retyped(one, dtype) if m == n else one for m, one in enumerate(case["inputs"])]
                yield "refused", refusal(case, version=opset, inputs=inputs, outputs=outputs)
        if not is_sequence and not any(one.startswith("seq") for one in schema.inputs[min(n, len(schema.inputs) - 1)].types):
            inputs = [{"sequence": [one]} if m == n else one for m, one in enumerate(case["inputs"])]
            yield "refused", refusal(case, version=opset, inputs=inputs, outputs=outputs)
    if schema.inputs[-1].option != onnx.defs.OpSchema.FormalParameterOption.Variadic:
        yield "refused", refusal(case, version=opset, outputs=outputs, inputs=[
            *case["inputs"], *[None] * (len(schema.inputs) - len(case["inputs"])), {"dtype": "int64", "shape": [1], "data": [0]}])


def attributes(versions, schema, opset, case):
    """Cases with an attribute that this version does not have, and with one that none has."""
    every = {name: attribute for one in versions.values() for name, attribute in one.attributes.items()}
    for name, attribute in every.items():
        if name not in schema.attributes:
            value = VALUES[attribute.type.name]
            yield "refused", refusal(case, version=opset, attributes={**case["attributes"], name: value}, outputs=case.get("outputs", [None]))
    yield "broken", refusal(case, version=opset, attributes={**case["attributes"], "odd": 1}, outputs=case.get("outputs", [None]))


def main():
    program, made = sys.argv[1], []
    tables = schemas()
    for (operator, version), vectors in bases().items():
        versions = tables[operator]
        last = min([one - 1 for one in versions if one > version] + [NEWEST])
        for opset in sorted({version, last}):
            schema, seen = versions[version], set()
            for case in vectors:
                # a vector for each set of inputs that are there
                present = tuple(one is not None for one in case["inputs"])
                if present not in seen:
                    seen.add(present)
                    made += cases(schema, opset, case)
            made += attributes(versions, schema, opset, vectors[0])
    for n, (_, case) in enumerate(made):
        case["id"] = str(n)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "cases.json")
        tests = []
        for start in range(0, len(made), 5000):
            path.write_text(json.dumps([case for _, case in made[start:start + 5000]]))
            done = subprocess.run([program, "check", path, "--json"], capture_output=True)
            tests += json.loads(done.stdout)["tests"]
    verdicts = {"passed": "refused", "failed": "taken", "broken": "broken", "unsupported": "unsupported"}
    wrong = [f"{wanted}, but {test['verdict']}: {test['reason']}: {json.dumps(case)[:300]}" for (wanted, case), test in zip(made, tests, strict=True)
             if verdicts[test["verdict"]] != wanted]
    counts = collections.Counter(wanted for wanted, _ in made)
    print(f"{len(made)} cases of {len(bases())} versions of operators: {dict(counts)}; {len(wrong)} wrong")
    if wrong:
        sys.exit("\n".join(wrong[:20]))


if __name__ == "__main__":
    main()
