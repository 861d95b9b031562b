#!/usr/bin/env bash
# The tests that are a part of the program, as a file of a release in target/dist: in both layouts of `tensorop check --export`,
# with checksums and a note on the licence.
#
# usage: ci/vectors.sh [PROGRAM]
#
# The same vectors give the same bytes, whatever the machine and the time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

if [ $# -gt 0 ]; then program=$1; else build_release "$(host)"; fi
name=tensorop-vectors-$(manifest version)
folder=target/dist/$name
rm -rf "$folder"
mkdir -p "$folder"
for layout in npy onnx; do
    step "$program" check --export "$folder/$layout" --layout "$layout"
done
cp LICENSE-APACHE LICENSE-MIT "$folder/"
cat > "$folder/README.md" <<'END'
# Tests of tensor operators

What Slice, SliceScatter, ScatterUpdate, ScatterND, ScatterElements, Gather, GatherND, GatherElements, Concat, Transpose,
Reshape and their kin must do, as ONNX and OpenVINO specify them. `npy/` has a folder for each test, with `case.json` and the
`.npy` files that it names; `onnx/` has those of ONNX's operators as ONNX's own backend tests: `model.onnx` and
`test_data_set_0`. `about.json` beside a model, like `case.json`, says whether the specification decides the test (`must`), is
silent (`choice`), or forbids it (`reject`, which has an `error` and no output), and why.

`sha256sum --check SHA256SUMS` checks the files, and `tensorop check onnx --actual OUTPUTS` what a runtime has made of them:
the page docs/conformance.md of tensorop says more.

Copyright 2026, the tensorop developers. Licensed under the Apache License, Version 2.0, or the MIT license, at your option.
END
(cd "$folder" && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs -d '\n' sha256sum > ../SHA256SUMS.vectors)
mv target/dist/SHA256SUMS.vectors "$folder/SHA256SUMS"
# the time of a file says nothing about a test, so all have the earliest that there is
unset SOURCE_DATE_EPOCH
step python ci/pack.py "$folder" "$folder.tar.gz"
rm -rf "$folder"
