#!/usr/bin/env python3
"""What a process costs before and beside its work: tiny calls against cp of a tiny file.

Each line is one command: the median and the quartiles of its wall time in microseconds, the page faults, the instructions in user
space where valgrind is there, and the median of the ratio to cp, pair by pair, since all commands run in turn. Beside the program
that is measured, --against takes another one, such as that of the commit before.

    benches/starting.py target/release/tensorop --against ../before/target/release/tensorop

How a file came into the page cache counts: what a linker wrote lies in single pages, what was copied or read at once in larger
ones, of which a process maps many at a time. --copied measures copies of the programs, as an installer makes them.
"""

import argparse
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

# the tiny call that is measured
TINY = "slice-scatter tiny.npy update.npy --start=0 --stop=1 --step=1 -o out.npy"


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="tensorop")
    parser.add_argument("--against", action="append", default=[], metavar="PROGRAM", help="another program, measured in turn")
    parser.add_argument("--runs", type=int, default=300, help="runs of each command that count [default: 300]")
    parser.add_argument("--copied", action="store_true", help="measure copies of the programs")
    parser.add_argument("--dir", help="the file system of the tiny files [default: that of temporary files]")
    measure(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
