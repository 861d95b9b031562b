#!/usr/bin/env python3
"""What a process costs before and beside its work: tiny calls against cp of a tiny file.

Each line is one command: the median and the quartiles of its wall time in microseconds, the page faults, the instructions in user
space where valgrind is there, and the median of the ratio to cp, pair by pair, since all commands run in turn. Beside the program
that is measured, --against takes another one, such as that of the commit before.

    benches/starting.py target/release/tensorop --against ../before/target/release/tensorop

How a file came into the page cache counts: what a linker wrote lies in single pages, what was copied or read at once in larger
ones, of which a process maps many at a time. --copied measures copies of the programs, as an installer makes them.

--order writes start.ld anew: the functions that short runs call, which build.rs has the linker put beside one another. It
needs valgrind, nm and a program with symbols:

    cargo rustc --release --locked --bin tensorop -- -C strip=none
    benches/starting.py target/release/tensorop --order
"""

import argparse
import collections
import glob
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPT = os.path.join(ROOT, "start.ld")

# the tiny call that is measured, and those whose functions are put beside one another
TINY = "slice-scatter tiny.npy update.npy --start=0 --stop=1 --step=1 -o out.npy"
SHORT = [
    TINY,
    "slice tiny.npy --at :1 -o out.npy",
    "slice tiny.npy --at :1",
    "scatter-update tiny.npy [1] update.npy --axis 0 -o out.npy",
    "scatter-nd tiny.npy [[1]] update.npy -o out.npy",
    "gather tiny.npy [1,0] -o out.npy",
    "transpose tiny.npy -o out.npy",
    "convert tiny.npy -o out.npy",
]


def npy(path, shape, items):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(items)}f", *items))


def run(command, null):
    """Runs a command; its wall time in microseconds and its page faults."""
    begun = time.perf_counter_ns()
    actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"starting: {' '.join(command)}: status {status}")
    return (time.perf_counter_ns() - begun) / 1e3, usage.ru_minflt


def profile(command, *options):
    """What callgrind writes about a command."""
    with tempfile.NamedTemporaryFile() as out:
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", *options, *command]
        subprocess.run(valgrind, check=True, capture_output=True)
        with open(out.name) as file:
            return file.read()


def instructions(command):
    if not shutil.which("valgrind"):
        return "-"
    found = re.search(r"^(?:summary|totals): (\d+)", profile(command), re.M)
    return f"{int(found[1]):,}"


