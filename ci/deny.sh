#!/usr/bin/env bash
# Licences, duplicate versions and sources of all packages, and what is known against them. cargo-deny is installed, if it is
# not there. Without it tests/cli/supply_chain.rs checks all but the last.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

tool cargo-deny 0.20.2
step cargo deny check advisories licenses bans sources
