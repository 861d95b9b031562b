#!/usr/bin/env python3
"""Counts lines of code by crate: what is neither blank, nor a comment, nor a test. The gate prints it.

usage: ci/lines.py [FOLDER]

A test is a file or a folder called tests, a file whose name ends in _tests.rs, and an item under an attribute that begins with
#[cfg(test) or #[cfg(all(test. Files with code are counted, too, and those above the limit before their tests are named.
"""
import re
import sys
from pathlib import Path

# of lines of any kind before the tests
LIMIT = 500
TEST = re.compile(r"#\[cfg\((all\()?test\b")
# what may hold brackets or slashes that are no code
QUOTED = re.compile(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*')


def is_test(path):
    return "tests" in path.with_suffix("").parts or path.stem.endswith("_tests")


def without_tests(text):
    """Yields the lines outside of items that only tests have."""
    depth, is_inside, has_body = 0, False, False
    for line in text.splitlines():
        if not is_inside and TEST.match(line.lstrip()):
            depth, is_inside, has_body = 0, True, False
        if not is_inside:
            yield line
            continue
        bare = QUOTED.sub("", line)
        depth += bare.count("{") - bare.count("}")
        has_body |= "{" in bare
        is_inside = depth > 0 or not (has_body or bare.rstrip().endswith(";"))


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    lines, files, long = 0, 0, []
    for folder in [root / "src", *sorted(root.glob("crates/*/src"))]:
        in_folder = 0
        for path in sorted(folder.rglob("*.rs")):
            if is_test(path.relative_to(folder)):
                continue
            text = path.read_text()
            code = [line for line in map(str.strip, without_tests(text)) if line and not line.startswith("//")]
            in_folder += len(code)
            files += bool(code)
            before = next((n for n, line in enumerate(text.splitlines()) if TEST.match(line)), len(text.splitlines()))
            long += [f"{path}: {before} lines before its tests"] if before > LIMIT else []
        print(f"{in_folder:7,}  {folder.relative_to(root)}")
        lines += in_folder
    print(f"{lines:7,}  lines of code in {files} files")
    print(*long, sep="\n", end="\n" if long else "")


if __name__ == "__main__":
    main()
