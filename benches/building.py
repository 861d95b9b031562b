#!/usr/bin/env python3
"""What a cold release build costs, package by package, of one commit or of several in turn.

Each commit is checked out into a folder of its own and built into an empty one. The times are processor seconds of rustc and of
the build scripts with the compilers that these start: they do not depend on how many cores there are, but on who else uses them,
so commits that are compared are built one after the other here, and the ratio is that of the first to each other one.

    benches/building.py HEAD cc3f9e5
    benches/building.py HEAD cc3f9e5 --features cli,predicates,zarr    # the same features where defaults differ
    benches/building.py HEAD cc3f9e5 --lines    # what the compiler makes of the crate itself: functions and lines of LLVM's code

--lines takes a Rust compiler of its own turn for each commit, without optimisation: the lines are what is handed to LLVM.
"""

import argparse
import collections
import os
import re
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMES = "BUILDING_TIMES"


def wrap(command):
    """As cargo's RUSTC_WRAPPER: runs rustc and appends its processor time and the name of the crate to a file."""
    # cargo hands its rustc processes a pipe through which they share its jobs
    status = subprocess.run(command, close_fds=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    name = command[command.index("--crate-name") + 1] if "--crate-name" in command else "rustc"
    with open(os.environ[TIMES], "a") as file:
        file.write(f"{used.ru_utime + used.ru_stime} {name}\n")
    return status


def build(commit, options, folder):
    """The processor seconds of a cold build of a commit: all, and those of each package."""
    tree, target, times = (os.path.join(folder, name) for name in ("tree", "target", "times"))
    subprocess.run(["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", tree, commit], check=True)
    try:
        features = ["--no-default-features", "--features", options.features] if options.features else []
        environment = {**os.environ, "CARGO_TARGET_DIR": target, "RUSTC_WRAPPER": os.path.abspath(__file__), TIMES: times}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", *features], cwd=tree, env=environment, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        packages = collections.Counter()
        with open(times) as file:
            for line in file:
                seconds, name = line.split()
                packages[name] += float(seconds)
        packages["build scripts, C, cargo"] = total - sum(packages.values())
        return total, packages, lines(tree, target, features) if options.lines else None
    finally:
        subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree], check=True)


def lines(tree, target, features):
    """The functions that the crate's own code becomes, how many they are, and their lines before anything is optimised."""
    emit = ["--emit=llvm-ir", "-Cno-prepopulate-passes", "-Ccodegen-units=1", "-Copt-level=3"]
    environment = {**os.environ, "CARGO_TARGET_DIR": target}
    subprocess.run(
        ["cargo", "rustc", "--release", "--locked", "--quiet", "--lib", *features, "--", *emit], cwd=tree, env=environment, check=True
    )
    folder = os.path.join(target, "release", "deps")
    [path] = [name for name in os.listdir(folder) if re.fullmatch(r"tensorop-\w+\.ll", name)]
    functions = found = 0
    inside = False
    with open(os.path.join(folder, path), errors="replace") as file:
        for line in file:
            if line.startswith("define "):
                inside, functions = True, functions + 1
            elif line.startswith("}"):
                inside = False
            else:
                found += inside
    return functions, found


def main():
    if TIMES in os.environ:
        return wrap(sys.argv[1:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", nargs="+", help="commits, the one first that is compared with the others")
    parser.add_argument("--features", help="these features instead of the default ones")
    parser.add_argument("--lines", action="store_true", help="count functions and lines of the crate too")
    parser.add_argument("--most", type=int, default=25, help="packages that are listed [default: 25]")
    parser.add_argument("--dir", help="where the builds are made, a GiB each, and removed [default: that of temporary files]")
    options = parser.parse_args()
    results = []
    for commit in options.commits:
        print(f"building {commit}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=options.dir) as folder:
            results.append(build(commit, options, folder))
    print("| seconds | " + " | ".join(options.commits) + " |")
    print("| --- |" + " ---: |" * len(results))
    rows = [("all", [total for total, _, _ in results])]
    names = set().union(*(packages for _, packages, _ in results))
    most = sorted(names, key=lambda name: -max(packages[name] for _, packages, _ in results))[: options.most]
    rows += [(name, [packages[name] for _, packages, _ in results]) for name in most]
    for name, seconds in rows:
        print(f"| {name} | " + " | ".join(f"{one:.1f}" for one in seconds) + " |")
    if options.lines:
        for number, name in enumerate(["functions of the crate", "their lines for LLVM"]):
            print(f"| {name} | " + " | ".join(f"{counted[number]:,}" for _, _, counted in results) + " |")
    for commit, (total, _, _) in list(zip(options.commits, results))[1:]:
        print(f"\n{options.commits[0]} / {commit}: {results[0][0] / total:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
