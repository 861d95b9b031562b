#!/usr/bin/env bash
# Runs a part of the vectors in tract by its adapter, and judges them: the way of docs/conformance.md as a whole, from the
# export to a status that fails. tract has no deviations in this part; tests of types that it does not have are unsupported.
#
# usage: ci/tract.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
step cargo run --quiet --locked -- check --export "$folder/vectors" --layout onnx --only 'gather-elements/*'
adapter=conformance/adapters/tract/Cargo.toml
step cargo run --quiet --locked --manifest-path "$adapter" -- "$folder/vectors" "$folder/outputs"
step cargo run --quiet --locked -- check "$folder/vectors" --actual "$folder/outputs" --class must --min-tests 60
