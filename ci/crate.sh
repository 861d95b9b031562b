#!/usr/bin/env bash
# The package of the crate: that it is small, would be taken, builds, and passes the tests that it has.
#
# usage: ci/crate.sh [OPTIONS OF CARGO PACKAGE]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

most=$((1 << 20))
version=$(manifest version)
# it is built below, with its tests
step cargo package --locked --no-verify "$@"
step cargo publish --dry-run --locked --no-verify "$@"
crate=target/package/tensorop-$version.crate
size=$(wc -c <"$crate")
[ "$size" -lt "$most" ] || fail "$crate: $size bytes, expected less than $most"
unpacked=$PWD/target/crate/tensorop-$version
rm -rf target/crate
mkdir -p target/crate
step tar -xzf "$crate" -C target/crate
export CARGO_TARGET_DIR=$PWD/target
step cargo test --locked --manifest-path "$unpacked/Cargo.toml"
printf '\n%s: %s bytes; unpacked in %s\n' "$crate" "$size" "$unpacked"
