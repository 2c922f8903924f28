#!/bin/sh
# stages.sh: make bench LADDER=mnist on a few images: every stage is there and right, Python's time
# is marked as scaled, without a GPU the GPU's stages have none, a wrong one is called so, and the
# table has as many fields everywhere. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL SUBMISSION EX PHASE CASE SEED OUTPUT # of the make that runs this
export SOFTGPU_CHECKS=off # a quarter of the time; what it would find nothing here reads, and grading 501 and 502 does
[ -n "${CUCC_FRONTEND:-}" ] || { echo 'skipped: needs nvcc or clang'; exit 0; }
. tests/scripts/tally.sh

bench() { # FLAG...
    make BUILD="$COURSE_BUILD" BACKEND=cpu NO_INSTALL=1 SIZES='300 64' OUTPUT="$scratch" "$@"
}

rows() { # CONDITION: there are such rows
    awk -F '\t' '/^#/ || $1 == "what" { next } '"$1"' { found = 1 } END { exit !found }' "$scratch/stages.tsv"
}

no_rows() { # CONDITION
    ! rows "$1"
}

check 'the stages are measured' bench bench LADDER=mnist
check 'fields of all rows' no_rows 'NF != 9'
check 'the device is named' grep -q '^# device softgpu; ' "$scratch/stages.tsv"
for what in training product; do
    check "Python, $what" rows '$1 == "'$what'" && $2 == "Python" && $4 > 0 && $6 == 1 && $7 ~ / of .*, scaled$/ && $9 == "right"'
    for stage in C 'C with threads'; do
        check "$stage, $what" rows '$1 == "'$what'" && $2 == "'"$stage"'" && $4 > 0 && $6 > 0 && $7 == "all" && $9 == "right"'
    done
    check "NumPy, $what, or not here" rows '$1 == "'$what'" && $2 == "NumPy" && ($6 > 0 && $9 == "right" || $9 == "not here")'
    check "PyTorch, $what, or not here" rows '$1 == "'$what'" && $2 == "PyTorch graph" && ($9 == "right" || $9 == "not here")'
done
for stage in naive tiled fused graph 'one kernel' 'C loop, batches sent'; do
    check "$stage: right, and no time" rows '$1 == "training" && $2 == "'"$stage"'" && $4 == "" && $9 == "right, softgpu has no times"'
done
check '503, or not here' rows '$2 == "503, batches sent" && ($9 ~ /^right/ || $9 == "not here")'
check 'nothing is wrong' no_rows '$9 == "WRONG" || $9 == "failed"'

# Adam counts its steps by twos.
sed 's/net->step += 1;/net->step += 2;/' solutions/phase5_full_network/501_mnist/501_mnist.cu >"$scratch/501.cu"
measures_a_wrong_stage() {
    bench "$COURSE_BUILD/bench_stages" \
        STAGES_SRC='$(foreach e,$(filter-out 501,$(STAGES)),$(wildcard solutions/phase?_*/$(e)_*/*.c solutions/phase?_*/$(e)_*/*.cu)) '"$scratch/501.cu" &&
        "$COURSE_BUILD/bench_stages" 300 64 >"$scratch/stages.tsv"
}
check 'a wrong stage is measured' measures_a_wrong_stage
check 'it is called wrong, and has no time' rows '$2 == "fused" && $4 == "" && $9 == "WRONG"'
check 'and no other' no_rows '$2 == "tiled" && $9 == "WRONG"'
check 'a size that is none' sh -c '"$0" 0 2>&1 | grep -q ^usage' "$COURSE_BUILD/bench_stages"
tally
