#!/usr/bin/env bash
# The tests that are a part of the program, as a file of a release in target/packages: in both layouts of `tensorop check --export`,
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
folder=target/packages/$name
rm -rf "$folder"
mkdir -p "$folder"
for layout in npy onnx; do
    step "$program" check --export "$folder/$layout" --layout "$layout"
done
cp LICENSE-APACHE LICENSE-MIT "$folder/"
cat > "$folder/README.md" <<'END'
# Tests of tensor operators

These tests define the results of Slice, SliceScatter, ScatterUpdate, ScatterND, ScatterElements, Gather, GatherND,
GatherElements, Concat, Transpose, Reshape, Pad, Tile, Roll, Broadcast, Split and related operators, as ONNX and OpenVINO specify
them. `npy/` has a folder for each
test, with `case.json` and the `.npy` files that it names. `onnx/` has the tests of ONNX's operators in the layout of ONNX's
backend tests: `model.onnx` and `test_data_set_0`. `about.json` beside a model, like `case.json`, gives the class of the test and
the reason: the specification defines the output (`must`), is silent (`choice`), or forbids the inputs (`reject`, with an `error`
and no output).

`sha256sum --check SHA256SUMS` checks the files. `tensorop check onnx --actual OUTPUTS` checks the outputs of a runtime. The page
docs/conformance.md of tensorop has the details.

Copyright 2026, the tensorop developers. Licensed under the Apache License, Version 2.0, or the MIT license, at your option.
END
(cd "$folder" && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs -d '\n' sha256sum > ../SHA256SUMS.vectors)
mv target/packages/SHA256SUMS.vectors "$folder/SHA256SUMS"
# the time of a file says nothing about a test, so all have the earliest that there is
unset SOURCE_DATE_EPOCH
step python ci/pack.py "$folder" "$folder.tar.gz"
rm -rf "$folder"
