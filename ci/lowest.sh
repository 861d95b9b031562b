#!/usr/bin/env bash
# The lowest Rust that Cargo.toml promises builds the program and the library. It is installed by rustup, if it is not there;
# where it cannot be had, that is said, and the status is 3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

lowest=$(manifest rust-version)
command -v rustup >/dev/null || not_run "Rust $lowest: there is no rustup, which installs it"
if ! rustup run "$lowest" rustc --version >/dev/null 2>&1; then
    step rustup toolchain install "$lowest" --profile minimal || not_run "Rust $lowest is not installed, and cannot be had"
fi
step rustup run "$lowest" cargo check --all-features --locked
