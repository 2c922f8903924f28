#!/bin/sh
# mnist.sh: make mnist on a tenth of the images, by 502: the test images are recognised, and with the
# labels of others as few are right as chance gives. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
[ -n "${CUCC_FRONTEND:-}" ] || { echo 'skipped: needs nvcc or clang'; exit 0; }
unset EX PHASE CASE SEED FORMAT OUTPUT # of the make that runs this
. tests/scripts/tally.sh

trains() {
    make SUBMISSION=solutions BACKEND=cpu FAST=1 EPOCHS=2 mnist >"$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
}

per_cent() { # WORDS LOW HIGH: in the line of these words
    cat "$scratch/said"
    sed -n "s/^$1: \([0-9.]*\) %.*/\1/p" "$scratch/said" | awk -v low="$2" -v high="$3" '{ n++; in_range = $1 > low && $1 < high } END { exit !(n == 1 && in_range) }'
}

check 'it trains' trains
check 'on softgpu' grep -q 'on softgpu$' "$scratch/said"
check 'its own labels' per_cent 'accuracy on [0-9]* test images of .*' 70 100.1
check 'the labels of other images' per_cent 'with the labels of other test images' 5 15
tally