def measure(options):
    null = os.open(os.devnull, os.O_RDWR)
    programs = [os.path.abspath(program) for program in [options.program, *options.against]]
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        os.chdir(folder)
        npy("tiny.npy", (2, 5), range(10))
        npy("update.npy", (1, 5), [9] * 5)
        if options.copied:
            programs = [shutil.copy(program, f"{number}.copy") for number, program in enumerate(programs)]
        commands = [[shutil.which("cp"), "tiny.npy", "out.cp.npy"]]
        commands += [[os.path.abspath(program), *TINY.split()] for program in programs]
        results = [[] for _ in commands]
        for turn in range(options.runs + 5):
            for command, result in zip(commands, results):
                found = run(command, null)
                if turn >= 5:
                    result.append(found)
        print("| command | median, us | quartiles, us | page faults | instructions | time / cp |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        for name, command, result in zip(["cp", options.program, *options.against], commands, results):
            times = [time for time, _ in result]
            low, median, high = statistics.quantiles(times, n=4)
            faults = statistics.median(faults for _, faults in result)
            ratio = statistics.median(own / cp for own, (cp, _) in zip(times, results[0]))
            cells = [name, f"{median:.0f}", f"{low:.0f} to {high:.0f}", f"{faults:.0f}", instructions(command), f"{ratio:.3f}"]
            print("| " + " | ".join(cells) + " |")
        os.chdir(ROOT)


# --- the order of functions ------------------------------------------------------------------------------------------


def pattern(symbol):
    """The name of a function without what another compiler or another state of the source changes."""
    symbol = re.sub(r"17h[0-9a-f]{16}E", "17h*", symbol)
    return re.sub(r"Cs[0-9A-Za-z]{6,14}_", "Cs*_", symbol)


def members():
    """The files of the C library's archives that have a function of a name: its sections are by file, and not by function."""
    libc = subprocess.run(["cc", "-print-file-name=libc.a"], check=True, capture_output=True, text=True).stdout.strip()
    found = collections.defaultdict(set)
    for archive in glob.glob(os.path.join(os.path.dirname(libc), "lib[cm]*.a")):
        family = re.match("lib[a-z]*", os.path.basename(archive))[0]
        listed = subprocess.run(["nm", "-A", "--defined-only", archive], capture_output=True, text=True).stdout
        for member, name in re.findall(r"^[^:]*:([^:]*):\S* [tTwWiI] (\S+)$", listed, re.M):
            found[name].add(f"*{family}*.a:{member}")
            # Of functions that are there for each kind of processor, valgrind and the system choose different ones.
            for kind in ["avx", "evex"] * ("-avx" in member):
                found[name].add(f"*{family}*.a:" + re.sub("-avx.*", f"-{kind}*.o", member))
    return found


def selected(called, sizes):
    """What selects the functions `called` in a linker script, each with those of them that it is for, and what comes last.

    Of generic functions whose names do not tell apart the instances that are called, these alone are selected. Where another
    compiler or other packages give them other names, the last lines find them among some that are not called.
    """
    of_library = members()
    hot, all_of = collections.Counter(), collections.Counter()
    for symbol, size in sizes.items():
        all_of[pattern(symbol)] += size
        hot[pattern(symbol)] += size * (symbol in called)
    lines, last = collections.defaultdict(set), set()
    for symbol in called:
        name = pattern(symbol)
        # a name that many files have is that of a small function that each of them has for itself
        if 1 <= len(of_library[symbol]) <= 4:
            for member in of_library[symbol]:
                lines[f"{member}(.text .text.*)"].add(symbol)
        elif all_of[name] <= 1.2 * hot[name]:
            lines[f"*(.text.{name} .text.unlikely.{name})"].add(symbol)
        else:
            lines[f"*(.text.{symbol} .text.unlikely.{symbol})"].add(symbol)
            if all_of[name] <= 3 * hot[name] or all_of[name] < 1000:
                last.add(f"*(.text.{name} .text.unlikely.{name})")
    lines["*crt1.o(.text)"] = called
    return lines, sorted(last)


def order(options):
    program = os.path.abspath(options.program)
    sizes, names_at = {}, collections.defaultdict(set)
    for line in subprocess.run(["nm", "-S", program], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwWiI":
            sizes[words[3]] = int(words[1], 16)
            names_at[words[0]].add(words[3])
    # functions of the same instructions are one, of which valgrind may say either name
    same = {name: names for names in names_at.values() for name in names}
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        npy("tiny.npy", (2, 5), range(10))
        npy("update.npy", (1, 5), [9] * 5)
        for short in SHORT:
            text = profile([program, *short.split()], "--demangle=no")
            names = {re.sub(r"'\d+$", "", name) for name in re.findall(r"^c?fn=\(\d+\) (.*)$", text, re.M)}
            runs.append(set().union(*(same[name] for name in names if name in sizes)))
        os.chdir(ROOT)
    called = set.union(*runs)
    lines, last = selected(called, sizes)

    def place(line):
        # Those first that most runs call, and those beside one another that the same runs call.
        callers = [not lines[line].isdisjoint(run) for run in runs]
        return -sum(callers), callers, line

    with open(SCRIPT, "w") as file:
        file.write(HEAD + "\n".join(f"    {line}" for line in [*sorted(lines, key=place), *last]) + TAIL)
    size = sum(map(sizes.get, called)) // 1024
    print(f"{len(called)} functions of {size} KiB in {len(runs)} runs: {len(lines) + len(last)} lines in {SCRIPT}")


HEAD = """\
/* The functions that short runs call, beside one another: build.rs says why. Made by benches/starting.py --order; a line that
   selects nothing any more does no harm. */
SECTIONS {
  .text.start : {
"""
TAIL = """
  }
} INSERT BEFORE .text;
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="tensorop")
    parser.add_argument("--against", action="append", default=[], metavar="PROGRAM", help="another program, measured in turn")
    parser.add_argument("--runs", type=int, default=300, help="runs of each command that count [default: 300]")
    parser.add_argument("--copied", action="store_true", help="measure copies of the programs")
    parser.add_argument("--dir", help="the file system of the tiny files [default: that of temporary files]")
    parser.add_argument("--order", action="store_true", help="write start.ld instead")
    options = parser.parse_args()
    order(options) if options.order else measure(options)


if __name__ == "__main__":
    sys.exit(main())
