#!/usr/bin/env bash
# The wheel, in target/packages: the program with man pages and completions.
#
# usage: ci/wheel.sh [TARGET]
#
# For Linux it is linked by zig, which has the symbols of every glibc, so that it runs wherever pip knows manylinux2014.
# Needs Python with venv; maturin and zig come from its registry.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

target=${1:-$(host)}
venv=target/tools/python
if ! [ -d "$venv" ]; then
    step python -m venv "$venv"
fi
scripts=$venv/bin
[ -d "$scripts" ] || scripts=$venv/Scripts
options=()
case $target in *-linux-gnu)
    options=(--zig --compatibility manylinux2014)
    ;;
esac
install_target "$target"
step "$scripts/pip" install --quiet --disable-pip-version-check 'maturin[zig]>=1.9,<2.0'
# a program of this machine's own prints them: the one of the wheel is built only when they are in it
man_pages ""

# A wheel also holds these files, which pip puts below the prefix that the program is in. ci/pyproject.toml names the folder.
data=target/wheel/data/share
rm -rf target/wheel
mkdir -p $data/man/man1 $data/bash-completion/completions $data/zsh/site-functions $data/fish/vendor_completions.d
cp target/man/*.1 $data/man/man1/
cp completions/tensorop.bash $data/bash-completion/completions/tensorop
cp completions/_tensorop $data/zsh/site-functions/
cp completions/tensorop.fish $data/fish/vendor_completions.d/

# maturin accepts a pyproject.toml only in the folder of Cargo.toml or above it
trap 'rm -f pyproject.toml' EXIT
cp ci/pyproject.toml .
PATH=$PWD/$scripts:$PATH step maturin build --profile dist --locked --features remote --target "$target" --out target/packages "${options[@]}"
