#!/bin/bash
# fuzz.sh [SECONDS]: fuzz what reads untrusted bytes, each for SECONDS (default 60), from the inputs
# in ptx/, fatbin/ and remote/. New inputs that reach new code stay in build/fuzz; an input that crashes is
# left in build/fuzz too, and the script fails. Wants clang with its sanitizers.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
here=tests/fuzz/emulator
build=${BUILD:-build}/fuzz
seconds=${1:-60}
make -f emulator/emulator.mk "$build/fuzz_ptx" "$build/fuzz_fatbin" "$build/fuzz_remote"
for kind in ptx fatbin remote; do
    mkdir -p "$build/$kind"
    "$build/fuzz_$kind" -max_total_time="$seconds" -max_len=8000 -timeout=10 -rss_limit_mb=4000 \
        -print_final_stats=1 -artifact_prefix="$build/$kind-" "$build/$kind" "$here/$kind"
done
