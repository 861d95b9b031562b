#!/bin/sh
# Fails if something public in a library has a type in its signature that users of the library cannot name: a type in a module
# that is public for other crates of the workspace alone, and hidden from the documentation.
#
# A copy of the source is compiled in which all that is hidden in the library is private, so that rustc's own lint sees what
# users see.
set -eu
cd "$(dirname "$0")/.."
for crate in kernels files; do
    copy=target/public-api/$crate
    rm -rf "$copy"
    mkdir -p "$copy/crates"
    for each in *; do
        case $each in
            crates | target) ;;
            *) ln -s "../../../$each" "$copy/$each" ;;
        esac
    done
    cp -r crates/* "$copy/crates"
    find "$copy/crates/$crate/src" -name '*.rs' -exec \
        sed -i.old '/^ *#\[doc(hidden)\]$/{n;s/^\( *\)pub /\1pub(crate) /;}' {} +
    case $crate in
        kernels) features=system ;;
        files) features=remote,zarr,predicates ;;
    esac
    # without the crates above it nothing uses some of what is hidden
    cargo rustc --manifest-path "$copy/crates/$crate/Cargo.toml" --target-dir target --locked --quiet --lib --profile check \
        --features "$features" -- -D unnameable_types -A dead_code -A unreachable_pub -A unused
done
