#!/bin/sh
# Fails if something public has a type in its signature that users of the library cannot name: a type in a module that is
# public for tests, benches and the program alone, and hidden from the documentation.
#
# A copy of the source is compiled in which all that is hidden is private, so that rustc's own lint sees what users see.
set -eu
cd "$(dirname "$0")/.."
copy=target/public-api
rm -rf "$copy"
mkdir -p "$copy"
for each in *; do
    case $each in
        src | target) ;;
        *) ln -s "../../$each" "$copy/$each" ;;
    esac
done
cp -r src "$copy/src"
find "$copy/src" -name '*.rs' -exec \
    sed -i.old '/^ *#\[doc(hidden)\]$/,/^ *pub /s/^\( *\)pub /\1pub(crate) /' {} +
# without the program nothing uses some of the private modules
cargo rustc --manifest-path "$copy/Cargo.toml" --target-dir target --locked --quiet --lib --profile check \
    --no-default-features --features remote,zarr,predicates -- \
    -D unnameable_types -A dead_code -A unreachable_pub -A unused
