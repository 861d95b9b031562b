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
    missing.stdout.fnmatch_lines(["*there is no golden file *test_row.npy: run pytest with --golden-update to write it; the actual tensor is in test_row.actual.npy"])
    assert goldens(pytester) == [str(Path("test_a", f"test_{name}.actual.npy")) for name in ("near", "row")]
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
    accept = "E *run pytest with --golden-update to accept it; the actual tensor is in test_row.actual.npy"
    failed.stdout.fnmatch_lines(["E * atol=1", accept])
    failed.stdout.no_fnmatch_line("E *--atol*")
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


@pytest.mark.parametrize("value", ["on", "2"])
def test_an_unknown_value_of_the_variable_is_an_error(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    pytester.makepyfile(test_a="def test_it(golden): golden.check(1)")
    monkeypatch.setenv("TENSOROP_UPDATE_GOLDEN", value)
    found = run(pytester, "--golden-update")
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines([f'*TENSOROP_UPDATE_GOLDEN: "{value}" is not known, expected 1, true, yes, *'])
    assert goldens(pytester) == []
    monkeypatch.setenv("TENSOROP_UPDATE_GOLDEN", "no")
    run(pytester).assert_outcomes(failed=1)
    monkeypatch.setenv("TENSOROP_UPDATE_GOLDEN", "True")
    run(pytester).assert_outcomes(passed=1)
    assert goldens(pytester) == [str(Path("test_a/test_it.npy"))]


def test_numbers_lists_and_nested_dictionaries(pytester: pytest.Pytester) -> None:
    test = """
        def test_it(golden):
            golden.check(0.5, "number")
            golden.check([1, 2, {0}], "list")
            golden.check(([1, 2], [3.0, 4]), "tuple")
            golden.check({{"layer": {{"w": [1.5], "b": {0}}}, "loss": 1.0}}, "nested")
            golden.check({{"layer": {{"w": [1.5]}}}}, "one.safetensors")
    """
    pytester.makepyfile(test_a=test.format(3))
    run(pytester, "--golden-update").stdout.fnmatch_lines(["wrote *nested.npz: 3 tensors"])
    run(pytester).assert_outcomes(passed=1)
    listed = pytester.run(os.environ["TENSOROP"], "info", "golden/test_a/test_it/nested.npz")
    listed.stdout.fnmatch_lines(["*layer.b*int64*", "*layer.w*float64*", "*loss*float64*"])
    # another dtype is a difference, and can be accepted
    pytester.makepyfile(test_a=test.format(3.5))
    run(pytester).stdout.fnmatch_lines(["E *different: dtype float64, expected int64"])
    run(pytester, "--golden-update").assert_outcomes(passed=1)
    run(pytester).assert_outcomes(passed=1)


def test_a_failed_check_leaves_the_actual_tensor(pytester: pytest.Pytester) -> None:
    test = """
        import array, pytest

        CHECKS = [
            ("row.npy", array.array("d", [1, {0}])),
            ("pair.npz", {{"a": array.array("d", [1, {0}]), "b": {{"c": [1]}}}}),
            ("pair.safetensors", {{"a": array.array("d", [1, {0}]), "b": {{"c": [1]}}}}),
            ("text.json", [1, {0}]),
            ("path.npy", "[1, {0}]"),
        ]

        @pytest.mark.parametrize("name,actual", CHECKS, ids=range(5))
        def test_it(golden, name, actual):
            golden.check(actual, name)
    """
    pytester.makepyfile(test_a=test.format(2))
    run(pytester, "--golden-update").assert_outcomes(passed=5)
    golden = goldens(pytester)
    pytester.makepyfile(test_a=test.format(3))
    run(pytester, "--golden-keep-actual=no").assert_outcomes(failed=5)
    assert goldens(pytester) == golden
    run(pytester).assert_outcomes(failed=5)
    actual = sorted(f"{stem}.actual.{ending}" for stem, _, ending in (name.rpartition(".") for name in golden))
    assert goldens(pytester) == sorted([*golden, *actual])
    # what is left is the tensor that would be accepted
    run(pytester, "--golden-update").assert_outcomes(passed=5)
    assert goldens(pytester) == golden
    pytester.makepyfile(test_a=test.format(2))
    run(pytester).assert_outcomes(failed=5)
    left = {name: (pytester.path / "golden" / name).read_bytes() for name in actual}
    run(pytester, "--golden-update").assert_outcomes(passed=5)
    for name, content in left.items():
        path = pytester.path / "golden" / name
        path.write_bytes(content)
        pair = pytester.run(os.environ["TENSOROP"], "diff", str(path).replace(".actual", ""), path)
        assert pair.ret == 0, pair.outlines
    # a check that passes removes it
    run(pytester).assert_outcomes(passed=5)
    assert goldens(pytester) == golden


def test_no_golden_file_has_the_name_of_an_actual_tensor(pytester: pytest.Pytester) -> None:
    test = """
        import pytest

        @pytest.mark.parametrize("id", ["x", "x.actual"], ids=str)
        def test_it(golden, id):
            golden.check([{0}])
            golden.check([{0}], "y")
            golden.check([1], "y.actual")
            golden.check([1], "y.actual.npy")
    """
    pytester.makepyfile(test_a=test.format(1).replace('            golden.check([1], "y.actual.npy")\n', ""))
    run(pytester, "--golden-update").assert_outcomes(passed=2)
    golden = goldens(pytester)
    assert len(golden) == 6 and not [name for name in golden if name.endswith(".actual.npy")]
    run(pytester).assert_outcomes(passed=2)
    assert goldens(pytester) == golden
    pytester.makepyfile(test_a=test.format(1))
    run(pytester).stdout.fnmatch_lines(["*is checked twice in one test*"])


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


WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])


