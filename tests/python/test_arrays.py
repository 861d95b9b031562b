"""Arrays of NumPy and of ml_dtypes, and the vectors."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tensorop_cli
from tensorop_cli._operands import Operand, operand


def saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    "array",
    [
        np.float32(3),
        np.zeros((0, 3), "<i2"),
        np.arange(6, dtype=">f8").reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.arange(12)[::-2],
        np.array([1 + 2j, np.nan]),
        np.array(["a", "bcd"]),
        np.array(["a", "bcd"], dtype=object),
        np.array([True, False]),
        np.array(["2026-01-01", "NaT"], "M8[s]"),
    ],
    ids=lambda array: f"{array.dtype}-{array.shape}",
)
def test_an_array_is_the_golden_one_in_any_layout(array: Any, tmp_path: Path) -> None:
    golden = tmp_path / "golden.npy"
    np.save(golden, array.astype(str) if array.dtype == object else array)
    tensorop_cli.assert_close(golden, array)
    tensorop_cli.assert_close(golden, array, rtol=1e-3, ignore_dtype=True)
    if array.dtype != object:
        golden.write_bytes(saved(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))).reshape(array.shape)))
    tensorop_cli.assert_close(golden, array)
    with pytest.raises(AssertionError, match="^not the tensor of .*golden.npy:\ndifferent: "):
        tensorop_cli.assert_close(golden, np.zeros((7, 7), "c8"))


@pytest.mark.parametrize("code", "?bBhHiIlLqQefd")
@pytest.mark.parametrize("shape", [(), (1,), (0, 2), (2, 3), (2, 1, 70)])
def test_the_bytes_of_numbers_are_those_of_numpy(code: str, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, code)
    for written in (array, array.astype(array.dtype.newbyteorder(">")), np.asfortranarray(array)):
        assert operand(written) == Operand(saved(np.array(written, order="C")))


def test_unsigned_items_are_not_those_of_ml_dtypes(tmp_path: Path) -> None:
    one = np.array([1], ml_dtypes.bfloat16)
    bits = one.view("u2")
    np.save(tmp_path / "bits.npy", bits)
    for expected, actual in [(bits, one), (one, bits), (tmp_path / "bits.npy", one)]:
        found = tensorop_cli.diff(expected, actual)
        assert not found and found.reason == "dtype"
    eight = np.array([56], ml_dtypes.float8_e4m3fn)
    assert tensorop_cli.diff(np.array([56], "u1"), eight, ignore_dtype=True)
    assert not tensorop_cli.diff(eight.view("u1"), np.array([1], ml_dtypes.float8_e4m3fn), ignore_dtype=True)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "int4"])
def test_dtypes_of_ml_dtypes_keep_their_name(name: str, tmp_path: Path) -> None:
    array = np.arange(4).astype(getattr(ml_dtypes, name))
    golden = tmp_path / "golden.npy"
    golden.write_bytes(saved(array))
    tensorop_cli.assert_close(golden, array)
    found = tensorop_cli.diff(golden, array * array)
    assert found.expected == tensorop_cli.Meta(name, (4,))
    # 9 is -7 in four bits
    assert found.max_abs == tensorop_cli.Largest(10 if name == "int4" else 6, (3,))
    tensorop_cli.run("convert", golden, "--dtype", name, "-o", tmp_path / "golden.npz")
    tensorop_cli.assert_close(tmp_path / "golden.npz", {"golden": array})


def test_a_dictionary_has_one_dtype_beyond_those_of_numpy() -> None:
    mixed = {name: np.zeros(1, getattr(ml_dtypes, name)) for name in ("bfloat16", "int4")}
    with pytest.raises(TypeError, match="got bfloat16 and int4$"):
        tensorop_cli.diff(mixed, mixed)
    with pytest.raises(tensorop_cli.Error, match="^dtype int4, expected uint4$"):
        tensorop_cli.assert_close(np.zeros(1, ml_dtypes.uint4), np.zeros(1, ml_dtypes.int4))


def test_an_array_of_objects_is_refused() -> None:
    with pytest.raises(ValueError, match="Object arrays"):
        tensorop_cli.diff(np.array([None]), "[1]")


def test_masked_arrays_are_refused() -> None:
    masked: Any = np.ma.masked_array([1.0, 2.0], [False, True])
    lists: Any = [np.ma.masked, 1.0]
    for value in (masked, lists, {"w": masked}, {"layer": {"w": masked}}):
        with pytest.raises(TypeError, match=r"masked .*filled\(\)"):
            tensorop_cli.assert_close("[1.0, 2.0]", value)
        with pytest.raises(TypeError, match="masked"):
            tensorop_cli.diff(value, value)
    # an array that could have masked items and has none
    tensorop_cli.assert_close("[1.0, 2.0]", np.ma.masked_array([1.0, 2.0]))
    tensorop_cli.assert_close("[1.0, 2.0]", masked.filled(2))


def test_lists_may_hold_items_of_numpy() -> None:
    tensorop_cli.assert_close(np.array([1, 2], "f4"), [np.float32(1), np.float32(2)])
    tensorop_cli.assert_close(np.eye(2), [np.array([1.0, 0]), np.array([0, 1.0])])
    tensorop_cli.assert_close(np.float64(2), 2)
    tensorop_cli.assert_close(np.array([0.1], "f2"), [0.1])
    tensorop_cli.assert_close(np.eye(2, dtype="f4"), [[1, 0], [0, 1]])


def test_lists_of_arrays_of_different_shapes_have_names() -> None:
    rows, column = np.eye(2), np.zeros(3, "f4")
    named = {"0": rows, "1": column, "2": 1.5}
    for listed in ([rows, column, 1.5], (rows, column, 1.5)):
        assert tensorop_cli.diff(named, listed)
    found = tensorop_cli.diff({"h": (rows, column), "x": [[rows, column], rows]}, {"h.0": rows, "h.1": column + 1, "x.0.0": rows, "x.0.1": column, "x.1": rows})
    assert [(t.name, t.verdict) for t in found.tensors if t.verdict != "same"] == [("h.1", "different")]
    # arrays of one shape are one tensor, and lists of numbers have no names
    assert tensorop_cli.diff(np.stack([rows, rows]), (rows, rows))
    assert tensorop_cli.diff(np.array([1.0, 2.0]), [np.float64(1), 2.0])
    with pytest.raises(ValueError, match="lists of one length"):
        tensorop_cli.diff([1.0], [[1], [2, 3]])


def test_numpy_is_no_requirement(tmp_path: Path) -> None:
    for module in ("numpy", "pytest", "ml_dtypes"):
        (tmp_path / f"{module}.py").write_text(f"raise ImportError('{module} is not there')")
    command = "import array, tensorop_cli; tensorop_cli.assert_close('[1.0]', array.array('d', [1])); tensorop_cli.assert_close([1], [1.0])"
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    subprocess.run([sys.executable, "-c", command], check=True, env={**os.environ, "PYTHONPATH": paths})


def test_cases_are_chosen_by_either_name() -> None:
    every = tensorop_cli.cases()
    for name in ("GatherND", "gather-nd"):
        found = [case.id for case in tensorop_cli.cases(name)]
        assert found == [case.id for case in every if case.operator == "GatherND"] and len(found) > 100
    assert {case.operator for case in tensorop_cli.cases("ScatterNDUpdate", class_="reject")} == {"ScatterNDUpdate"}
    rejected = tensorop_cli.cases("ConcatFromSequence", class_="reject", exclude="*-minus-*")
    assert rejected and all(case.error and case.expected is None and case.class_ == "reject" for case in rejected)
    for wrong in ({"operator": "NoSuch"}, {"layout": "pb"}, {"operator": "slice", "layout": "onnx", "only": "*/openvino-*"}):
        with pytest.raises(ValueError):
            tensorop_cli.cases(**wrong)
    with pytest.raises(tensorop_cli.Error, match="no-such"):
        tensorop_cli.cases(only="no-such/*")


def test_a_case_has_what_its_operator_needs() -> None:
    cases = {case.id: case for case in tensorop_cli.cases("Slice", layout="onnx", only=["slice/onnx-1/*", "slice/onnx-13/*"])}
    case = cases["slice/onnx-1/axes-absent"]
    assert (case.specification, case.version, case.attributes) == ("onnx", 1, {"starts": [1, 1], "ends": [3, 3]})
    np.testing.assert_array_equal(case.inputs[0][1:3, 1:3], case.expected, strict=True)
    assert case.model and b"Slice" in case.model and case.error is None and case.why.endswith(".")
    assert any(one is None for case in cases.values() for one in case.inputs)
    assert cases["slice/onnx-13/type-bfloat16"].expected.dtype == ml_dtypes.bfloat16


def test_an_operator_may_have_several_outputs() -> None:
    cases = tensorop_cli.cases("Split", layout="onnx", only="split/onnx-2/*")
    assert any(case.error and case.output_count > 1 for case in cases)
    for case in (case for case in cases if case.class_ == "must" and case.output_count > 1):
        axis = case.attributes.get("axis", 0)
        ends = np.cumsum(case.attributes.get("split", [part.shape[axis] for part in case.expected]))[:-1]
        for part, expected in zip(np.split(case.inputs[0], ends, axis), case.expected, strict=True):
            tensorop_cli.assert_close(expected, part)


def test_plain_loops_pass_the_cases_of_gather() -> None:
    for case in tensorop_cli.cases("Gather", layout="numpy", class_="must"):
        if case.specification == "onnx":
            axis = case.attributes.get("axis", 0)
            tensorop_cli.assert_close(case.expected, np.take(case.inputs[0], case.inputs[1], axis))
