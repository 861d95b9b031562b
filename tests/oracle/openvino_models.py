"""Random models of OpenVINO IR, compared with OpenVINO's own reader.

    python tests/oracle/openvino_models.py check PROGRAM [N]   compares `PROGRAM info --hash` of N models
    python tests/oracle/openvino_models.py golden              writes tests/golden/openvino/

A hash is that of the .npy that numpy.save writes.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import openvino as ov
from onnx_models import sha256
from openvino import Type
from openvino import opset13 as op

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "openvino"
DTYPES = {
    "boolean": np.bool_, "bf16": ml_dtypes.bfloat16, "f16": "f2", "f32": "f4", "f64": "f8",
    "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
    "i4": ml_dtypes.int4, "u4": ml_dtypes.uint4, "u2": ml_dtypes.uint2,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2, "f8e8m0": ml_dtypes.float8_e8m0fnu,
    "f4e2m1": ml_dtypes.float4_e2m1fn,
}  # fmt: skip


def model(seed):
    """A model of random constants."""
    pick, bits = random.Random(seed), np.random.default_rng(seed)
    x = op.parameter([1, 3], np.float32, name="x")
    results = [op.relu(x)]
    for number in range(pick.randrange(1, 12)):
        name = pick.choice(list(DTYPES))
        shape = [pick.choice([1, 2, 3, 5]) for _ in range(pick.randrange(4))]
        value = bits.integers(1 if name == "f8e8m0" else 0, 2, shape).astype(np.float32)
        friendly = pick.choice(["w", f"layer.{number}/weight", f'<"{number}&é>'])
        constant = op.constant(value, dtype=getattr(Type, name), name=friendly)
        results.append(op.convert(constant, np.float32))
    if pick.random() < 0.3:
        body = []
        for branch in range(2):
            constant = op.constant(np.full([2], branch + seed, "f4"), name="inner")
            body.append(ov.Model([op.result(op.relu(constant))], [], f"body{branch}"))
        chosen = op.if_op(op.constant(np.array(True), name="condition"))
        chosen.set_friendly_name("chosen")
        chosen.set_then_body(body[0])
        chosen.set_else_body(body[1])
        chosen.set_output(body[0].results[0], body[1].results[0])
        results.append(chosen)
    return ov.Model(results, [x], "net")


def expected(path):
    """The constants of a saved model, as OpenVINO reads them."""

    def of(graph, prefix):
        for node in graph.get_ordered_ops():
            kind = node.get_type_name()
            if kind == "Constant":
                name = node.get_element_type().get_type_name()
                value = node.data
                if value.dtype != np.dtype(DTYPES[name]):
                    value = node.get_data(dtype=np.float32).astype(DTYPES[name])
                yield prefix + node.get_friendly_name(), value
            elif kind == "If":
                yield from of(node.get_function(0), f"{prefix}{node.get_friendly_name()}/then_body/")
                yield from of(node.get_function(1), f"{prefix}{node.get_friendly_name()}/else_body/")

    return list(of(ov.Core().read_model(path), ""))


def check(program, models):
    program, wrong, tensors = pathlib.Path(program).resolve(), 0, 0
    for seed in range(models):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.xml")
            ov.save_model(model(seed), path, compress_to_fp16=False)
            run = subprocess.run([program, "info", path, "--hash", "--json"], capture_output=True, text=True)
            found = [(i["member"].split("#")[0], i["shape"], i["hash"]) for i in json.loads(run.stdout or "[]")]
            wanted = [(name, list(np.shape(value)), sha256(np.asarray(value))) for name, value in expected(path)]
            tensors += len(wanted)
            if sorted(found) != sorted(wanted):
                wrong += 1
                print(seed, run.stderr, set(map(str, wanted)) ^ set(map(str, found)))
    print(f"{models} models, {tensors} constants, {wrong} wrong")
    return wrong > 0


def golden():
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for seed in (1, 2, 3):
        path = GOLDEN / f"{seed}.xml"
        ov.save_model(model(seed), path, compress_to_fp16=False)
        lines = [json.dumps([name, list(np.shape(value)), sha256(np.asarray(value))]) for name, value in expected(path)]
        (GOLDEN / f"{seed}.jsonl").write_text("".join(line + "\n" for line in sorted(lines)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["golden"]:
        golden()
    else:
        sys.exit(check(sys.argv[2], int((sys.argv[3:] or [200])[0])))
