#!/usr/bin/env bash
# Builds all fuzz targets, and runs each for some seconds, if any are given. Needs a nightly toolchain; cargo-fuzz is
# installed, if it is not there. fuzz/README.md says more.
#
# usage: ci/fuzz.sh [SECONDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

seconds=${1:-0}
tool cargo-fuzz 0.13.1
step cargo +nightly fuzz build
if [ "$seconds" -gt 0 ]; then
    step cargo test --quiet --locked --test property seeds_for_fuzzing -- --ignored
    for target in $(cargo +nightly fuzz list); do
        step cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024
    done
fi
