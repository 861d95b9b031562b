#!/usr/bin/env bash
# What must agree before a tag is released; docs/releasing.md says what else must be done.
#
# usage: ci/release_check.sh TAG
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

tag=${1:?usage: ci/release_check.sh TAG}
version=$(manifest version)
[ "$tag" = "v$version" ] || fail "tag $tag, expected v$version, the version in Cargo.toml"
[ -n "$(manifest repository)" ] || fail "Cargo.toml: no repository, which binstall and the pages of registries need"
ci/changelog.sh "$version" >/dev/null
grep -qx "version: $version" CITATION.cff || fail "CITATION.cff: expected version: $version"
for lock in Cargo.lock fuzz/Cargo.lock; do
    grep -A1 -x 'name = "tensorop"' "$lock" | grep -qx "version = \"$version\"" || fail "$lock: expected tensorop $version"
done
printf '%s: agrees\n' "$tag"
