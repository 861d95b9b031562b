#!/usr/bin/env bash
# Builds the book of docs/ in target/book. mdbook is installed, if it is not there.
# What the pages show is checked by `cargo test --test cli readme::`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

tool mdbook 0.5.4 --no-default-features --features search
step mdbook build docs
