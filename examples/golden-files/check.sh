#!/bin/sh
# check.sh PROGRAM: runs PROGRAM on each golden input. Fails with the status of PROGRAM, or if a result differs from its golden file.
set -u
program=$1
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
worst=0
for input in tests/golden/logits*.npy; do
    name=softmax${input#tests/golden/logits}
    "$program" "$input" "$out/$name" && tensorop diff --golden "tests/golden/$name" "$out/$name" --rtol 1e-5
    status=$?
    echo "$name: status $status"
    [ "$status" -gt "$worst" ] && worst=$status
done
exit "$worst"
