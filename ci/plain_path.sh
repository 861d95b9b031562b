#!/bin/sh
# Fills a folder with links to what a fresh machine has: Rust's cargo, rustc and rustdoc, a C compiler with what it runs,
# `sh` and coreutils. With it as the whole PATH, a test that needs anything else is seen. What a page or a test may need
# beyond it is skipped by name where it is missing: CONTRIBUTING.md, What a test may need.
#
# usage: ci/plain_path.sh FOLDER
set -eu
folder=${1:?usage: ci/plain_path.sh FOLDER}

rust='cargo rustc rustdoc'
compiler='cc as ld ar'
# of GNU's coreutils what a test could want; other systems have most of them
coreutils='[ b2sum base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp csplit cut date dd df dir
    dircolors dirname du echo env expand expr factor false fmt fold groups head hostid id install join link ln logname ls
    md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd readlink
    realpath rm rmdir runcon seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty
    sum sync tac tail tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink users vdir wc who whoami yes'

# a toolchain of rustup's, not rustup itself, which would put its own folder before all others
toolchain=$(rustc --print sysroot)/bin

# Prints where a program is; `command -v` would not, where the shell has one of that name built in.
find_program() (
    IFS=:
    for place in $2; do
        if [ -f "$place/$1" ] && [ -x "$place/$1" ]; then
            printf '%s\n' "$place/$1"
            return
        fi
    done
    return 1
)

rm -rf "$folder"
mkdir -p "$folder"
for program in $rust; do
    ln -s "$(find_program "$program" "$toolchain:$PATH")" "$folder/$program"
done
for program in $compiler sh $coreutils; do
    if found=$(find_program "$program" "$PATH"); then
        ln -s "$found" "$folder/$program"
    fi
done
for program in $rust cc sh; do
    [ -x "$folder/$program" ] || { echo "error: there is no $program" >&2; exit 2; }
done
