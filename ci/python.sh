#!/usr/bin/env bash
# The tests of the module of python/ and of the examples in Python, and their types, which mypy and pyright check.
#
# usage: ci/python.sh [PROGRAM]
#
# PROGRAM is what the module starts, by default the program that is built here. The packages of
# tests/python/requirements.txt are installed in a virtual environment in target/python.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

program=${1:-target/debug/tensorop}
[ $# -gt 0 ] || step cargo build --locked
[ -x "$program" ] || fail "$program: there is no such program"
case $program in /*) ;; *) program=$PWD/$program ;; esac

environment=$PWD/target/python
step python -m venv "$environment"
scripts=$environment/bin
[ -d "$scripts" ] || scripts=$environment/Scripts
step "$scripts/python" -m pip install --quiet --disable-pip-version-check --upgrade --requirement tests/python/requirements.txt ||
    not_run "the packages of tests/python/requirements.txt cannot be had"

# nothing is written beside the sources
export TENSOROP=$program PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
step "$scripts/python" -m pytest -q -n auto -p no:cacheprovider -p tensorop_cli.pytest_plugin tests/python
step "$scripts/python" -m mypy --strict --cache-dir "$environment/mypy" python tests/python
# it brings a program of its own from a registry when it runs for the first time
step "$scripts/pyright" --version >/dev/null || not_run "pyright cannot be had"
step "$scripts/pyright" --pythonpath "$scripts/python" python tests/python
step "$scripts/pyright" --pythonpath "$scripts/python" --pythonversion 3.8 python
