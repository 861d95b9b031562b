#!/usr/bin/env bash
# What takes too long for the gate: many random rounds, the default features and each alone, the public API, the fuzz targets,
# the lowest Rust, the comparisons with NumPy, ONNX, Zarr and other packages of Python on random tensors, the vectors against
# runtimes with planted faults, and the tests of the module in Python.
#
# usage: ci/weekly.sh [rust|oracles] [SEED]
#
# All checks run, and those that failed are named at the end. The packages of Python are installed in a virtual environment in
# target/oracles, in their current versions. SEED is that of the random tensors, by default the number of the week. It takes
# about an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

part=${1:-all} seed=${2:-$(date +%G%V)}
case $part in all | rust | oracles) ;; *) fail "usage: ci/weekly.sh [rust|oracles] [SEED]" ;; esac
failed=()

# Runs a check, and remembers if it fails. Status 3 says that it could not be run.
check() {
    local status=0
    step "$@" || status=$?
    case $status in 0 | 3) ;; *) failed+=("$*") ;; esac
}

if [ "$part" != oracles ]; then
    check cargo clippy --workspace --all-targets --locked -- -D warnings
    check ci/documentation.sh
    for feature in predicates remote zarr; do
        check cargo rustc --profile check --package tensorop-files --lib --features "$feature" --locked -- -D warnings
    done
    check env TENSOROP_TEST_ROUNDS=10 cargo test --locked --test property --test faults --test hostile
    check env TENSOROP_TEST_ROUNDS=10 cargo test --locked --package tensorop-kernels --package tensorop-files --lib
    check env TENSOROP_TEST_ROUNDS=10 cargo test --locked --features remote --test cli -- parts_that_are_killed
    check ci/public_api.sh
    # Fuzzing needs another toolchain, but any can check that the targets still fit the library.
    check cargo check --locked --manifest-path fuzz/Cargo.toml --target-dir target
    check ci/lowest.sh
fi

if [ "$part" != rust ]; then
    environment=target/oracles
    step python -m venv "$environment"
    interpreter=$PWD/$environment/bin/python
    step "$interpreter" -m pip install --quiet --disable-pip-version-check --upgrade --requirement tests/oracle/requirements.txt ||
        not_run "the packages of tests/oracle/requirements.txt cannot be had"
    step cargo build --release --locked --features remote
    program=target/release/tensorop

    # the random tensors of the week
    oracle() {
        local script=$1
        shift
        check "$interpreter" "tests/oracle/$script.py" "$program" "$@"
    }
    oracle differential --seed "$seed" --runtimes 200
    oracle containers --seed "$seed"
    oracle diff_oracle --seed "$seed"
    oracle info_oracle 1000 "$seed"
    oracle zarr_oracle "$seed"
    oracle mutants --seed "$seed"
    oracle zarr_mutants --seed "$seed" --seconds 300
    oracle buckets moto --seed "$seed"
    # the bytes alone count here: a machine that others use measures no time
    oracle workloads --seed "$seed" --count 30 --mib 16 --runs 1
    oracle shards
    oracle onnx_backend
    oracle onnx_node_tests
    oracle onnx_types
    check "$interpreter" tests/oracle/onnx_models.py check "$program" 500
    check "$interpreter" tests/oracle/openvino_models.py check "$program" 200
    oracle golden_files --count 500 --seed "$seed" --rust
    check "$interpreter" tests/oracle/gguf_blocks.py "$program" 1000 "$seed"
    check "$interpreter" tests/oracle/names.py "$program" 3 "$seed"
    check "$interpreter" tests/oracle/quantized.py check "$program" 100
    check "$interpreter" tests/oracle/quantized_faults.py "$program" 2000
    check "$interpreter" tests/oracle/quantized_models.py "$program"
    check "$interpreter" tests/oracle/bitsandbytes_weights.py "$program" 600 "$seed"
    oracle metadata_pairs 1000 "$seed"
    check "$interpreter" tests/oracle/torch_files.py random "$program" 300 "$seed"
    check "$interpreter" tests/oracle/torch_constructors.py "$program" 2000 "$seed"
    check "$interpreter" tests/oracle/torch_files.py mutants "$program" 2000 "$seed"
    check "$interpreter" tests/oracle/vectors.py --tensorop "$program"
    # what parts read and write is counted by strace
    if command -v strace >/dev/null; then
        oracle zarr_cost
    fi
    # the vectors catch faults
    check "$interpreter" conformance/mutants.py "$program" --onnx

    check ci/python.sh "$program"

    # golden files are still what the packages write
    for golden in cast.txt csv.jsonl narrow.jsonl text.jsonl values.jsonl; do
        script=tests/oracle/${golden%.*}_golden.py
        printf '\n==> %s | cmp - tests/golden/%s\n' "$script" "$golden" >&2
        "$interpreter" "$script" | cmp - "tests/golden/$golden" || failed+=("$script: does not write tests/golden/$golden")
    done
fi

if [ "${#failed[@]}" -gt 0 ]; then
    printf '\nfailed, with the seed %s:\n' "$seed" >&2
    printf '  %s\n' "${failed[@]}" >&2
    exit 1
fi
printf '\nall weekly checks passed\n'
