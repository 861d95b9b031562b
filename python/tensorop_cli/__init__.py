"""The program `tensorop` in Python: golden files, comparisons and test vectors. Every tensor is read by the program.

A tensor is a path, or another operand of the program as text; `bytes` with the content of a file in any format; anything with
`__array__` or the buffer protocol; a number, or a list or tuple of numbers, bools or texts; or, for several tensors, a
dictionary of these by name, which may hold other dictionaries: `{"a": {"b": 1.0}}` has the tensor `a.b`. The members of a list
or tuple with arrays of different shapes are called `0`, `1`, and so on. Items of Python have
no dtype: they take that of the tensor that they are compared with, if it can hold them. Limits are the options of
`tensorop diff` without their dashes: `rtol=1e-5`, `min_cosine=0.99`, `ignore_dtype=True`, `atol={"*.bias": 0.5}`,
`only=["a*", "b*"]`. The expected tensor stands before the actual one everywhere.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable

from ._operands import Operand, operand, typed_together


# A test shows its own lines, not those of this module: pytest and unittest look for these names.
__tracebackhide__ = __unittest = True


class Error(Exception):
    """The program could not do what was asked. The text is its line of error."""


@dataclasses.dataclass(frozen=True)
class Result:
    """The output of a run. The status is 0, or 1 if `diff` or `check` found a difference."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "replace")


def program() -> str:
    """The path of the program: `$TENSOROP`, else that of the installed wheel, else the one on the `PATH`."""
    found = os.environ.get("TENSOROP") or shutil.which("tensorop", path=_folders()) or shutil.which("tensorop")
    if found is None:
        raise Error("there is no program tensorop in this environment, on the PATH, or in $TENSOROP")
    return found


@functools.lru_cache(maxsize=None)  # it takes half a millisecond
def _folders() -> str:
    """The folders in which an installer of wheels puts programs."""
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    folders += [sysconfig.get_path("scripts", os.name + "_user"), str(Path(__file__).parent.parent / "bin")]
    return os.pathsep.join(folders)


def run(*args: str | os.PathLike[str], input: bytes = b"") -> Result:
    """Runs the program with these arguments, and with `input` as its standard input.

    Raises `Error` if the status is neither 0 nor 1, or if the program cannot be started.
    """
    try:
        # A file without a buffer: Python fills a pipe in small pieces, and with either a check of 1 MiB takes a tenth longer.
        with tempfile.TemporaryFile(buffering=0) as stdin:
            left = memoryview(input)
            while left:
                left = left[stdin.write(left) :]
            stdin.seek(0)
            ended = subprocess.run([program(), *args], stdin=stdin, capture_output=True)
    except OSError as error:
        raise Error(f"cannot start {program()}: {error.strerror}") from None
    result = Result(ended.returncode, ended.stdout, ended.stderr.decode("utf-8", "replace"))
    if result.status not in (0, 1):
        line = result.stderr.partition("error: ")[2].partition("\n")[0]
        raise Error(line or result.text or f"{program()} ended with status {result.status}")
    return result


@dataclasses.dataclass(frozen=True)
class Meta:
    dtype: str
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Largest:
    """The largest error, and its place."""

    value: float
    index: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Mismatch:
    """An item that no limit accepts. `flat` is its number in C order. `expected` and `actual` are as in JSON: NaN and
    infinities are texts."""

    index: tuple[int, ...]
    flat: int
    expected: Any
    actual: Any
    abs: float | None
    rel: float | None
    ulp: int | None


