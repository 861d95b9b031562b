"""The module with nothing but Python: no pytest, no NumPy. `tests/cli/python.rs` runs this file with unittest."""

from __future__ import annotations

import array
import math
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import tensorop_cli

ROW = "[1.0, 2.0, 4.0]"


class Plain(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.golden = Path(folder.name, "golden.npy")
        tensorop_cli.run("convert", ROW, "-o", self.golden)

    def test_a_run_has_its_output_and_its_status(self) -> None:
        self.assertEqual(tensorop_cli.run("slice", ROW, "--at", "1:").text, "[2. 4.]\n")
        self.assertEqual(tensorop_cli.run("show", "-", "--from", "json", input=b"[7]").stdout, b"-: int64 [1]\n[7]\n")
        self.assertEqual(tensorop_cli.run("diff", "1", "2", "-q").status, 1)
        with self.assertRaises(tensorop_cli.Error) as raised:
            tensorop_cli.run("slice", ROW, "--at", "::0")
        self.assertNotIn("\n", str(raised.exception))
        self.assertFalse(str(raised.exception).startswith("error"))
        with self.assertRaisesRegex(tensorop_cli.Error, "^EXPECTED no.npy: "):
            tensorop_cli.diff("no.npy", ROW)

    def test_a_difference_has_the_fields_of_json(self) -> None:
        found = tensorop_cli.diff(ROW, "[1.0, 2.5, 4.0]", atol=0.25)
        self.assertFalse(found.equal)
        self.assertEqual((found.reason, found.items, found.mismatches), ("values", 3, 1))
        self.assertEqual(found.expected, tensorop_cli.Meta("float64", (3,)))
        self.assertEqual(found.max_abs, tensorop_cli.Largest(0.5, (1,)))
        self.assertEqual((found.first[0].index, found.first[0].actual, found.first[0].abs), ((1,), 2.5, 0.5))
        self.assertEqual(found.min_atol, 0.5)
        assert found.metrics is not None
        self.assertAlmostEqual(found.metrics["rmse"] or 0, math.sqrt(0.25 / 3))
        self.assertTrue(found.report.startswith("different: 1 of 3 items (33.3 %) of float64 [3]\n"), found.report)
        equal = tensorop_cli.diff(ROW, ROW)
        assert equal.metrics is not None
        self.assertEqual((equal.equal, equal.metrics["snr_db"]), (True, math.inf))
        self.assertEqual(tensorop_cli.diff('["Infinity"]', '["b"]').first[0].expected, "Infinity")

    def test_several_tensors_have_names_and_verdicts(self) -> None:
        one = {"a": array.array("f", [1, 2]), "b": array.array("q", [3])}
        other = {"a": array.array("f", [1, 3]), "c": array.array("q", [3])}
        found = tensorop_cli.diff(one, other)
        self.assertEqual(
            [(t.name, t.verdict) for t in found.tensors], [("a", "different"), ("b", "missing"), ("c", "extra")]
        )
        assert found.counts is not None
        self.assertEqual(found.counts["missing"], 1)
        self.assertIn("different: 0 same", found.report)
        self.assertTrue(tensorop_cli.diff(one, other, only="a", atol={"a": 1}).equal)
        self.assertTrue(tensorop_cli.diff(one, other, only=["a", "[b]"], exclude=["b", None], ignore_dtype=True, ulp=1 << 30).equal)

    def test_limits_decide(self) -> None:
        near = array.array("d", [1.0, 2.0, 4.0001])
        tensorop_cli.assert_close(near, self.golden, rtol=1e-4)
        tensorop_cli.assert_close(near, self.golden, min_cosine=0.99)
        tensorop_cli.assert_close(array.array("f", [1, 2, 4]), self.golden, ignore_dtype=True)
        for limits in ({}, {"rtol": 1e-6}, {"ulp": 3}, {"ignore_dtype": False}):
            with self.assertRaisesRegex(AssertionError, "different: 1 of 3 items"):
                tensorop_cli.assert_close(near, self.golden, **limits)
        # a limit that is none is an error, also if the bytes are equal
        for wrong in ({"rtol": -1}, {"rtol": "x"}, {"no_such_limit": 1}):
            with self.assertRaises(tensorop_cli.Error):
                tensorop_cli.assert_close(array.array("d", [1, 2, 4]), self.golden, **wrong)

    def test_every_form_of_a_tensor_is_read(self) -> None:
        same = array.array("d", [1, 2, 4])
        forms: list[Any] = [self.golden, str(self.golden), ROW, self.golden.read_bytes(), same, memoryview(same)]
        for actual in [*forms, b'{"dtype": "float64", "shape": [3], "data": [1, 2, 4]}']:
            for golden in forms:
                tensorop_cli.assert_close(actual, golden)
                tensorop_cli.assert_close(actual, golden, min_cosine=1)
        for wrong in (None, 7, object(), [1, 2], memoryview(b"ab").cast("c")):
            with self.assertRaises(TypeError):
                tensorop_cli.assert_close(wrong, self.golden)

    def test_buffers_of_every_code_are_the_files_that_numpy_writes(self) -> None:
        names = {"b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32"}
        names.update({"q": "int64", "Q": "uint64", "f": "float32", "d": "float64"})
        for code, name in names.items():
            with self.subTest(code):
                flat: Any = memoryview(array.array(code, range(12))).cast("B")
                found = tensorop_cli.diff(flat.cast(code, [2, 6]), "[0]")
                self.assertEqual(found.expected, tensorop_cli.Meta(name, (2, 6)))
        found = tensorop_cli.diff(memoryview(b"\x00\x01").cast("?"), "[false, true]")
        self.assertTrue(found.equal)

    def test_equal_bytes_need_no_process(self) -> None:
        with mock.patch.dict(os.environ, {"TENSOROP": str(self.golden.with_name("no-program"))}):
            for limits in ({}, {"rtol": 1e-5, "atol": 0, "ulp": 2}):
                tensorop_cli.assert_close(array.array("d", [1, 2, 4]), self.golden, **limits)
            with self.assertRaisesRegex(tensorop_cli.Error, "^cannot start .*no-program: "):
                tensorop_cli.assert_close(array.array("d", [1, 2, 5]), self.golden)

    def test_the_variable_writes_a_golden_file_again(self) -> None:
        new = array.array("d", [1, 2, 5])
        with mock.patch.dict(os.environ, {"TENSOROP_UPDATE_GOLDEN": "1"}), mock.patch("sys.stderr") as stderr:
            tensorop_cli.assert_close(new, self.golden)
        self.assertIn("wrote ", "".join(*stderr.writelines.call_args.args))
        tensorop_cli.assert_close(new, self.golden)

    def test_the_module_is_the_program(self) -> None:
        command = [sys.executable, "-m", "tensorop_cli"]
        ended = subprocess.run([*command, "diff", "-", "[1]"], input=b"[2]", capture_output=True)
        self.assertEqual((ended.returncode, ended.stdout[:10]), (1, b"different:"))
        ended = subprocess.run([*command, "slice"], capture_output=True)
        self.assertEqual((ended.returncode, ended.stdout), (2, b""))
        environment = {**os.environ, "TENSOROP": str(self.golden)}
        ended = subprocess.run([*command, "slice"], capture_output=True, env=environment)
        self.assertEqual((ended.returncode, ended.stderr[:7]), (2, b"error: "))

    def test_a_missing_program_is_an_error(self) -> None:
        with mock.patch.dict(os.environ, {"TENSOROP": ""}), mock.patch("shutil.which", return_value=None):
            with self.assertRaisesRegex(tensorop_cli.Error, "there is no program tensorop"):
                tensorop_cli.run("--version")


if __name__ == "__main__":
    unittest.main()
