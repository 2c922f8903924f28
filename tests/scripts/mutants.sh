#!/bin/sh
# mutants.sh: make mutants judges a solution with one mistake: one that the cases find is killed, one that
# nobody can find is printed with its line, one that is the same code does not count; the table has its row,
# again after a second run. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset EX COUNT SEED LEFT OUTPUT
. tests/scripts/tally.sh
file=phase2_cuda_basics/203_vector_add/203_vector_add.cu
line=$(grep -n 'if (i < n)' "solutions/$file" | cut -d : -f 1)

says() { # WORDS REPLACEMENT: of the line with the sum
    old=$(sed -n "${line}s/^ *//p" "solutions/$file")
    printf '%s\t%s\t1\t%s\t%s\n' "$file" "$line" "$old" "$2" |
        env CUCC_FRONTEND="${CUCC_CLANG:+clang}" "$COURSE_BUILD/grader" mutants --backend cpu --exercise 203 \
            --seed 81726354321 >"$scratch/said"
    cat "$scratch/said"
    grep -qF "$1" "$scratch/said"
}

make_mutants() {
    make BUILD="$COURSE_BUILD" mutants EX=203 COUNT=3 OUTPUT="$scratch/table" "$@"
}

has_its_row() {
    make_mutants && sed 1,2d "$scratch/table" >"$scratch/row" && cat "$scratch/row" &&
        [ "$(cut -f 1-3 "$scratch/row" | tr '\t' ' ')" = '203 3 3' ]
}

row_stays() {
    make_mutants SEED=81726354321 && sed 1,2d "$scratch/table" | diff "$scratch/row" -
}


check 'a wrong sum is killed' says '1 mutants judged, 1 killed' 'if (i < n) c[i] = a[i] - b[i];'
check 'what nobody can find survives' says "solutions/$file:$line: if (i < n)" 'if (i < n && c) c[i] = a[i] + b[i];'
check 'the same code does not count' says '0 mutants judged' 'if ((i) < n) c[i] = (a[i] + b[i]);'
check 'what does not compile does not count' says '0 mutants judged' 'if (i < n) c[i] = a[i] + d[i];'
if has_its_row >"$scratch/made" 2>&1; then
    check 'the table has its row' true
    check 'another run comes to the same' row_stays
elif grep -qE 'cannot be fetched|is missing|NO_INSTALL' "$scratch/made"; then
    echo "skipped: make mutants, which needs pip and PyPI: $(tail -n 1 "$scratch/made")"
else
    check 'the table has its row' sh -c 'cat "$0"; false' "$scratch/made"
fi
tally
