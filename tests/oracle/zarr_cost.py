#!/usr/bin/env python3
"""Measures what parts and stores cost: bytes read and written by all parts against one process, and peak memory.

    zarr_cost.py BINARY [MIB]  (MIB: a multiple of 4)

Bytes are those that the kernel counts for read and write calls, and for copies that it makes itself (strace), summed over
all N parts, for N = 1, 4, 16, 64; they may be 1.10 of those of the single run, N times the index tensor, and a chunk for
each part of a .npy that is made from a store. Peak memory is that of 16 MiB chunks with each codec, and of shards, for
convert, slice, slice-scatter, --in-place and --part; it may be a chunk or shard, decoded and encoded, for each thread, and
256 MiB at most. MIB is the size of DATA, 256 by default. Linux only;
needs numpy and strace.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

CALLS = "read,pread64,write,pwrite64,copy_file_range,sendfile"
CALL = re.compile(r"^(?:\d+ +)?(?:<\.\.\. )?(\w+)[ (].*= (\d+)$")


class Cost:
    def __init__(self, binary, folder, mib):
        self.binary, self.folder, self.mib, self.wrong = binary, folder, mib, 0

    def run(self, args, measured=False):
        """Bytes read and written, if they are wanted, and the peak of memory in MiB."""
        trace = ["strace", "-f", "-qq", "-o", "trace", "-e", f"trace={CALLS}"] if measured else []
        code = f"import resource,subprocess,sys; r = subprocess.run(sys.argv[1:]).returncode; " \
               f"print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(r)"
        done = subprocess.run([sys.executable, "-c", code, *trace, self.binary, *args.split()], cwd=self.folder,
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{args}: {done.stdout}{done.stderr}")
        read = written = 0
        for line in (self.folder / "trace").read_text(errors="replace").splitlines() if measured else []:
            match = CALL.match(line)
            if match:
                call, count = match[1], int(match[2])
                read += count if call in ("read", "pread64", "copy_file_range", "sendfile") else 0
                written += count if call in ("write", "pwrite64", "copy_file_range", "sendfile") else 0
        return read, written, int(done.stdout.split()[-1]) / 1024

    def remove(self, name):
        path = self.folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    def row(self, what, found, most, unit):
        good = found <= most
        self.wrong += not good
        print(f"{what:<60} {found:>12.1f} {unit}, at most {most:.1f}{'' if good else '  TOO MUCH'}", flush=True)

    def bytes(self):
        rows = self.mib * 256
        data = np.random.default_rng(1).integers(0, 9, (rows, 1024), dtype=np.int32)
        np.save(self.folder / "d.npy", data)
        indices = np.random.default_rng(2).integers(0, rows, (rows // 64, 1))
        np.save(self.folder / "i.npy", indices)
        np.save(self.folder / "u.npy", data[: rows // 64])
        np.save(self.folder / "s.npy", data[: rows // 4])
        self.run("convert d.npy -o d.zarr --chunks 256,1024 --codec zstd")
        index = (self.folder / "i.npy").stat().st_size
        for command in ["convert d.npy --chunks 256,1024", "convert d.zarr", "slice-scatter D s.npy --at 0:999999999:4",
                        "scatter-nd D i.npy u.npy", "scatter-nd D i.npy u.npy --reduction add"]:
            for data, output in [("d.zarr", "o.zarr"), ("d.npy", "o.npy"), ("d.zarr", "o.npy")]:
                if "D" not in command and (data == "d.npy") != (output == "o.npy") or "--chunks" in command and output != "o.zarr":
                    continue
                full = command.replace("D", data) + f" -o {output} --threads 2"
                single = self.run(full, True)[:2]
                self.remove(output)
                for count in [1, 4, 16, 64]:
                    sums = [0, 0]
                    for number in range(1, count + 1):
                        one = self.run(f"{full} --part {number}/{count}", True)
                        sums = [sums[0] + one[0], sums[1] + one[1]]
                    self.run(f"{full} --finish {count}")
                    self.remove(output)
                    for name, found, one in zip(["read", "written"], sums, single):
                        most = 1.10 * one + (count * index if "i.npy" in full else 0)
                        # where a part of a file ends a chunk of the store does not, and both parts read it
                        most += count * 2**20 if "d.zarr" in full and (output, name) == ("o.npy", "read") else 0
                        # the libraries of the system, and the records of parts
                        self.row(f"{full} / {count} {name}", found / 2**20, (most + count * 2**16) / 2**20, "MiB")

    def memory(self):
        rows, threads = self.mib * 1024 // 16, 2
        data = np.random.default_rng(1).integers(0, 999, (rows, 4096), dtype=np.int32)
        np.save(self.folder / "d.npy", data)
        np.save(self.folder / "u.npy", data[: rows // 4])
        for style in ["--codec none", "--codec zstd", "--codec gzip:1", "--codec blosc",
                      "--chunks 256,1024 --shards 1024,1024 --codec zstd"]:
            style = style if "--chunks" in style else f"--chunks 1024,4096 {style}"
            self.run(f"convert d.npy -o d.zarr {style}")
            largest = max(path.stat().st_size for path in (self.folder / "d.zarr").rglob("*") if path.is_file())
            decoded = 2**24 if "--shards" not in style else 2**22
            # what the program takes without any tensor, and a window of its own for each thread
            most = min(256, 16 + threads * (4 * 2**20 + 2 * (decoded + largest)) / 2**20)
            for command in [f"convert d.npy -o o.zarr {style}", "convert d.zarr -o o.npy", "convert d.zarr -o o.zarr --codec zstd:2",
                            "slice d.zarr --at ::-1,1: -o o.zarr", "slice-scatter d.zarr u.npy --at ::4 -o o.zarr",
                            "slice-scatter d.zarr u.npy --at ::4 -i", "slice-scatter d.zarr u.npy --at ::4 -o o.zarr --part 2/3"]:
                peak = self.run(f"{command} --threads {threads}")[2]
                self.row(f"{style[-14:]}: {command}", peak, most, "MiB")
                for path in list(self.folder.glob("o.*")) + list(self.folder.glob(".o.*")):
                    self.remove(path.name)
            self.remove("d.zarr")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        cost = Cost(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder), int(sys.argv[2]) if len(sys.argv) > 2 else 256)
        cost.memory()
        cost.bytes()
    print(f"{cost.wrong} too much")
    sys.exit(bool(cost.wrong))


if __name__ == "__main__":
    main()
