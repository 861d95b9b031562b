#!/usr/bin/env bash
# The lowest Rust that Cargo.toml promises builds the program and the library. Needs rustup.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

lowest=$(manifest rust-version)
rustup run "$lowest" rustc --version >/dev/null 2>&1 || step rustup toolchain install "$lowest" --profile minimal
step rustup run "$lowest" cargo check --all-features --locked
