#!/usr/bin/env bash
# The packages of the crates: that each is small, would be taken, and builds from what is in it; and that its tests pass alone.
#
# usage: ci/crate.sh [OPTIONS OF CARGO PACKAGE]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

most=$((1 << 20))
version=$(manifest version)
crates=(tensorop-kernels tensorop-remote tensorop-files tensorop-conformance tensorop)
# each is built from its package and those of the crates below it
step cargo package --locked "${crates[@]/#/--package=}" "$@"
for crate in "${crates[@]}"; do
    package=target/package/$crate-$version.crate
    size=$(wc -c <"$package")
    [ "$size" -lt "$most" ] || fail "$package: $size bytes, expected less than $most"
    printf '%s: %s bytes\n' "$package" "$size"
    step cargo test --locked --package "$crate" --lib
done
