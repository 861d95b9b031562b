#!/bin/sh
# Parts by GNU parallel: one of its tasks is killed and repeated, one runs twice. Needs Debian's package parallel.
# usage: parallel.sh PROGRAM
set -eu
. "$(dirname "$0")/common.sh"
command -v parallel >/dev/null || install parallel || skip "no GNU parallel"
cat >task.sh <<'EOF'
#!/bin/sh
# the third part is killed in its first run
if [ "$1" = 3 ] && [ ! -e killed ]; then
    touch killed
    "$PROGRAM" convert data.npy --chunks 100,100 -o out.zarr --part "$1/$2" & sleep 0.02; kill -9 $!
    exit 1
fi
exec "$PROGRAM" convert data.npy --chunks 100,100 -o out.zarr --part "$1/$2"
EOF
parallel -j4 --retries 3 sh task.sh {} 16 ::: $(seq 16) 5
finished 16
