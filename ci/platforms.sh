#!/usr/bin/env bash
# Builds the program for another platform and runs it here: on a Debian machine, with what Debian and Python's registry have.
#
# usage: ci/platforms.sh windows|big-endian|macos
#
#   windows      x86_64-pc-windows-gnu, run by wine
#   big-endian   s390x-unknown-linux-gnu, run by qemu
#   macos        aarch64-apple-darwin: checked by the compiler alone, since nothing here runs it
#
# Missing packages are installed, which takes root. Their compiler comes with the source of the standard library, which is
# built for the platform, so that no toolchain has to be downloaded. The tests are those of this machine: they start the
# program of the other platform through a script (TENSOROP_TEST_PROGRAM). Tests that cannot be run so are listed in
# ci/platforms/, each with the reason. docs/platforms.md has the results.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

platform=${1:-}
folder=$PWD/target/platforms
own=$folder/$platform

install() {
    local missing=()
    for package in "$@"; do
        dpkg-query --show --showformat '${Status}\n' "$package" 2>/dev/null | grep -q '^install ok' || missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        step apt-get update --quiet
        step apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
    fi
}

# cargo for the platform. Debian's, whatever else is on the path: its source of the standard library is of its version.
cross() {
    step env RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc CARGO_PROFILE_DEV_DEBUG=0 \
        /usr/bin/cargo "$@" -Zbuild-std=std,panic_unwind --target "$target" --target-dir "$folder" --locked
}

# The script that stands for the program: what it says is run, before the arguments.
runner() {
    mkdir -p "$own"
    printf '#!/bin/sh\nexec %s "$@"\n' "$1" >"$own/tensorop"
    chmod +x "$own/tensorop"
    step "$own/tensorop" slice-scatter '[[0,1,2,3,4],[5,6,7,8,9]]' '[[10,20,30],[40,50,60]]' --at ':, ::2'
    # the operators' own tests, with the seconds that they take
    SECONDS=0
    step "$own/tensorop" check
    printf 'check took about %s s\n' "$SECONDS"
}

# Reductions of every dtype give the same bytes as on this machine. `$1` is a dtype and a reduction that are left out.
reductions() {
    local native=target/debug/tensorop dtype reduction data indices='[[0],[0],[1],[2],[0],[4]]' updates count=0 here there
    step cargo build --quiet --locked
    for dtype in bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 complex64 complex128; do
        data='[3,1,2,100,7]' updates='[2,5,7,3,4,90]'
        case $dtype in
        bool) data='[true,false,true,false,true]' updates='[true,true,false,true,false,true]' ;;
        *float*) data='[3.1,-1e-38,2,6e4,7e-5]' updates='[2.3,5,-7.7,1e-3,4e4,0.3]' ;;
        complex*) data='[[3.1,-2],[1e-38,5],[2,0.1],[6e4,7],[0,1]]' updates='[[2.3,5],[1,-7.7],[3,1e-3],[4e4,0],[5,5],[0.3,2]]' ;;
        esac
        for reduction in add sub mul max min; do
            [ "$dtype $reduction" != "${1:-}" ] || continue
            set -- "${1:-}" scatter-nd "$data" "$indices" "$updates" --dtype "$dtype" --reduction "$reduction" --to json
            here=$("$native" "${@:2}" 2>&1) || true
            there=$("$own/tensorop" "${@:2}" 2>&1) || true
            [ "$here" = "$there" ] || fail "$dtype $reduction: $there, expected $here"
            count=$((count + 1))
        done
    done
    printf '%s reductions as on this machine\n' "$count"
}