@WORKERS
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


@WORKERS
def test_unused_files_are_removed_after_a_run_of_all_tests(pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    test = """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_a(golden, number):
            golden.check(number)
    """
    other = "def test_b(golden):\n    golden.check(1, 'one')\n    assert golden.path('by_hand').name == 'by_hand.npy'\n"
    pytester.makepyfile(test_a=test, test_b=other + "def test_c(): pass")
    run(pytester, "--golden-update").assert_outcomes(passed=6)
    used = goldens(pytester)
    unused = ["test_a/test_a-9.npy", "test_a/test_gone/x.npz", "test_b/test_b/two.actual.npy", "test_gone/test_x.json"]
    # files that golden checks do not make, and one that a test reads itself
    others = ["data/kept.npy", "test_a/README.md", "test_a/.gitattributes", "test_b/test_b/by_hand.npy"]

    def put() -> list[str]:
        for name in (*unused, *others):
            path = pytester.path / "golden" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
        return goldens(pytester)

    everything = put()
    assert len(everything) == len(used) + 8
    refused: list[tuple[list[str], str]] = [
        (["-k", "not test_c"], "1 test was deselected"),
        (["-k", "test_a"], "2 tests were deselected"),
        (["--deselect", "test_a.py::test_a[0]"], "1 test was deselected"),
        (["test_a.py::test_a"], "tests were chosen by name"),
        (["-p", "cacheprovider", "--lf"], "--lf leaves tests out"),
        (["-k", "nothing"], "no test ran"),
        (["--collect-only"], "no test ran"),
    ]
    for args, why in refused[: 2 if workers else None]:
        run(pytester, *workers, "--golden-prune", *args).stdout.fnmatch_lines([f"--golden-prune removed nothing: {why}"])
        assert goldens(pytester) == everything, args
    pytester.makepyfile(test_z="import no_such_module\ndef test_z(): pass")
    for option in ("-x", "--continue-on-collection-errors"):
        run(pytester, *workers, "--golden-prune", option).stdout.fnmatch_lines(["--golden-prune removed nothing: *"])
        assert goldens(pytester) == everything, option
    pytester.makepyfile(test_z="def test_z(): assert False")
    run(pytester, *workers, "--golden-prune").stdout.fnmatch_lines(["--golden-prune removed nothing: the run failed"])
    assert goldens(pytester) == everything
    # a plugin that leaves out tests and does not say so
    pytester.makepyfile(test_z="def test_z(): pass")
    pytester.makeconftest("def pytest_collection_modifyitems(items): del items[0]")
    found = run(pytester, *workers, "--golden-prune")
    found.stdout.fnmatch_lines(["--golden-prune removed nothing: 1 test was deselected"])
    assert goldens(pytester) == everything
    pytester.makeconftest("")
    # a module of which a test was skipped keeps its files
    pytester.makepyfile(test_b=other + "def test_c():\n    import pytest\n    pytest.skip()")
    found = run(pytester, *workers, "--golden-prune")
    found.stdout.fnmatch_lines([f"left {Path('golden/test_b')}: not all tests of test_b.py ran and passed"])
    assert goldens(pytester) == sorted([*used, *others, str(Path(unused[2]))])
    assert not (pytester.path / "golden/test_gone").exists() and not (pytester.path / "golden/test_a/test_gone").exists()
    put()
    pytester.makepyfile(test_b=other + "def test_c(): pass")
    found = run(pytester, *workers, "--golden-prune")
    found.assert_outcomes(passed=7)
    found.stdout.fnmatch_lines([f"removed {Path('golden', name)}" for name in unused])
    assert goldens(pytester) == sorted([*used, *others])
    run(pytester, *workers, "--golden-prune").stdout.no_fnmatch_line("*golden files*")
    run(pytester, *workers).assert_outcomes(passed=7)


def test_tuples_of_arrays_and_texts(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_a="""
        import numpy as np

        def test_it(golden):
            golden.check((np.eye(2), np.zeros(3, "f4")))
            golden.check([np.eye(2), np.eye(2)], "same")
            for name, texts in {"a": ["007", "1e3"], "b": ["true", "x"], "c": ["nan", ""], "d": ["1;2", "3;4"]}.items():
                for ending in ("csv", "tsv", "json"):
                    golden.check(texts, f"{name}.{ending}")
    """
    )
    run(pytester, "--golden-update").assert_outcomes(passed=1)
    run(pytester).assert_outcomes(passed=1)
    listed = pytester.run(os.environ["TENSOROP"], "info", "golden/test_a/test_it.npz", "golden/test_a/test_it/same.npy")
    listed.stdout.fnmatch_lines(["*0 *float64*", "*1 *float32*", "*same.npy*2, 2, 2*"])


def test_a_damaged_golden_file_is_different(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_a="def test_it(golden): golden.check([1.0, 2.0])")
    run(pytester, "--golden-update").assert_outcomes(passed=1)
    golden = pytester.path / "golden/test_a/test_it.npy"
    whole = golden.read_bytes()
    for content in (b"", whole[:130], b"no tensor"):
        golden.write_bytes(content)
        failed = run(pytester)
        failed.assert_outcomes(failed=1)
        failed.stdout.fnmatch_lines(["E *not the tensor of *test_it.npy:", "E *different: EXPECTED *", "E *run pytest with --golden-update to accept it*"])
        failed.stdout.no_fnmatch_line("*TENSOROP_UPDATE_GOLDEN*")
        run(pytester, "--golden-update").stdout.fnmatch_lines(["wrote *test_it.npy: 1 tensor"])
        assert golden.read_bytes() == whole


def test_a_traceback_has_no_line_of_the_module(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_a="""
        import numpy as np, tensorop_cli

        def test_missing(golden): golden.check([1.0])
        def test_lists(golden): golden.check([[1], [2, 3]], "lists")
        def test_masked(golden): golden.check(np.ma.masked_array([1.0], [True]), "masked")
        def test_twice(golden): golden.check([1.0], "x"); golden.check([1.0], "x")
        def test_limit(golden): golden.check([1.0], "limit", no_such_limit=1)
        def test_run(): tensorop_cli.run("show", "none.npy")
        def test_close(): tensorop_cli.assert_close([1.0], [2.0])
        def test_diff(): tensorop_cli.diff("none.npy", [2.0])
        def test_kinds(): tensorop_cli.assert_close([1.0], {1, 2})
        def test_cases(): tensorop_cli.cases("NoSuchOperator")
    """
    )
    for args in ((), ("--golden-update",)):
        failed = run(pytester, *args)
        assert failed.parseoutcomes()["failed"] >= 8
        failed.stdout.no_re_match_line(r".*tensorop_cli[/\\\\]\w+\.py:\d+")
