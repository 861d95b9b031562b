"""The fixture `golden` of pytest: compares tensors with the files in the folder `golden` beside a test."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from . import Error, _assert_same, _diff, _options, run, updates_golden
from ._operands import by_name, operand

# A test shows its own lines, not those of this module.
__tracebackhide__ = True

_ENDINGS = (".npy", ".npz", ".safetensors", ".json", ".pb", ".csv", ".tsv")

# The first bytes of the files that operands are made of.
_BEGINNINGS = {".npy": b"\x93NUMPY", ".npz": b"PK"}


class Golden:
    """The golden files of a test."""

    def __init__(self, path: Path, is_update: bool, keeps_actual: bool) -> None:
        self._path = path
        self._is_update = is_update
        self._keeps_actual = keeps_actual
        self._checked: list[Path] = []
        self.used: list[str] = []
        self.wrote: list[str] = []

    def path(self, name: str | None = None, ending: str = ".npy") -> Path:
        """The golden file of the test: TEST.npy, or TEST/NAME.npy. A name may have another ending of a format."""
        path = self._file(name, ending)
        self.used.append(str(path))
        return path

    def _file(self, name: str | None, ending: str = ".npy") -> Path:
        if name is None:
            return self._path.with_name(self._path.name + ending)
        stem, own = os.path.splitext(name)
        return self._path / (_safe(stem) + own if own in _ENDINGS else _safe(name) + ending)

    def check(self, actual: Any, name: str | None = None, **limits: Any) -> None:
        """Fails with the report of `tensorop diff` if `actual` is not the golden tensor.

        `actual` and `limits` are as in `assert_close`. A dictionary has a container: .npz, or .safetensors if the name
        ends so, or if there is such a file. A test that checks several things names them. A check that fails leaves
        `actual` beside the golden file, as NAME.actual.npy or in the format of the golden file.
        """
        path = self._file(name)
        tensors = by_name(actual)
        if tensors is not None:
            path = self._file(name, ".safetensors")
            path = path if path.exists() else self._file(name, ".npz")
        if path in self._checked:
            raise ValueError(f"{path} is checked twice in one test: give the second check a name")
        self._checked.append(path)
        self.used.append(str(path))
        kept = path.with_name(f"{path.stem}.actual{path.suffix}")
        if self._is_update:
            self._update(path, actual, limits)
        else:
            try:
                self._compare(path, actual, limits, kept)
            except Error:
                self._keep(kept, actual)
                raise
        try:
            kept.unlink()
        except OSError:
            pass

    def _compare(self, path: Path, actual: Any, limits: Mapping[str, Any], kept: Path) -> None:
        if not path.exists():
            more = self._keep(kept, actual)
            raise AssertionError(f"there is no golden file {path}: run pytest with --golden-update to write it{more}")
        result = _diff(path, actual, limits, "--keywords", "--golden", is_quick=True)
        more = "" if result.status == 0 else f"run pytest with --golden-update to accept it{self._keep(kept, actual)}"
        _assert_same(path, result, more)

    def _keep(self, kept: Path, actual: Any) -> str:
        """Leaves a tensor that is not the golden one beside the golden file. Returns the end of a sentence that says so."""
        if not self._keeps_actual:
            return ""
        try:
            found = operand(actual)
            kept.parent.mkdir(parents=True, exist_ok=True)
            begin, content = _BEGINNINGS.get(kept.suffix), found.content
            if isinstance(content, bytes) and begin and content.startswith(begin) and not found.dtype:
                kept.write_bytes(content)
            else:
                given, tensor = (content, "-") if isinstance(content, bytes) else (b"", content)
                run("convert", *_options({"dtype": found.dtype}), "-o", kept, "--", tensor, input=given)
        except (OSError, Error, TypeError, ValueError):
            # the difference is what the test is about
            return ""
        return f"; the actual tensor is in {kept.name}"

    def _update(self, path: Path, actual: Any, limits: Mapping[str, Any]) -> None:
        result = _diff(path, actual, limits, "--accept", "--json")
        found = json.loads(result.stdout)
        lines = [line for line in result.stderr.splitlines() if line.startswith("wrote ")]
        # The program keeps a tensor that only the golden file has. Here it would make every later check fail.
        gone = [tensor["name"] for tensor in found.get("tensors", []) if tensor["verdict"] == "missing"]
        if gone:
            run("convert", path, "-o", path, *_options({"exclude": [re.sub(r"[*?\[\]{}]", r"[\g<0>]", name) for name in gone]}))
            left = len(found["tensors"]) - len(gone)
            lines = [f"wrote {path}: {left} tensor{'' if left == 1 else 's'}"]
        self.wrote += lines


def _safe(text: str) -> str:
    """A part of the name of a file. Different texts have different names, also where case does not count.

    None ends in `.actual`, which is what a failed check leaves.
    """
    if re.fullmatch(r"[a-z0-9_+=,@-][a-z0-9_.+=,@-]{0,99}", text) and not text.endswith((".", ".actual")):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return re.sub(r"[^A-Za-z0-9_.+=,@-]+", "_", text).strip(".")[:80] + "~" + digest


class _Session:
    """What the tests of a run have used, gathered from their reports, which xdist brings from its workers."""

    def __init__(self, config: pytest.Config) -> None:
        folder = config.getoption("golden_dir")
        self.root = config.rootpath
        self.folder = folder and self.root / folder
        try:
            self.is_update = updates_golden() or bool(config.getoption("golden_update"))
        except Error as error:
            raise pytest.UsageError(str(error)) from None
        self.keeps_actual = config.getoption("golden_keep_actual") == "yes"
        # the tests of each module that were collected, and how many of all do not run
        self.collected: dict[Path, set[str]] = {}
        self.deselected = 0
        self.used: set[Path] = set()
        self.wrote: list[str] = []
        # for each module that ran: how many tests it has, and those that passed
        self.counts: dict[Path, int] = {}
        self.passed: dict[Path, set[str]] = {}

    def beside(self, module: Path) -> Path:
        """The folder with the golden files of a module."""
        base = self.folder / os.path.relpath(module.parent, self.root) if self.folder else module.parent / "golden"
        return base / module.stem

    def golden(self, request: pytest.FixtureRequest) -> Golden:
        function, _, id = request.node.name.partition("[")
        name = f"{request.cls.__qualname__}.{function}" if request.cls else function
        path = self.beside(request.path) / (f"{name}-{_safe(id[:-1])}" if id else name)
        return Golden(path, self.is_update, self.keeps_actual)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        self.collected.setdefault(item.path, set()).add(item.nodeid)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        # some plugins leave tests out without saying so
        chosen = {item.nodeid for item in session.items}
        self.deselected = sum(len(tests - chosen) for tests in self.collected.values())

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, None]:
        report = (yield).get_result()
        golden = item.stash.get(_GOLDEN, None)
        of_module = (str(item.path), len(self.collected.get(item.path, ())), self.deselected)
        report.tensorop_golden = (*of_module, golden.used if golden else [], golden.wrote if golden else [])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = getattr(report, "tensorop_golden", None)
        if found is None:
            return
        path, count, self.deselected, used, wrote = found
        module = Path(path)
        self.counts[module] = count
        passed = self.passed.setdefault(module, set())
        if report.when == "call" and report.outcome == "passed":
            passed.add(report.nodeid)
        self.used |= set(map(Path, used))
        self.wrote += wrote if report.when == "teardown" else []

    def is_whole(self, module: Path) -> bool:
        """Whether all tests of a module ran and passed."""
        return len(self.passed[module]) == self.counts[module]

    def unused(self) -> Iterator[Path]:
        """The files that no test of a whole module used, and those of modules that are gone."""
        for module in filter(self.is_whole, self.counts):
            folder = self.beside(module)
            gone = [path for path in folder.parent.glob("test_*") if not _exists(module.parent / path.name)]
            for file in (file for one in {folder, *gone} for file in one.rglob("*") if file.is_file()):
                # no golden file has another ending
                if file.suffix in _ENDINGS and not self.used.intersection((file, *file.parents)):
                    yield file

    def why_nothing_is_known(self, config: pytest.Config, exitstatus: int) -> str | None:
        """Why files without a use may be those of tests that did not run."""
        if not any(self.passed.values()):
            return "no test ran"
        if exitstatus != 0:
            return "the run failed"
        if config.getoption("lf", False):
            return "--lf leaves tests out"
        if any("::" in arg for arg in config.args):
            return "tests were chosen by name"
        return None

    def prune(self, unused: Sequence[Path]) -> Iterator[str]:
        """Removes files without a use, and says so, and of which modules it did not."""
        for file in unused:
            file.unlink()
            yield f"removed {file}"
            for folder in file.parents:
                if folder.name == "golden" or folder == self.folder or any(folder.iterdir()):
                    break
                folder.rmdir()
        for module in sorted(self.counts):
            if not self.is_whole(module) and self.beside(module).exists():
                yield f"left {self.beside(module)}: not all tests of {module.name} ran and passed"

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
        if hasattr(config, "workerinput"):
            # a worker of xdist, which knows of some tests alone
            return
        is_pruned = config.getoption("golden_prune")
        why = self.why_nothing_is_known(config, exitstatus)
        if is_pruned and not why and self.deselected:
            why = f"{self.deselected} test{' was' if self.deselected == 1 else 's were'} deselected"
        unused = [] if why else sorted(set(self.unused()))
        lines = list(self.wrote)
        if not is_pruned:
            lines += [f"unused {path}" for path in unused]
        elif why:
            lines.append(f"--golden-prune removed nothing: {why}")
        else:
            lines += self.prune(unused)
        if lines:
            terminalreporter.section("golden files")
            here = str(config.invocation_params.dir) + os.sep
            for line in lines:
                terminalreporter.line(line.replace(here, ""))


def _exists(stem: Path) -> bool:
    """Whether there is a module or a package of this name."""
    return stem.is_dir() or stem.with_name(stem.name + ".py").exists()


_GOLDEN = pytest.StashKey[Golden]()
_SESSION = pytest.StashKey[_Session]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("golden files of tensorop")
    group.addoption("--golden-update", action="store_true", help="write the golden files that differ or are missing")
    group.addoption("--golden-prune", action="store_true", help="remove the golden files that no test has used, after a run of all tests")
    keep_help = "whether a check that fails leaves the tensor beside its golden file, as NAME.actual.npy (default: yes)"
    group.addoption("--golden-keep-actual", choices=("yes", "no"), default="yes", help=keep_help)
    group.addoption("--golden-dir", metavar="DIR", help="golden files are in DIR, below the root, and not beside the tests")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_SESSION] = _Session(config)
    config.pluginmanager.register(config.stash[_SESSION], "tensorop-golden-session")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Golden files of this test: `golden.check(actual, name=None, **limits)`."""
    made = request.config.stash[_SESSION].golden(request)
    request.node.stash[_GOLDEN] = made
    return made
