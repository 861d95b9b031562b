#!/usr/bin/env bash
# Licences, duplicate versions and sources of all packages, and what is known against them. cargo-deny is installed, if it is
# not there. Without it tests/cli/supply_chain.rs checks all but the last. Where it or the list of what is known cannot be had,
# that is said, and the status is 3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

tool cargo-deny 0.20.2
step cargo deny check licenses bans sources
step cargo deny fetch db || not_run "what is known against packages: the list of it cannot be had"
step cargo deny check --disable-fetch advisories
