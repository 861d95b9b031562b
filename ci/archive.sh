#!/usr/bin/env bash
# The archive of a release: the program with man pages, completions and licences, in target/packages.
#
# usage: ci/archive.sh [TARGET]
#
# The same source and toolchain give the same bytes: the files have the time of the commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

target=${1:-$(host)}
build_release "$target"
man_pages "$program"
name=tensorop-$(manifest version)-$target
folder=target/packages/$name
rm -rf "$folder"
mkdir -p "$folder/man"
cp -R "$program" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT completions "$folder/"
cp target/man/*.1 "$folder/man/"
case $target in *windows*) suffix=zip ;; *) suffix=tar.gz ;; esac
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
step python ci/pack.py "$folder" "$folder.$suffix"
rm -rf "$folder"
