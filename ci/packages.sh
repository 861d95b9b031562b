#!/usr/bin/env bash
# Builds the wheel, the Debian package and the crate, installs each where nothing else is, and runs the specifications'
# examples with what was installed.
#
# usage: ci/packages.sh [OPTIONS OF CARGO PACKAGE]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

installed=$PWD/target/installed
rm -rf "$installed" target/packages
mkdir -p "$installed"
target=$(host)

# What is installed does what the specifications' examples say, and its man page and completions are there.
check() {
    local what=$1 root=$2
    shift 2
    step env TENSOROP_TEST_PROGRAM="$root/bin/tensorop" cargo test --quiet --locked --test cli -- examples_of
    for file in "$@"; do
        [ -s "$root/share/$file" ] || fail "$what: lacks share/$file"
    done
    printf '%s: installed, and passes\n' "$what"
}

step ci/archive.sh "$target"
step mkdir -p "$installed/archive/bin"
step tar -xzf target/packages/*.tar.gz -C "$installed/archive" --strip-components 1
mv "$installed/archive/tensorop" "$installed/archive/bin/"
mkdir "$installed/archive/share"
mv "$installed/archive/man" "$installed/archive/completions" "$installed/archive/share/"
check archive "$installed/archive" man/tensorop-slice.1 completions/tensorop.bash

step ci/wheel.sh "$target"
step python3 -m venv "$installed/wheel"
step "$installed/wheel/bin/pip" install --quiet --disable-pip-version-check --no-index target/packages/*.whl
step "$installed/wheel/bin/python" -m tensorop_cli --version
step "$installed/wheel/bin/pip" install --quiet --disable-pip-version-check pytest
step "$installed/wheel/bin/pytest" -q -p no:cacheprovider tests/python/test_plain.py
"$installed/wheel/bin/pytest" --help | grep -e --golden-update >/dev/null || fail "wheel: pytest does not find its plugin"
check wheel "$installed/wheel" man/man1/tensorop-slice.1 bash-completion/completions/tensorop

step ci/deb.sh "$target"
step dpkg-deb --extract target/packages/*.deb "$installed/deb"
check deb "$installed/deb/usr" man/man1/tensorop-slice.1.gz bash-completion/completions/tensorop

step ci/crate.sh "$@"
# without optimization: what is tried is whether the package has all that it needs
CARGO_TARGET_DIR=$PWD/target step cargo install --quiet --locked --debug --path target/crate/* --root "$installed/crate"
check crate "$installed/crate"

step ls -l target/packages
