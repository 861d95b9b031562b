#!/usr/bin/env bash
# Builds all fuzz targets, and runs each for some seconds, if any are given. The nightly toolchain and cargo-fuzz are
# installed, if they are not there; where they cannot be had, that is said, and the status is 3. fuzz/README.md says more.
#
# usage: ci/fuzz.sh [SECONDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

seconds=${1:-0}
if ! cargo +nightly --version >/dev/null 2>&1; then
    command -v rustup >/dev/null || not_run "fuzzing takes a nightly toolchain, and there is no rustup, which installs it"
    step rustup toolchain install nightly --profile minimal || not_run "a nightly toolchain is not installed, and cannot be had"
fi
tool cargo-fuzz 0.13.1
step cargo +nightly fuzz build
if [ "$seconds" -gt 0 ]; then
    step cargo test --quiet --locked --test property seeds_for_fuzzing -- --ignored
    for target in $(cargo +nightly fuzz list); do
        step cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024
    done
fi