@dataclasses.dataclass(frozen=True)
class Difference:
    """The object of `tensorop diff --json`. For several tensors `tensors` has one for each, with `name` and `verdict`.

    It is true if the tensors are equal under the limits.
    """

    equal: bool
    reason: str | None = None
    name: str | None = None
    verdict: str | None = None
    error: str | None = None
    expected: Meta | None = None
    actual: Meta | None = None
    items: int | None = None
    mismatches: int | None = None
    nonfinite_mismatches: int | None = None
    first_nonfinite: tuple[int, ...] | None = None
    max_abs: Largest | None = None
    max_rel: Largest | None = None
    max_ulp: Largest | None = None
    min_atol: float | None = None
    min_rtol: float | None = None
    min_ulp: int | None = None
    first: tuple[Mismatch, ...] = ()
    worst: tuple[Mismatch, ...] = ()
    metrics: Mapping[str, float | None] | None = None
    metadata: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    agreeing_axes: tuple[int, ...] | None = None
    counts: Mapping[str, int] | None = None
    tensors: tuple[Difference, ...] = ()
    not_compared: int | None = None
    _report: Callable[[], str] = dataclasses.field(default=str, repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.equal

    @functools.cached_property
    def report(self) -> str:
        """The report as text, for which the program runs again. It is empty in the items of `tensors`."""
        return self._report()


def _typed(found: dict[str, Any]) -> Any:
    """An object of JSON as the class that has its keys. Only items of tensors keep texts for infinities."""
    kinds: dict[str, Any] = {"equal": Difference, "dtype": Meta, "value": Largest, "ulp": Mismatch}
    kind = next((kind for key, kind in kinds.items() if key in found), None)
    known = {field.name for field in dataclasses.fields(kind)} if kind else found.keys()
    plain = {key: tuple(value) if isinstance(value, list) else value for key, value in found.items() if key in known}
    for key, value in plain.items():
        if value in ("Infinity", "-Infinity") and key not in ("expected", "actual", "name"):
            plain[key] = float(value)
    return kind(**plain) if kind else plain


def _options(options: Mapping[str, Any]) -> list[str]:
    """Keyword arguments as the options of a command line."""
    args = []
    for name, value in options.items():
        option = "--" + name.strip("_").replace("_", "-")
        if isinstance(value, Mapping):
            value = [f"{pattern}={limit}" for pattern, limit in value.items()]
        values = value if isinstance(value, (list, tuple)) else [value]
        args += [option if one is True else f"{option}={one}" for one in values if one is not None and one is not False]
    return args


def _diff(expected: Any, actual: Any, limits: Mapping[str, Any], *more: str, is_quick: bool = False) -> Result:
    left, right = operand(expected), operand(actual)
    # what is accepted is written under --dtype, as the next check reads it
    if not limits.get("accept") and not updates_golden():
        left, right = _apart(left, right), _apart(right, left)
    dtype = left.dtype or right.dtype
    if left.dtype and right.dtype and left.dtype != right.dtype:
        raise Error(f"dtype {right.dtype}, expected {left.dtype}")
    # Files of the same bytes hold the same tensors, whatever the tolerance is. Then no process is needed.
    tolerances = {"atol", "rtol", "ulp"}
    if is_quick and all(name in tolerances and type(x) in (int, float) and 0 <= x < math.inf for name, x in limits.items()):
        content = right.content
        if isinstance(content, bytes) and (_holds(left.content, content) if isinstance(left.content, str) else left.content == content):
            return Result(0, b"", "")
    args = ["diff", *more, *_options({"dtype": dtype, **limits})]
    refused, different = None, None
    for pair in _contents(left, right):
        try:
            result = _run_on(args, *pair)
        except Error as error:
            refused = refused or error
            continue
        if result.status == 0:
            return result
        different = different or result
    if different is None:
        assert refused is not None
        raise refused
    return different


def _apart(one: Operand, other: Operand) -> Operand:
    """An array whose dtype NumPy has no name for, as JSON that names it, beside unsigned items, which --dtype would read as it, too."""
    is_array = isinstance(one.content, bytes) and one.content.startswith(b"\x93NUMPY")
    if not one.dtype or not is_array or other.dtype or other.values:
        return one
    path, given = ("-", other.content) if isinstance(other.content, bytes) else (other.content, b"")
    try:
        found = json.loads(run("info", "--json", "--", path, input=given).stdout)
    except Error:
        # the comparison says why
        return one
    if not any(tensor["dtype"].startswith("uint") for tensor in found):
        return one
    return Operand(run("convert", "--dtype", one.dtype, "--to", "json", "--", "-", input=one.content).stdout)


def _contents(left: Operand, right: Operand) -> list[tuple[str | bytes, str | bytes]]:
    """What the program may be given for two operands, the best first. If one does not pass, it is given the next.

    Items of Python are JSON without a dtype beside another tensor, and have a dtype of their own where that cannot hold them.
    """
    if left.values and right.values:
        return [typed_together(left.values, right.values)]
    typed: list[tuple[str | bytes, str | bytes]] = [(left.content, right.content)]
    values = left.values or right.values
    plain = values.json() if values else None
    if plain is None:
        return typed
    other = right.content if left.values else left.content
    untyped: list[tuple[str | bytes, str | bytes]] = [(plain, other) if left.values else (other, plain)]
    # JSON beside nothing, or beside other JSON, has nothing to take a dtype from
    is_typed = isinstance(other, bytes) or "://" in other or any(map(os.path.exists, (other, other.rpartition(":")[0])))
    return untyped + typed if is_typed else typed + untyped


def _run_on(args: list[str], left: str | bytes, right: str | bytes) -> Result:
    given, right = (right, "-") if isinstance(right, bytes) else (b"", right)
    if isinstance(left, str):
        return run(*args, "--", left, right, input=given)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "expected")
        path.write_bytes(left)
        return run(*args, "--", path, right, input=given)


def _holds(path: str, content: bytes) -> bool:
    """Whether a file has this content. Its first bytes tell most files apart."""
    if not os.path.isfile(path) or os.path.getsize(path) != len(content):
        return False
    with open(path, "rb") as file:
        return content.startswith(file.read(4096)) and content.endswith(file.read())


def diff(expected: Any, actual: Any, **limits: Any) -> Difference:
    """Compares two tensors, or all tensors of two containers. Raises `Error` if they cannot be compared."""
    found: Difference = json.loads(_diff(expected, actual, limits, "--json").stdout, object_hook=_typed)
    return dataclasses.replace(found, _report=lambda: _diff(expected, actual, limits, "--keywords").text)


