#!/bin/sh
# The guide's script for dask.distributed, with worker processes of this machine: one of them is killed, and a part runs twice. Needs PyPI.
# usage: dask.sh PROGRAM
set -eu
. "$(dirname "$0")/common.sh"
python_with distributed || skip "no dask.distributed"
guide python "from dask.distributed" >parts.py
KILL=parent timeout 300 venv/bin/python parts.py >dask.log 2>&1 || { tail -5 dask.log; exit 1; }
finished
