#!/usr/bin/env bash
# Builds the documentation of the crates, whose warnings are errors, and checks the libraries with the least features.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

step env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features --locked
step cargo clippy --package tensorop-files --package tensorop --lib --no-default-features --locked -- -D warnings
