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

from . import _diff, assert_close

_ENDINGS = (".npy", ".npz", ".safetensors", ".json", ".pb", ".csv", ".tsv")


class Golden:
    """The golden files of a test."""

    def __init__(self, path: Path, is_update: bool) -> None:
        self._path = path
        self._is_update = is_update
        self.used: list[str] = []
        self.wrote: list[str] = []

    def path(self, name: str | None = None, ending: str = ".npy") -> Path:
        """The golden file of the test: TEST.npy, or TEST/NAME.npy. A name may have another ending of a format."""
        if name is None:
            return self._path.with_name(self._path.name + ending)
        stem, own = os.path.splitext(name)
        return self._path / (_safe(stem) + own if own in _ENDINGS else _safe(name) + ending)

    def check(self, actual: Any, name: str | None = None, **limits: Any) -> None:
        """Fails with the report of `tensorop diff` if `actual` is not the golden tensor.

        `actual` and `limits` are as in `assert_close`. A dictionary has a container: .npz, or .safetensors if the name
        ends so, or if there is such a file. A test that checks several things names them.
        """
        __tracebackhide__ = True
        path = self.path(name)
        if isinstance(actual, Mapping):
            path = self.path(name, ".safetensors")
            path = path if path.exists() else self.path(name, ".npz")
        if str(path) in self.used:
            raise ValueError(f"{path} is checked twice in one test: give the second check a name")
        self.used.append(str(path))
        if self._is_update:
            self._update(path, actual, limits)
        elif not path.exists():
            raise AssertionError(f"there is no golden file {path}: run pytest with --golden-update to write it")
        else:
            assert_close(actual, path, **limits)

    def _update(self, path: Path, actual: Any, limits: Mapping[str, Any]) -> None:
        result = _diff(path, actual, limits, "--accept", "--json")
        # The program keeps a tensor that only the golden file has. Here it would make every later check fail.
        if (json.loads(result.stdout).get("counts") or {}).get("missing"):
            path.unlink()
            result = _diff(path, actual, limits, "--accept", "--json")
        self.wrote += [line for line in result.stderr.splitlines() if line.startswith("wrote ")]


def _safe(text: str) -> str:
    """A part of the name of a file. Different texts have different names, also where case does not count."""
    if re.fullmatch(r"[a-z0-9_+=,@-][a-z0-9_.+=,@-]{0,99}", text) and not text.endswith("."):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return re.sub(r"[^A-Za-z0-9_.+=,@-]+", "_", text).strip(".")[:80] + "~" + digest


class _Session:
    """What the tests of a run have used, gathered from their reports, which xdist brings from its workers."""

    def __init__(self, config: pytest.Config) -> None:
        folder = config.getoption("golden_dir")
        self.root = config.rootpath
        self.folder = folder and self.root / folder
        self.is_update = config.getoption("golden_update") or os.environ.get("TENSOROP_UPDATE_GOLDEN") == "1"
        self.deselected: set[Path] = set()
        self.used: set[Path] = set()
        self.wrote: list[str] = []
        # for each module that ran: whether all of its tests did
        self.whole: dict[Path, bool] = {}

    def beside(self, module: Path) -> Path:
        """The folder with the golden files of a module."""
        base = self.folder / os.path.relpath(module.parent, self.root) if self.folder else module.parent / "golden"
        return base / module.stem

    def golden(self, request: pytest.FixtureRequest) -> Golden:
        function, _, id = request.node.name.partition("[")
        name = f"{request.cls.__qualname__}.{function}" if request.cls else function
        return Golden(self.beside(request.path) / (f"{name}-{_safe(id[:-1])}" if id else name), self.is_update)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.deselected |= {item.path for item in items}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, None]:
        report = (yield).get_result()
        golden = item.stash.get(_GOLDEN, None)
        is_whole = report.outcome == "passed" and item.path not in self.deselected
        report.tensorop_golden = (str(item.path), is_whole, golden.used if golden else [], golden.wrote if golden else [])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        module, is_whole, used, wrote = getattr(report, "tensorop_golden", ("", False, [], []))
        self.whole[Path(module)] = is_whole and self.whole.get(Path(module), True)
        self.used |= set(map(Path, used))
        self.wrote += wrote if report.when == "teardown" else []

    def unused(self) -> Iterator[Path]:
        """The files that no test of a whole module used, and those of modules that are gone."""
        for module in (module for module, is_whole in self.whole.items() if is_whole):
            folder = self.beside(module)
            gone = [path for path in folder.parent.glob("test_*") if not _exists(module.parent / path.name)]
            for file in (file for one in {folder, *gone} for file in one.rglob("*") if file.is_file()):
                if not self.used.intersection((file, *file.parents)):
                    yield file

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
        is_part = config.getoption("lf", False) or any("::" in arg for arg in config.args)
        unused = [] if is_part or exitstatus != 0 else sorted(set(self.unused()))
        if self.wrote or unused:
            terminalreporter.section("golden files")
            here = str(config.invocation_params.dir) + os.sep
            for line in [*self.wrote, *(f"unused {path}" for path in unused)]:
                terminalreporter.line(line.replace(here, ""))


def _exists(stem: Path) -> bool:
    """Whether there is a module or a package of this name."""
    return stem.is_dir() or stem.with_name(stem.name + ".py").exists()


_GOLDEN = pytest.StashKey[Golden]()
_SESSION = pytest.StashKey[_Session]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("golden files of tensorop")
    group.addoption("--golden-update", action="store_true", help="write the golden files that differ or are missing")
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
