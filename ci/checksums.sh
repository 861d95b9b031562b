#!/usr/bin/env bash
# Writes target/packages/SHA256SUMS over everything in target/packages: `sha256sum --check SHA256SUMS` beside the files checks them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../target/packages"
rm -f SHA256SUMS
sums=$(sha256sum -- *)
printf '%s\n' "$sums" | tee SHA256SUMS
