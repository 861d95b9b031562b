"""The fixture `golden`, each time in a pytest of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PLUGIN = ("-p", "tensorop_cli.pytest_plugin", "-p", "no:cacheprovider")


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(*PLUGIN, *args)


def goldens(pytester: pytest.Pytester, folder: str = "golden") -> list[str]:
    paths = (path for path in (pytester.path / folder).rglob("*") if path.is_file())
    return sorted(str(path.relative_to(pytester.path / folder)) for path in paths)


@pytest.fixture(autouse=True)
def no_update(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TENSOROP_UPDATE_GOLDEN", raising=False)


def test_a_golden_file_is_written_checked_and_written_again(pytester: pytest.Pytester) -> None:
    test = """
        import numpy as np

        def test_row(golden):
            golden.check(np.array([1.0, 2.0, {}]))

        def test_near(golden):
            golden.check(np.array([1.0, {}]), rtol=1e-3)
    """
    pytester.makepyfile(test_a=test.format(3, 1))
    missing = run(pytester)
    missing.assert_outcomes(failed=2)
    missing.stdout.fnmatch_lines(["*there is no golden file *test_row.npy: run pytest with --golden-update to write it"])
    written = run(pytester, "--golden-update")
    written.assert_outcomes(passed=2)
    written.stdout.fnmatch_lines(["*= golden files =*", f"wrote {Path('golden/test_a/test_row.npy')}: 1 tensor"])
    again = run(pytester)
    again.assert_outcomes(passed=2)
    again.stdout.no_fnmatch_line("*golden files*")
    pytester.makepyfile(test_a=test.format(4, 1.0001))
    failed = run(pytester)
    failed.assert_outcomes(failed=1, passed=1)
    failed.stdout.fnmatch_lines(["*not the tensor of *test_row.npy:", "E *different: 1 of 3 items*"])
    # only what differs is written
    written = run(pytester, "--golden-update")
    written.stdout.fnmatch_lines(["wrote *test_row.npy: 1 tensor"])
    written.stdout.no_fnmatch_line("wrote *test_near.npy*")
    run(pytester).assert_outcomes(passed=2)


def test_the_variable_of_the_program_updates_too(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(test_a="import array\ndef test_it(golden): golden.check(dict.fromkeys('ab', array.array('d', [1])))")
    monkeypatch.setenv("TENSOROP_UPDATE_GOLDEN", "1")
    run(pytester).stdout.fnmatch_lines(["wrote *test_it.npz: 2 tensors"])
    pytester.makepyfile(test_a="import array\ndef test_it(golden): golden.check(dict.fromkeys('bc', array.array('d', [1])))")
    run(pytester).stdout.fnmatch_lines(["wrote *test_it.npz: 2 tensors"])
    monkeypatch.delenv("TENSOROP_UPDATE_GOLDEN")
    run(pytester).assert_outcomes(passed=1)


def test_names_are_safe_and_differ(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_a="""
        import array, pytest

        IDS = ["a-b", "a/b", "a_b", "a:b", "A-b", "", "..", "x" * 300, "[", "a::b", "nul\\0", "\\xe9"]

        @pytest.mark.parametrize("number", range(len(IDS)), ids=IDS)
        def test_id(golden, number):
            golden.check(array.array("q", [number]))

        class TestClass:
            @pytest.mark.parametrize("number", [1], ids=["a-b"])
            def test_id(self, golden, number):
                golden.check(array.array("q", [100]))
                golden.check(array.array("q", [101]), "a-b")
                golden.check(array.array("q", [102]), "../../a-b")
                golden.check(array.array("q", [103]), "layer.0.weight")
                golden.check({"w": array.array("q", [104])}, "all.safetensors")
                golden.check({"w": array.array("q", [105])}, "all.npz")
        """
    )
    run(pytester, "--golden-update").assert_outcomes(passed=13)
    run(pytester).assert_outcomes(passed=13)
    found = goldens(pytester)
    assert len({name.lower() for name in found}) == len(found) == 18, found
    folder = Path("test_a")
    for name in ("test_id-a-b.npy", "TestClass.test_id-a-b.npy", "TestClass.test_id-a-b/layer.0.weight.npy"):
        assert str(folder / name) in found
    for name in found:
        assert all(len(part) < 150 and not part.startswith(".") for part in Path(name).parts), name


def test_a_container_holds_a_dictionary(pytester: pytest.Pytester) -> None:
    test = "import array\ndef test_it(golden): golden.check({{name: array.array('f', [1]) for name in '{}'}})"
    pytester.makepyfile(test_a=test.format("ab"))
    run(pytester, "--golden-update").stdout.fnmatch_lines(["wrote *test_it.npz: 2 tensors"])
    # a tensor that is gone goes from the file, too
    pytester.makepyfile(test_a=test.format("bc"))
    run(pytester).stdout.fnmatch_lines(["*missing  a: *", "*extra    c: *"])
    run(pytester, "--golden-update").assert_outcomes(passed=1)
    run(pytester).assert_outcomes(passed=1)
    # a .safetensors file that is there is the golden file
    golden = pytester.path / "golden/test_a/test_it.npz"
    pytester.run(os.environ["TENSOROP"], "convert", golden, "-o", golden.with_suffix(".safetensors"))
    golden.unlink()
    run(pytester).assert_outcomes(passed=1)
    pytester.makepyfile(test_a=test.format("c"))
    run(pytester, "--golden-update").stdout.fnmatch_lines(["wrote *test_it.safetensors: 1 tensor"])
    assert goldens(pytester) == [str(Path("test_a/test_it.safetensors"))]


def test_a_second_check_needs_a_name(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_a="def test_it(golden):\n    golden.check('[1]')\n    golden.check('[2]')")
    run(pytester, "--golden-update").stdout.fnmatch_lines(["*is checked twice in one test: give the second check a name"])


def test_another_folder_repeats_those_of_the_tests(pytester: pytest.Pytester) -> None:
    for folder in ("one", "two"):
        module = pytester.mkpydir(folder) / "test_a.py"
        module.write_text(f"def test_it(golden, monkeypatch):\n    monkeypatch.chdir('/')\n    golden.check('{len(folder)}')")
    run(pytester, "--golden-update", "--golden-dir", "data/golden").assert_outcomes(passed=2)
    assert goldens(pytester, "data/golden") == [str(Path(f"{folder}/test_a/test_it.npy")) for folder in ("one", "two")]
    run(pytester, "--golden-dir", str(pytester.path / "data/golden")).assert_outcomes(passed=2)
    run(pytester).assert_outcomes(failed=2)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_unused_files_are_named_after_a_whole_run(pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    test = "import array, pytest\n" + "".join(f"def test_{n}(golden): golden.check(array.array('d', [{n}]))\n" for n in range(8))
    pytester.makepyfile(test_a=test, test_b="def test_it(golden): golden.check('[1]', 'one')\ndef test_other(): pass")
    written = run(pytester, *workers, "--golden-update")
    written.assert_outcomes(passed=10)
    assert len(goldens(pytester)) == 9
    for n in range(8):
        written.stdout.fnmatch_lines([f"wrote *test_{n}.npy: 1 tensor"])
    run(pytester, *workers).stdout.no_fnmatch_line("*golden files*")
    for unused in ("test_a/test_8.npy", "test_b/test_it/two.npy", "test_gone/test_x.npz", "data/kept.npy"):
        path = pytester.path / "golden" / unused
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    named = [f"unused {Path('golden', name)}" for name in ("test_a/test_8.npy", "test_b/test_it/two.npy", "test_gone/test_x.npz")]
    everything = run(pytester, *workers)
    everything.stdout.fnmatch_lines(["*golden files*", *named])
    everything.stdout.no_fnmatch_line("*kept.npy")
    # a module of which something was left out says nothing of its files
    part = run(pytester, *workers, "-k", "test_1 or test_it or test_other")
    part.assert_outcomes(passed=3, deselected=0 if workers else 7)
    part.stdout.fnmatch_lines(named[1:])
    part.stdout.no_fnmatch_line("*test_8.npy")
    run(pytester, *workers, "test_a.py::test_1").stdout.no_fnmatch_line("unused *")
    pytester.makepyfile(test_b="import pytest\ndef test_it(golden): pytest.skip()")
    run(pytester, *workers).stdout.no_fnmatch_line("unused *test_it*")
    pytester.makepyfile(test_b="def test_it(golden): assert False")
    run(pytester, *workers).stdout.no_fnmatch_line("unused *")