def assert_close(expected: Any, actual: Any, **limits: Any) -> None:
    """Fails with the report of `tensorop diff` if a tensor is not the expected one.

    If `expected` is a path, it is a golden file. With `TENSOROP_UPDATE_GOLDEN=1` in the environment the program writes it anew
    instead, or makes it.
    """
    updates_golden()
    result = _diff(expected, actual, limits, "--keywords", *(["--golden"] if _is_path(expected) else []), is_quick=True)
    _assert_same(expected, result, "  TENSOROP_UPDATE_GOLDEN=1 accepts ACTUAL\n" if _is_path(expected) else "")
    sys.stderr.writelines(line + "\n" for line in result.text.splitlines() if line.startswith("wrote "))


def _is_path(tensor: Any) -> bool:
    return isinstance(tensor, (str, os.PathLike))


def _assert_same(expected: Any, result: Result, more: str = "") -> None:
    if result.status != 0:
        raise AssertionError((f"not the tensor of {expected}:\n" if _is_path(expected) else "") + result.text + more)


def updates_golden() -> bool:
    """Whether `TENSOROP_UPDATE_GOLDEN` lets golden files be written. Raises `Error` for a value that is not known."""
    value = os.environ.get("TENSOROP_UPDATE_GOLDEN", "")
    if value.lower() in ("1", "true", "yes"):
        return True
    if value.lower() in ("", "0", "false", "no"):
        return False
    known = "expected 1, true, yes, 0, false, no or nothing"
    raise Error(f"TENSOROP_UPDATE_GOLDEN: {json.dumps(value)} is not known, {known}")


@dataclasses.dataclass(frozen=True)
class Case:
    """A vector. It has `expected`, or `error` if the inputs must be refused. An input that is left out is None.

    `expected` is a list if `output_count` is not 1, and so is an input that is a sequence.
    """

    id: str
    specification: str
    operator: str
    version: int
    attributes: Mapping[str, Any]
    inputs: tuple[Any, ...]
    expected: Any
    output_count: int
    error: str | None
    class_: str
    why: str
    model: bytes


def cases(operator: str | None = None, layout: str = "numpy", **options: Any) -> list[Case]:
    """The vectors of `tensorop check`, with tensors as NumPy arrays. The layout "onnx" also has the model of each.

    `operator` is a name as in a specification ("GatherND"), or that of a sub-command ("gather-nd"). Other options are
    those of `tensorop check` that choose tests: `only`, `exclude`, `class_`.
    """
    if layout not in ("numpy", "onnx"):
        raise ValueError(f"expected the layout 'numpy' or 'onnx', got {layout!r}")
    tests = json.loads(run("check", "--json", *_options(options)).stdout)["tests"]
    ids = [test["id"] for test in tests if operator in (None, test["operator"], test["id"].split("/")[0])]
    ids = [id for id in ids if layout == "numpy" or "/onnx-" in id]
    if not ids:
        raise ValueError(f"no vectors of {operator!r} in the layout {layout!r}")
    only = _options({"only": sorted({id.rpartition("/")[0] + "/*" for id in ids})})
    with tempfile.TemporaryDirectory() as folder:
        run("check", "--export", Path(folder, "npy"), *only)
        if layout == "onnx":
            run("check", "--export", Path(folder, "onnx"), "--layout", "onnx", *only)
        return [_case(Path(folder, "npy", id), Path(folder, "onnx", id, "model.onnx")) for id in ids]


def _case(path: Path, model: Path) -> Case:
    case = json.loads((path / "case.json").read_text("utf-8"))
    several = case.get("outputs")
    return Case(
        **{name: case[name] for name in ("id", "specification", "operator", "version", "attributes", "why")},
        inputs=tuple(_loaded(path, tensor) for tensor in case["inputs"]),
        expected=_loaded(path, {"sequence": several} if several else case.get("output")),
        output_count=len(several) if several else case.get("output_count", 1),
        error=case.get("error"),
        class_=case["class"],
        model=model.read_bytes() if model.exists() else b"",
    )


def _loaded(folder: Path, tensor: Any) -> Any:
    """A tensor of a case. Without ml_dtypes, items that NumPy has no dtype for are void."""
    numpy = importlib.import_module("numpy")
    if tensor is None or isinstance(tensor, str):
        return None if tensor is None else numpy.load(folder / tensor)
    if "sequence" in tensor:
        return [_loaded(folder, one) for one in tensor["sequence"]]
    content = bytes.fromhex(tensor["hex"])
    try:
        dtype = numpy.dtype(getattr(importlib.import_module("ml_dtypes"), tensor["dtype"]))
    except (ImportError, AttributeError):
        dtype = numpy.dtype(f"V{max(1, len(content) // max(1, math.prod(tensor['shape'])))}")
    return numpy.frombuffer(content, dtype).reshape(tensor["shape"])
