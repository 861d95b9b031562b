#!/bin/sh
# The guide's script for Ray, with worker processes of this machine: one of them is killed, and a part runs twice. Needs PyPI.
# usage: ray.sh PROGRAM
set -eu
. "$(dirname "$0")/common.sh"
python_with ray || skip "no Ray"
guide python "import ray" >parts.py
KILL=parent timeout 300 venv/bin/python parts.py >ray.log 2>&1 || { tail -5 ray.log; exit 1; }
finished
