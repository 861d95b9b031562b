#!/bin/sh
# Parts by dask.distributed with two worker processes: one of them is killed, and a part runs twice. Needs PyPI.
# usage: dask.sh PROGRAM
set -eu
. "$(dirname "$0")/common.sh"
python_with distributed || skip "no dask.distributed"
cat >parts.py <<'EOF'
import os
import signal
import subprocess
import time

from dask.distributed import Client, LocalCluster

COMMAND = [os.environ["PROGRAM"], "convert", "data.npy", "--chunks", "100,100", "-o", "out.zarr"]


def part(task):
    number, _ = task
    time.sleep(0.1)
    subprocess.run([*COMMAND, "--part", f"{number}/16"], check=True)
    return os.getpid()


if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        futures = client.map(part, [(n, 0) for n in range(1, 17)] + [(5, 1)], pure=False, retries=5)
        os.kill(futures[0].result(), signal.SIGKILL)
        client.gather(futures, errors="skip")
        client.gather(client.map(part, [(n, 2) for n in range(1, 17)], pure=False, retries=5))
EOF
venv/bin/python parts.py >dask.log 2>&1 || { tail -5 dask.log; exit 1; }
finished 16
