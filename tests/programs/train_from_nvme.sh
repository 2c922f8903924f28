#!/bin/sh
# train_from_nvme.sh: make train_from_nvme on softgpu with a file of 10 MB: every way that is here
# brings the right batches, a loader that reads the wrong ones is noticed, the file is gone at the
# end, and nobody's file is written over. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL SUBMISSION EX PHASE CASE SEED OUTPUT DATA MEGABYTES # of the make that runs this
[ -n "${CUCC_FRONTEND:-}" ] || { echo 'skipped: needs nvcc or clang'; exit 0; }
. tests/scripts/tally.sh

train() { # SUBMISSION
    make BUILD="$COURSE_BUILD" BACKEND=cpu train_from_nvme SUBMISSION="$1" DATA="$scratch/data" >"$scratch/said"
}

row() { # WAY VERDICT
    awk -F '\t' -v way="$1" -v verdict="$2" '$1 == way && $6 ~ "^(" verdict ")$" { found = 1 } END { exit !found }' "$scratch/said"
}

# A student's loader that reads the first batch again and again; all other exercises are the course's.
notices_a_mistake() {
    mkdir -p "$scratch/wrong/phase4_optimization/414_loader"
    sed 's/first = s->batch_idx \* l->batch_bytes/first = 0 * l->batch_bytes/' \
        solutions/phase4_optimization/414_loader/414_loader.cu >"$scratch/wrong/phase4_optimization/414_loader/414_loader.cu"
    ! train "$scratch/wrong" && row 'loader of 414' WRONG && row 'pread, one buffer' right
}

keeps_a_file() {
    echo mine >"$scratch/mine"
    ! "$COURSE_BUILD/train_from_nvme" "$scratch/mine" 10 && [ "$(cat "$scratch/mine")" = mine ]
}

check 'a mistake of the loader is noticed' notices_a_mistake
check 'the network is trained from a file' train solutions
check 'by pread' row 'pread, one buffer' right
check 'by the loader' row 'loader of 414' right
check 'by io_uring, or not here' row io_uring 'right|not here'
check 'cuFile is not here, and that is said' row cuFile 'not here'
check 'softgpu has no times' awk -F '\t' '$6 == "right" && $2 != "not timed" { exit 1 }' "$scratch/said"
check 'what was in memory is said' awk -F '\t' '$6 == "right" && $5 !~ /^[0-9]+ %$/ { exit 1 }' "$scratch/said"
check 'the file is gone' test ! -e "$scratch/data"
check 'no file is written over' keeps_a_file
check 'less than a batch is refused' sh -c '"$0" "$1" 1 2>&1 | grep -q ^usage' "$COURSE_BUILD/train_from_nvme" "$scratch/data"
tally
