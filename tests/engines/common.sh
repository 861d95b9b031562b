# What the scripts of this folder share: a scratch folder with operands, the guide's own scripts, and what the output must be.
# Not run by itself.
PROGRAM=$(realpath "${1:?the program}")
GUIDE=$(realpath "$(dirname "$0")/../../docs/parts.md")
SCRATCH=$(mktemp -d)
export PROGRAM SCRATCH
trap 'cd "$SCRATCH"; stop; cd /; rm -rf "$SCRATCH"' EXIT
stop() { :; }
cd "$SCRATCH"

skip() {
    echo "skipped: $1"
    exit 0
}

# Debian's packages, where they can be had.
install() {
    { [ "$(id -u)" = 0 ] && apt-get install -y --no-install-recommends "$@"; } >install.log 2>&1
}

# Packages of PyPI in an environment of their own.
python_with() {
    { python3 -m venv venv && venv/bin/pip install --quiet "$@"; } >install.log 2>&1
}

# guide LANGUAGE WORDS: the block of that language of the guide in which the words are.
guide() {
    awk -v fence="\`\`\`$1" -v words="$2" '
        $0 == fence { inside = 1; block = ""; next }
        /^```/ { if (inside && index(block, words)) { printf "%s", block; found = 1 } inside = 0 }
        inside { block = block $0 "\n" }
        END { exit !found }' "$GUIDE"
}

# uint32 [1000, 750] that look like noise, and what one process makes of them
head -c 3000000 /dev/urandom >items
"$PROGRAM" convert "items:uint32[1000,750]" -o big.npy
"$PROGRAM" convert big.npy --chunks 100,100 -o one.zarr

# What the guide's scripts call tensorop has small chunks, so that there are many; its third part is killed in its first run,
# and whoever runs it if KILL says so; its fifth runs twice at once.
mkdir bin
cat >bin/tensorop <<'EOF'
#!/bin/sh
case "$*" in
*"--part 3/"*)
    if mkdir "$SCRATCH/killed" 2>/dev/null; then
        "$PROGRAM" "$@" --chunks 100,100 & sleep 0.02; kill -9 $!
        [ "${KILL-}" != parent ] || kill -9 $PPID
        exit 1
    fi ;;
*"--part 5/"*) "$PROGRAM" "$@" --chunks 100,100 & ;;
esac
"$PROGRAM" "$@" --chunks 100,100 && wait
EOF
chmod +x bin/tensorop
PATH=$SCRATCH/bin:$PATH

# All parts are there, the output is that of one process, and nothing is left beside it.
finished() {
    [ -d killed ] || { echo "nothing was killed"; exit 1; }
    missing=$(tensorop convert big.npy -o big.zarr --finish 64) || { echo "missing: $missing"; exit 1; }
    diff -r one.zarr big.zarr
    ls -d .big* 2>/dev/null && { echo "litter"; exit 1; }
    echo "passed: $0"
}