# The tests of the command line, without those that do not start the program, and those that are listed as not to be run.
# Sets `result` to how many passed.
tests() {
    local list=ci/platforms/$platform.txt cargo=cargo known listed wanted failed=()
    command -v cargo >/dev/null || cargo=/usr/bin/cargo
    known=$("$cargo" test --quiet --locked --test cli -- --list --format terse | sed -n 's/: test$//p')
    listed=$(grep -v '^#' "$list")
    while read -r name; do
        grep -x "$name" <<<"$known" >/dev/null || fail "$list: there is no test $name"
    done <<<"$listed"
    mapfile -t wanted < <(grep -vxF "$listed" <<<"$known" | grep -vE '^(guide|map|samples|supply_chain|workflows)::')
    export TENSOROP_TEST_PROGRAM=$own/tensorop
    if ! step "$cargo" test --locked --test cli -- --exact "${wanted[@]}" | tee "$own/tests.txt"; then
        # where a machine is busy, an emulator now and then ends a program before it has begun
        mapfile -t failed < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$own/tests.txt")
        [ ${#failed[@]} -gt 0 ] || fail "the tests were not run to their end"
        step "$cargo" test --locked --test cli -- --exact --test-threads 1 "${failed[@]}"
    fi
    result="${#wanted[@]} of $(wc -l <<<"$known") tests of the command line, ${#failed[@]} of them when they were run once more, alone"
    result+="; $(wc -l <<<"$listed") are listed in $list, the rest do not start the program"
}

case $platform in
windows)
    target=x86_64-pc-windows-gnu
    install rustc-web cargo-web rust-web-src gcc-mingw-w64-x86-64 wine64
    export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
    export CC_x86_64_pc_windows_gnu=x86_64-w64-mingw32-gcc AR_x86_64_pc_windows_gnu=x86_64-w64-mingw32-ar
    # the tests as they will be built there, which is all that can be said of them here
    cross check --tests
    # emulated, what is not optimised takes several times as long as its building saves
    CARGO_PROFILE_DEV_OPT_LEVEL=1 cross build
    # Windows 10 has this function, which the standard library takes random numbers from; wine 8 has not
    step x86_64-w64-mingw32-gcc -O -shared -o "$folder/$target/debug/bcryptprimitives.dll" ci/platforms/prng.c -ladvapi32
    export WINEPREFIX=$own/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
    mkdir -p "$WINEPREFIX"
    # one server for all runs, or each would start its own
    step /usr/lib/wine/wineserver64 --persistent
    trap '/usr/lib/wine/wineserver64 --kill' EXIT
    runner "/usr/lib/wine/wine64 '$folder/$target/debug/tensorop.exe'"
    reductions
    tests
    ;;
big-endian)
    target=s390x-unknown-linux-gnu
    install rustc-web cargo-web rust-web-src gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user-static
    export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc
    export CC_s390x_unknown_linux_gnu=s390x-linux-gnu-gcc AR_s390x_unknown_linux_gnu=s390x-linux-gnu-ar
    # emulated, what is not optimised takes several times as long as its building saves
    CARGO_PROFILE_DEV_OPT_LEVEL=1 cross build
    runner "qemu-s390x-static -L /usr/s390x-linux-gnu '$folder/$target/debug/tensorop'"
    step s390x-linux-gnu-gcc -O1 -static -o "$own/mdebr" ci/platforms/mdebr.c
    if qemu-s390x-static "$own/mdebr"; then
        reductions
    else
        printf 'the emulator multiplies float32 into float64 wrongly: products of bfloat16 are left out\n'
        reductions 'bfloat16 mul'
    fi
    tests
    ;;
macos)
    target=aarch64-apple-darwin
    install rustc-web cargo-web rust-web-src python3-venv
    mkdir -p "$own"
    # packages with C code are compiled while they are checked
    if ! [ -x "$own/venv/bin/python" ]; then
        step python3 -m venv "$own/venv"
        step "$own/venv/bin/pip" install --quiet ziglang
    fi
    printf '#!/bin/sh\nexec "%s" -m ziglang cc -target aarch64-macos "$@"\n' "$own/venv/bin/python" >"$own/cc"
    printf '#!/bin/sh\nexec "%s" -m ziglang ar "$@"\n' "$own/venv/bin/python" >"$own/ar"
    chmod +x "$own/cc" "$own/ar"
    export CC_aarch64_apple_darwin=$own/cc AR_aarch64_apple_darwin=$own/ar CRATE_CC_NO_DEFAULTS=1
    # there is no SDK of Apple's here, and nothing is linked
    export SDKROOT=/
    cross check --all-targets --all-features
    result="program, library, tests and benchmarks compile"
    ;;
*)
    fail "ci/platforms.sh ${platform:-(nothing)}: expected windows, big-endian or macos"
    ;;
esac
printf '\n%s: passed: %s\n' "$platform" "$result"
