#!/bin/sh
# The guide's script for GNU parallel, with this machine for all: a task is killed and repeated, one runs twice. Needs
# Debian's package parallel.
# usage: parallel.sh PROGRAM
set -eu
. "$(dirname "$0")/common.sh"
command -v parallel >/dev/null || install parallel || skip "no GNU parallel"
echo "4/:" >hosts
guide sh "parallel --sshloginfile" >parts.sh
sh parts.sh >parallel.log 2>&1 || { tail -5 parallel.log; exit 1; }
finished
