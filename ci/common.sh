# What the scripts of this folder share. They source it from the root of the project.

# Says what is run, and runs it.
step() {
    printf '\n==> %s\n' "$*" >&2
    "$@"
}

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 2
}

# Nothing has failed, but nothing has been checked either: what it takes is not here.
not_run() {
    printf 'not run: %s\n' "$*" >&2
    exit 3
}

# The value of a key of Cargo.toml's first table.
manifest() {
    sed -n "/^\[package\]/,/^\[[a-oq-z]/s/^$1 = \"\(.*\)\"\$/\1/p" Cargo.toml
}

# The target of this machine, for which is built if no other is named.
host() {
    rustc --version --verbose | sed -n 's/^host: //p'
}

python() {
    if command -v python3 >/dev/null; then python3 "$@"; else command python "$@"; fi
}

# A tool from cargo's registry, NAME VERSION [OPTIONS], in target/tools if it is not on the path. It runs seldom: that it is
# built quickly matters more than its speed.
tool() {
    local name=$1 version=$2
    shift 2
    PATH=$PWD/target/tools/bin:$PATH
    if ! command -v "$name" >/dev/null; then
        CARGO_PROFILE_DEV_DEBUG=0 step cargo install --quiet --locked --debug --root target/tools \
            --version "$version" "$@" "$name" || not_run "$name $version is not installed, and cannot be had"
    fi
}

# Has rustup install the standard library for a target. A cargo that is not rustup's has its own.
install_target() {
    if command -v rustup >/dev/null && ! rustup target list --installed | grep -x "$1" >/dev/null; then
        step rustup target add "$1"
    fi
}

# Builds the program as it is packed, with the profile for that, for a target, and sets `program` to where it is.
build_release() {
    install_target "$1"
    step cargo build --profile dist --locked --features remote --bin tensorop --target "$1"
    program=target/$1/dist/tensorop
    case $1 in *windows*) program+=.exe ;; esac
}

# The man pages, in target/man: by PROGRAM, if that is not empty and this machine runs it, else by one that is built for that.
man_pages() {
    rm -rf target/man
    if [ -n "$1" ] && "$1" --version >/dev/null 2>&1; then
        step "$1" man target/man
    else
        step cargo run --quiet --locked -- man target/man
    fi
}
