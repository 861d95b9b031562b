"""The module with nothing but Python: no pytest, no NumPy. `tests/cli/python.rs` runs this file with unittest."""

from __future__ import annotations

import array
import contextlib
import io
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
        tensorop_cli.assert_close(self.golden, near, rtol=1e-4)
        tensorop_cli.assert_close(self.golden, near, min_cosine=0.99)
        tensorop_cli.assert_close(self.golden, array.array("f", [1, 2, 4]), ignore_dtype=True)
        for limits in ({}, {"rtol": 1e-6}, {"ulp": 3}, {"ignore_dtype": False}):
            with self.assertRaisesRegex(AssertionError, "different: 1 of 3 items"):
                tensorop_cli.assert_close(self.golden, near, **limits)
        # a limit that is none is an error, also if the bytes are equal
        for wrong in ({"rtol": -1}, {"rtol": "x"}, {"no_such_limit": 1}):
            with self.assertRaises(tensorop_cli.Error):
                tensorop_cli.assert_close(self.golden, array.array("d", [1, 2, 4]), **wrong)

    def test_every_form_of_a_tensor_is_read(self) -> None:
        same = array.array("d", [1, 2, 4])
        forms: list[Any] = [self.golden, str(self.golden), ROW, self.golden.read_bytes(), same, memoryview(same)]
        for actual in [*forms, b'{"dtype": "float64", "shape": [3], "data": [1, 2, 4]}']:
            for golden in forms:
                tensorop_cli.assert_close(golden, actual)
                tensorop_cli.assert_close(expected=golden, actual=actual, min_cosine=1)
        for wrong in (None, object(), {1, 2}, [None], [{}], memoryview(b"ab").cast("c")):
            with self.assertRaises(TypeError):
                tensorop_cli.assert_close(self.golden, wrong)

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
                tensorop_cli.assert_close(self.golden, array.array("d", [1, 2, 4]), **limits)
            with self.assertRaisesRegex(tensorop_cli.Error, "^cannot start .*no-program: "):
                tensorop_cli.assert_close(self.golden, array.array("d", [1, 2, 5]))

    def test_the_variable_writes_a_golden_file_again(self) -> None:
        old, new = self.golden.read_bytes(), array.array("d", [1, 2, 5])
        made = self.golden.with_name("new.npy")
        for value in ("0", "no", "FALSE", ""):
            with mock.patch.dict(os.environ, {"TENSOROP_UPDATE_GOLDEN": value}):
                with self.assertRaisesRegex(AssertionError, "TENSOROP_UPDATE_GOLDEN=1 accepts ACTUAL"):
                    tensorop_cli.assert_close(self.golden, new)
                with self.assertRaisesRegex(tensorop_cli.Error, "TENSOROP_UPDATE_GOLDEN=1 makes it$"):
                    tensorop_cli.assert_close(made, new)
        for value in ("1", "true", "Yes"):
            self.golden.write_bytes(old)
            with mock.patch.dict(os.environ, {"TENSOROP_UPDATE_GOLDEN": value}):
                # only an assertion writes, and what is no file is compared
                self.assertFalse(tensorop_cli.diff(self.golden, new))
                self.assertEqual(self.golden.read_bytes(), old)
                for expected in (old, array.array("d", [1, 2, 4]), [1, 2, 4], ROW):
                    with self.assertRaisesRegex(AssertionError, "different: 1 of 3 items"):
                        tensorop_cli.assert_close(expected, new)
                with mock.patch("sys.stderr") as stderr:
                    tensorop_cli.assert_close(self.golden, new)
                self.assertIn("wrote ", "".join(*stderr.writelines.call_args.args))
                if made.exists():
                    made.unlink()
                with contextlib.redirect_stderr(io.StringIO()):
                    tensorop_cli.assert_close(made, new)
            tensorop_cli.assert_close(self.golden, new)
            tensorop_cli.assert_close(made, new)
        with mock.patch.dict(os.environ, {"TENSOROP_UPDATE_GOLDEN": "on"}):
            with self.assertRaisesRegex(tensorop_cli.Error, '^TENSOROP_UPDATE_GOLDEN: "on" is not known, expected 1, true, '):
                tensorop_cli.assert_close(self.golden, new)
        self.assertTrue(tensorop_cli.diff(self.golden, old, accept=True).mismatches)
        self.assertTrue(tensorop_cli.diff(self.golden, old))

    def test_a_difference_is_true_if_the_tensors_are_equal(self) -> None:
        self.assertTrue(tensorop_cli.diff(ROW, ROW))
        self.assertFalse(tensorop_cli.diff(ROW, "[1.0]"))
        self.assertTrue(tensorop_cli.diff(ROW, "[1.0, 2.0, 4.5]", atol=0.5))

    def test_reports_name_keyword_arguments(self) -> None:
        found = tensorop_cli.diff(ROW, "[1.0, 2.5, 4.0]", min_cosine=1, rtol=0.125)
        self.assertIn(" is below min_cosine=1\n", found.report)
        self.assertIn("  rtol=0.25\n", found.report)
        self.assertNotIn("--", found.report)
        with self.assertRaises(AssertionError) as raised:
            tensorop_cli.assert_close(self.golden, array.array("f", [1, 2, 4]))
        self.assertIn("\n  ignore_dtype=True compares the values\n", str(raised.exception))

    def test_items_of_python_take_the_dtype_beside_them(self) -> None:
        half = self.golden.with_name("half.npy")
        tensorop_cli.run("convert", "[0.1, 2.0]", "--cast", "float16", "--lossy", "-o", half)
        ints, flags, one = (array.array("q", [1, 2]), memoryview(b"\1\0").cast("?"), array.array("f", [3]))
        single: Any = memoryview(array.array("f", [0.5])).cast("B").cast("f", [])
        equal: list[tuple[Any, Any]] = [
            (self.golden, [1, 2.0, 4]),
            (self.golden, (1, 2, 4)),
            (half, [0.1, 2]),
            (f"{half}", (0.1, 2)),
            (ints, [1, 2]),
            (ints, "[1, 2]"),
            (flags, [True, False]),
            (one, [3]),
            (single, 0.5),
            (0.5, single),
            ([1, 2], [1.0, 2.0]),
            (1, 1.0),
            (1, 1 + 0j),
            (2**64 - 1, "18446744073709551615"),
            ([[1, 2], [3, 4]], ((1, 2), (3, 4))),
            ([], array.array("f")),
            ([[], []], "[[], []]"),
            (["a", "bc"], '["a", "bc"]'),
            (["", ""], '["", ""]'),
            ([math.nan, -math.inf], '["NaN", "-Infinity"]'),
            (array.array("f", [math.nan]), [math.nan]),
            ([1 + 2j], '{"dtype": "complex128", "data": [[1, 2]]}'),
        ]
        for expected, actual in equal:
            with self.subTest(expected=expected, actual=actual):
                tensorop_cli.assert_close(expected, actual)
                self.assertTrue(tensorop_cli.diff(actual, expected))
        # what that dtype cannot hold has its own
        different: list[tuple[Any, Any, str]] = [
            (ints, [1.5, 2], "different: dtype float64, expected int64"),
            (flags, [1, 0], "different: dtype int64, expected bool"),
            (array.array("b", [1]), [1000], "different: dtype int64, expected int8"),
            (self.golden, ["a", "b", "c"], "different: dtype <U1, expected float64"),
            (one, 1j, "different: dtype complex128, expected float32"),
            ([1, 2], [True, False], "different: dtype bool, expected int64"),
            (self.golden, [1, 2], "different: shape [2], expected [3]"),
            (self.golden, [1, 2, 5], "different: 1 of 3 items"),
        ]
        for expected, actual, text in different:
            with self.subTest(expected=expected, actual=actual):
                self.assertTrue(tensorop_cli.diff(expected, actual).report.startswith(text))
        wrong: list[tuple[Any, type, str]] = [
            ([1, [2]], ValueError, "at depth 1"),
            ([[1], 2], ValueError, "at depth 1"),
            ([[1], [2, 3]], ValueError, "at depth 1, the first has 1 items"),
            ([True, 2], TypeError, "bool and int"),
            ([1, "a"], TypeError, "int and str"),
            ([None], TypeError, "NoneType"),
            ([-1, 2**63], ValueError, "no integer dtype"),
            ([0.5, 10**400], ValueError, "too large"),
        ]
        for value, kind, text in wrong:
            with self.subTest(value=value), self.assertRaisesRegex(kind, text):
                tensorop_cli.assert_close(self.golden, value)

    def test_items_of_python_become_golden_files(self) -> None:
        rows: list[tuple[Any, str]] = [(0.5, "float64"), ([1, 2], "int64"), ([math.nan], "float64"), (True, "bool"), (2j, "complex128")]
        for value, dtype in rows:
            with self.subTest(value=value), mock.patch.dict(os.environ, {"TENSOROP_UPDATE_GOLDEN": "1"}):
                self.golden.unlink()
                with contextlib.redirect_stderr(io.StringIO()):
                    tensorop_cli.assert_close(self.golden, value)
                found = tensorop_cli.diff(self.golden, value)
                self.assertEqual((found.equal, found.expected and found.expected.dtype), (True, dtype))
        # where it can a golden file keeps its dtype
        tensorop_cli.run("convert", "[1, 2]", "--cast", "float32", "-o", self.golden)
        with mock.patch.dict(os.environ, {"TENSOROP_UPDATE_GOLDEN": "1"}), contextlib.redirect_stderr(io.StringIO()):
            tensorop_cli.assert_close(self.golden, [1, 2.5])
        self.assertTrue(tensorop_cli.diff(self.golden, array.array("f", [1, 2.5])))

    def test_dictionaries_may_hold_dictionaries(self) -> None:
        row = array.array("f", [1, 2])
        nested = {"layers": {0: {"w": row, "b": [0.5]}, 1: {"w": row}}, "loss": 0.25, "none": {}}
        flat = {"layers.0.w": row, "layers.0.b": [0.5], "layers.1.w": row, "loss": 0.25}
        tensorop_cli.assert_close(nested, flat)
        found = tensorop_cli.diff(nested, {**flat, "layers.1.w": array.array("f", [1, 3])})
        self.assertEqual([t.name for t in found.tensors if t.verdict != "same"], ["layers.1.w"])
        with self.assertRaisesRegex(ValueError, "two tensors of the dictionary are called 'a.b'"):
            tensorop_cli.diff({"a": {"b": row}, "a.b": row}, flat)

    def test_a_damaged_golden_file_is_different(self) -> None:
        row = array.array("d", [1, 2, 4])
        for content in (b"", self.golden.read_bytes()[:130], b"no tensor"):
            self.golden.write_bytes(content)
            with self.subTest(content=content):
                with self.assertRaisesRegex(AssertionError, "(?s)not the tensor of .*different: EXPECTED .*golden.npy: "):
                    tensorop_cli.assert_close(self.golden, row)
                with self.assertRaises(tensorop_cli.Error):
                    tensorop_cli.diff(self.golden, row)
                with mock.patch.dict(os.environ, {"TENSOROP_UPDATE_GOLDEN": "1"}), contextlib.redirect_stderr(io.StringIO()):
                    tensorop_cli.assert_close(self.golden, row)
                tensorop_cli.assert_close(self.golden, row)

    def test_texts_that_look_like_numbers(self) -> None:
        for ending in ("csv", "tsv", "json", "npy"):
            for texts in (["007", "1e3"], ["true", "x"], ["nan"], ["", "1"], ["1;2", "3;4"], [["a"], ["b"]]):
                golden = self.golden.with_name(f"texts.{ending}")
                with self.subTest(ending=ending, texts=texts):
                    with mock.patch.dict(os.environ, {"TENSOROP_UPDATE_GOLDEN": "1"}), contextlib.redirect_stderr(io.StringIO()):
                        try:
                            tensorop_cli.assert_close(golden, texts)
                        except tensorop_cli.Error:
                            # a table has no axis of length 1
                            self.assertTrue(isinstance(texts[0], list) and ending in ("csv", "tsv") and not golden.exists())
                            continue
                    tensorop_cli.assert_close(golden, texts)
                    golden.unlink()

    def test_a_traceback_has_no_line_of_the_module(self) -> None:
        test = self.golden.with_name("test_shown.py")
        test.write_text(
            "import unittest, tensorop_cli\n"
            "class Shown(unittest.TestCase):\n"
            "    def test_values(self): tensorop_cli.assert_close([1.0], [2.0])\n"
            "    def test_shape(self): tensorop_cli.assert_close('[1.0]', [2.0, 3.0])\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(Path(tensorop_cli.__file__).parent.parent)}
        command = [sys.executable, "-B", "-m", "unittest", "test_shown"]
        ended = subprocess.run(command, capture_output=True, text=True, cwd=test.parent, env=environment)
        self.assertIn("Ran 2 tests", ended.stderr)
        self.assertEqual(ended.stderr.count("Traceback (most recent call last):"), 2)
        self.assertNotIn(str(Path("tensorop_cli", "_")), ended.stderr)

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
