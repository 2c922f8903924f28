#!/bin/sh
# gpt2.sh: make bench LADDER=gpt2 on a tiny network: a step is right, and has no time without a GPU;
# one that does not learn is called wrong; PyTorch, where it is, gives rows of the same table; and
# its layers in fp32 are as accurate as that; 510's products by Hopper's units are right. The last line
# counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL SUBMISSION EX PHASE CASE SEED OUTPUT # of the make that runs this
[ -n "${CUCC_FRONTEND:-}" ] || { echo 'skipped: needs nvcc or clang'; exit 0; }
. tests/scripts/tally.sh

bench() { # FLAG...
    make BUILD="$COURSE_BUILD" BACKEND=cpu NO_INSTALL=1 SIZES=tiny OUTPUT="$scratch" bench LADDER=gpt2 "$@"
}

rows() { # CONDITION: there are such rows
    awk -F '\t' '/^#/ || $1 == "what" { next } '"$1"' { found = 1 } END { exit !found }' "$scratch/gpt2.tsv"
}

no_rows() { # CONDITION
    ! rows "$1"
}

check 'a step is measured' bench
check 'fields of all rows' no_rows 'NF != 11'
check 'the device is named' grep -q '^# device softgpu' "$scratch/gpt2.tsv"
check 'right, and no time' rows '$1 == 510 && $5 == "" && $10 > 0 && $11 == "right, softgpu has no times"'
check 'so is the step in fp32' rows '$1 == "508 on 4g" && $2 == "fp32" && $5 == "" && $10 > 0 && $11 == "right, softgpu has no times"'
check 'and one on the CPU' rows '$1 == "one core of a CPU" && $5 == "" && $11 == "right, softgpu has no times"'
check 'PyTorch, or not here' sh -c "grep -q 'PyTorch: not measured' '$scratch/gpt2.tsv' || grep -q 'PyTorch eager.*right' '$scratch/gpt2.tsv'"

# No step changes anything.
for file in solutions/phase5_full_network/510_gpt2/510_*; do cp "$file" "$scratch"; done
sed 's/CUDA_CHECK(update(net, lr/CUDA_CHECK(update(net, 0 * lr/' solutions/phase5_full_network/510_gpt2/510_gpt2.cu >"$scratch/510_gpt2.cu"
sed 's|#include .*/|#include "|' bench/gpt2_halves.cu >"$scratch/gpt2_halves.cu"
check 'a wrong step is measured' bench HALVES="$scratch/gpt2_halves.cu"
check 'it is called wrong, and has no time' rows '$1 == 510 && $5 == "" && $11 == "WRONG"'

check 'the step in fp32 is still right' rows '$1 == "508 on 4g" && $11 == "right, softgpu has no times"'

layers() {
    set --
    for exercise in 209 302 401 4g; do set -- "$@" solutions/phase?_*/"$exercise"_*/*.cu; done
    emulator/cucc tests/programs/gpt2_layers.c bench/gpt2_layers.cu bench/gpt2_attention.cu "$@" -Icommon -Iphase2_cuda_basics \
        -Iphase3_layers -Iphase4_optimization -L"$COURSE_BUILD" -lcourse -Xlinker -rpath="$COURSE_BUILD" \
        -lm -o "$scratch/layers" && "$scratch/layers"
}
check 'its layers are right' layers

# What nvcc alone compiles.
products() {
    CUCC_FRONTEND=nvcc emulator/cucc -arch=sm_90a bench/gpt2_products.cu -Icommon \
        -L"$COURSE_BUILD" -lcourse -Xlinker -rpath="$COURSE_BUILD" -o "$scratch/products" && "$scratch/products"
}
if CUCC_FRONTEND=nvcc emulator/cucc --front-end >/dev/null 2>&1; then
    check "510's products by Hopper's units are right" products
else
    echo "skipped: 510's products by Hopper's units need nvcc"
fi

tally
