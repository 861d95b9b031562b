#!/usr/bin/env bash
# The Debian package, in target/packages: the program with man pages and completions where Debian's shells look for them.
#
# usage: ci/deb.sh [TARGET]
#
# What is in it is listed in Cargo.toml. cargo-deb is installed, if it is not there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

target=${1:-$(host)}
tool cargo-deb 3.8.0
build_release "$target"
man_pages "$program"
mkdir -p target/packages
step cargo deb --locked --profile dist --no-build --no-strip --target "$target" --output target/packages/
