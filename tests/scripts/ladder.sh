#!/bin/sh
# ladder.sh: make bench LADDER=matmul at one small size: every rung of the CPU is there and right, a
# wrong one is called so and has no speed, the table has as many fields everywhere, and a document
# can hold it. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL SUBMISSION EX PHASE CASE SEED OUTPUT # of the make that runs this
. tests/scripts/tally.sh

bench() { # FLAG...
    make BUILD="$COURSE_BUILD" NO_INSTALL=1 SIZES=128 OUTPUT="$scratch" "$@"
}

rows() { # CONDITION: there are such rows
    awk -F '\t' '/^#/ || $1 == "n" { next } '"$1"' { found = 1 } END { exit !found }' "$scratch/matmul.tsv"
}

no_rows() { # CONDITION
    ! rows "$1"
}

check 'the ladder is measured' bench bench LADDER=matmul
check 'fields of all rows' no_rows 'NF != 10'
for rung in '103 three loops' '104 i, k, j' '105 blocked' '106 vectorized' '107 threads' '108 gemm' '1a packed'; do
    check "$rung" rows '$2 == "'"$rung"'" && $6 > 0 && $10 == "right"'
done
check 'OpenBLAS, or not here' rows '$2 == "OpenBLAS" && ($6 > 0 && $10 == "right" || $10 == "not here")'
check 'NumPy, or not here' rows '$2 == "NumPy" && ($6 > 0 && $10 == "right" || $10 == "not here")'
check 'the GPU' rows '$3 == "GPU" && ($10 == "right" || $10 == "needs a GPU")'
check 'nothing is wrong' no_rows '$10 == "WRONG"'
if command -v gnuplot >/dev/null; then check 'a picture' grep -q '</svg>' "$scratch/matmul.svg"; fi

printf '<!-- tsv: %s, n 128, rung 105 blocked -->\n<!-- end -->\n' "$scratch/matmul.tsv" >"$scratch/page.md"
tools/documents.sh "$scratch/page.md" >/dev/null
check 'one row in a document' test "$(grep -c '^| 128 | 105 blocked |' "$scratch/page.md")" = 1
check 'and no other' test "$(grep -c '^| 128 |' "$scratch/page.md")" = 1

# A product whose last sums are missing.
sed 's/p < k;/p < k - 1;/' solutions/phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c >"$scratch/104.c"
check 'a wrong rung is measured' bench bench-matmul \
    RUNGS_C="$(echo solutions/phase1_cpu/*_matmul_*/*.c | sed "s|[^ ]*/104[^ ]*|$scratch/104.c|")"
check 'it is called wrong, and has no speed' rows '$2 ~ /^104/ && $5 == "" && $6 == "" && $8 == "" && $10 == "WRONG"'

check 'a size that is none' sh -c '"$0" 0 2>&1 | grep -q ^usage' "$COURSE_BUILD/bench_matmul"
tally
