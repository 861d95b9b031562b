#!/usr/bin/env bash
# Reads by the addresses of real servers, which takes a network: nobody's tests depend on them, so a person runs this.
#
# usage: ci/remote.sh [PROGRAM]
#
# Without PROGRAM the program is built with the feature `remote`. Each command must print what is expected of a file that its owners
# have kept for years. Status 3 if there is no network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source ci/common.sh

program=${1:-}
if [ -z "$program" ]; then
    step cargo build --release --locked --features remote --bin tensorop
    program=target/release/tensorop
fi
export TENSOROP_TIMEOUT=10
# only what is public is asked for
unset HF_TOKEN AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 HF_ENDPOINT

# What comes of one command has to have a text in it.
expect() {
    local text=$1 printed
    shift
    printf '\n==> tensorop %s\n' "$*" >&2
    printed=$("$program" "$@") || fail "status $?"
    printf '%s\n' "$printed"
    grep -F -- "$text" <<<"$printed" >/dev/null || fail "expected $text"
}

model=hf://openai-community/gpt2/model.safetensors
"$program" info "$model" >/dev/null 2>&1 || not_run "the Hugging Face Hub cannot be reached"
expect 'wte.weight' info "$model" --members
expect 'float32  [50257, 768]' info "$model:wte.weight"
expect '-0.110' show "$model:wte.weight" --at :1,:1
# the same by its revision, its URL, and a redirect that leaves the token behind
expect 'equal' diff "$model:h.0.ln_1.bias" "hf://openai-community/gpt2@main/model.safetensors:h.0.ln_1.bias"
expect 'equal' diff "$model:h.0.ln_1.bias" "https://huggingface.co/openai-community/gpt2/resolve/main/model.safetensors:h.0.ln_1.bias"
# a public bucket of another region than the usual one, and a store in it
expect 'zarr' info --no-sign-request --json 's3://mur-sst/zarr-v1:analysed_sst'
printf '\nremote: passed\n'
