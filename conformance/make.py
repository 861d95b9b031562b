#!/usr/bin/env python3
"""Makes the conformance vectors, `conformance/*.json`, a file an operator and a case a line, and packs them.

usage: make.py [--check]

The cases are in `vectors/`, an operator a module; expected outputs come from `vectors/model.py`, plain loops over places with
arithmetic of its own. The same Python files make the same bytes on every machine. Ids that have been released stay: make.py
refuses to drop one that `ids.txt` lists, and adds new ones to it. `vectors.zlib`, which becomes a part of the program, has
the files in the order of their names, without blanks and each with a NUL behind it. With --check nothing is written, and the
status is 1 if a file is not what would be. Needs Python 3.10 or newer, and nothing else.
"""
import argparse
import collections
import importlib
import json
import pathlib
import pkgutil
import sys
import zlib

import vectors

FOLDER = pathlib.Path(__file__).resolve().parent
IDS, PACKED = FOLDER / "ids.txt", FOLDER.parent / "crates" / "conformance" / "vectors.zlib"
MOST_ITEMS = 64
LARGER = ("long-axis", "indices-uint8-above-127")      # what needs more places than that: indices beyond a byte
MOST_PACKED = 300_000
FILES = {name: cases for module in pkgutil.iter_modules(vectors.__path__)
         for name, cases in getattr(importlib.import_module(f"vectors.{module.name}"), "FILES", {}).items()}


def check(cases):
    """What has to hold of all cases together; returns what does not."""
    wrong, ids, signatures = [], {}, {}
    for case in cases:
        if case.id in ids:
            wrong.append(f"{case.id}: there are two of this id")
        ids[case.id] = case
        first = signatures.setdefault(case.signature(), case.id)
        if first != case.id:
            wrong.append(f"{case.id}: tests the same as {first}")
        if any(len(one.items) > MOST_ITEMS for one in case.tensors()) and not case.id.endswith(LARGER):
            wrong.append(f"{case.id}: a tensor of more than {MOST_ITEMS} items")
    released = IDS.read_text().split() if IDS.exists() else []
    wrong += [f"{gone}: in {IDS.name}, and not made" for gone in released if gone not in ids]
    return wrong


def pack(made, only_check):
    """Writes the cases of all files as one that is deflated; returns its bytes."""
    whole = b""
    for _, of in sorted(made.items()):
        whole += json.dumps([json.loads(case.line()) for case in of], separators=(",", ":")).encode() + b"\0"
    # versions of zlib may deflate differently, so that only what is inflated is compared
    if only_check and (not PACKED.exists() or zlib.decompress(PACKED.read_bytes()) != whole):
        sys.exit(f"error: {PACKED.name} is not what make.py makes")
    if not only_check and (not PACKED.exists() or zlib.decompress(PACKED.read_bytes()) != whole):
        PACKED.write_bytes(zlib.compress(whole, 9))
    size = PACKED.stat().st_size
    if size > MOST_PACKED:
        sys.exit(f"error: {size} bytes packed, more than {MOST_PACKED}")
    return size


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a file is not what would be written")
    only_check = parser.parse_args().check
    made = {name: sorted(make(), key=lambda case: case.id) for name, make in FILES.items()}
    cases = [case for of in made.values() for case in of]
    wrong = check(cases)
    if wrong:
        sys.exit("\n".join(f"error: {one}" for one in wrong))
    files = {FOLDER / f"{name}.json": "[\n" + ",\n".join(case.line() for case in of) + "\n]\n" for name, of in made.items()}
    files[IDS] = "".join(f"{case.id}\n" for case in sorted(cases, key=lambda case: case.id))
    for path, text in files.items():
        if only_check and (not path.exists() or path.read_bytes() != text.encode()):
            sys.exit(f"error: {path.name} is not what make.py makes")
        if not only_check:
            path.write_bytes(text.encode())
    packed = pack(made, only_check)
    kinds = collections.Counter(case.kind for case in cases)
    for name, of in made.items():
        print(f"{name:17} {len(of):5} cases")
    print(f"{len(cases)} cases: {kinds['must']} must, {kinds['choice']} choice, {kinds['reject']} reject; "
          f"{len({case.corner() for case in cases})} without their versions; {packed} bytes packed")


if __name__ == "__main__":
    main()
