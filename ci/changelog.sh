#!/usr/bin/env bash
# Prints what CHANGELOG.md says of a version, or of what is not released: the text of a release.
#
# usage: ci/changelog.sh VERSION|Unreleased
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

version=${1:?usage: ci/changelog.sh VERSION}
text=$(awk -v heading="## [$version]" '
    index($0, heading) == 1 { inside = 1; next }
    /^## / || /^\[.*\]: / { inside = 0 }
    inside' CHANGELOG.md | sed -e '/./,$!d')
[ -n "$text" ] || fail "CHANGELOG.md: no section [$version], or nothing in it"
printf '%s\n' "$text"
