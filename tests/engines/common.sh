# What the scripts of this folder share: a scratch folder with operands, and what the output must be. Not run by itself.
PROGRAM=$(realpath "${1:?the program}")
export PROGRAM
PATH=$(dirname "$PROGRAM"):$PATH
SCRATCH=$(mktemp -d)
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

# uint32 [1000, 750] that look like noise, and what one process makes of them
head -c 3000000 /dev/urandom >items
"$PROGRAM" convert "items:uint32[1000,750]" -o data.npy
"$PROGRAM" convert data.npy --chunks 100,100 -o one.zarr

# All parts are there, the output is that of one process, and nothing is left beside it.
finished() {
    missing=$("$PROGRAM" convert data.npy --chunks 100,100 -o out.zarr --finish "$1") || { echo "missing: $missing"; exit 1; }
    diff -r one.zarr out.zarr
    ls -d .out* 2>/dev/null && { echo "litter"; exit 1; }
    echo "passed: $0"
}
