#!/bin/sh
# validate.sh: make validate on softgpu: each operation has a naive and an optimised row, all that is
# here is right and none has a time, a wrong solution is called so and fails the command, and the
# table has as many fields everywhere. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL SUBMISSION EX PHASE CASE SEED OUTPUT # of the make that runs this
[ -n "${CUCC_FRONTEND:-}" ] || { echo 'skipped: needs nvcc or clang'; exit 0; }
. tests/scripts/tally.sh

validate() { # FLAG...
    make BUILD="$COURSE_BUILD" BACKEND=cpu NO_INSTALL=1 OUTPUT="$scratch" validate "$@"
}

fails() { # COMMAND...
    ! "$@"
}

rows() { # CONDITION: there are such rows
    awk -F '\t' '/^#/ || $1 == "operation" { next } '"$1"' { found = 1 } END { exit !found }' "$scratch/validate.tsv"
}

no_rows() { # CONDITION
    ! rows "$1"
}

check 'all is right' validate
check 'fields of all rows' no_rows 'NF != 13'
check 'the device is named' grep -q '^# device softgpu; commit [0-9a-f]' "$scratch/validate.tsv"
for operation in matmul softmax layernorm attention 'paged attention' experts 'int8 product' 'linear, ReLU' classifier convolution; do
    for kind in naive optimised; do
        check "$operation, $kind" rows '$1 == "'"$operation"'" && $3 == "'$kind'" && $13 == "right"'
    done
    check "$operation, a library, or not here" rows '$1 == "'"$operation"'" && $3 == "library" && ($13 == "right" || $13 == "not here")'
done
for cols in 256 1024 16384 65536; do
    check "rows of $cols" rows '$1 == "softmax, sweep" && $5 ~ / of '$cols'$/ && $13 == "right"'
done
check 'attention unfused, or not here' rows '$2 == "PyTorch unfused" && ($13 == "right" || $13 == "not here")'
check 'by dp4a and on tensor cores' rows '$2 == "413 dp4a" && $13 == "right"'
check 'no time, and bytes' no_rows '$13 == "right" && ($6 != "not timed" || $7 <= 0 || $11 != "")'

# Weights that sum to less than 1.
sed 's|1.0f / sum;|1.0f / (sum + 0.01f);|' solutions/phase4_optimization/405_row_kernels/405_row_kernels.cu >"$scratch/405.cu"
check 'a wrong one fails the command' fails validate \
    VALIDATE_CU='$(filter-out %/405_row_kernels.cu,$(VALIDATE_SRC)) '"$scratch/405.cu"
check 'it is called wrong' rows '$1 == "softmax" && $2 == "405" && $6 == "" && $13 == "WRONG"'
check 'and no other' no_rows '$1 !~ /^softmax/ && $13 == "WRONG"'
tally
