#!/bin/sh
# mutants.sh "211 ...": the solutions of these exercises, each with one mistake after the other:
# which ones do the cases not find? It prints them, and writes a row of the table OUTPUT
# (docs/results/mutants.tsv) for each exercise. COUNT (60) mistakes are drawn by SEED, JOBS of them
# are judged at a time; with LEFT=1 those in equivalent.txt are not printed. A mutant is not judged
# again until something that judges it changes (FRESH=1: all).
#
# universalmutator comes from PyPI into the build folder, in the version of requirements.txt.
# Exit status: 2 where it cannot be installed, or the solution itself does not pass.
set -eu
cd "$COURSE_ROOT"
seed=${SEED:-81726354321} # whose numbers the cases get too: the same result every time
packages=$COURSE_BUILD/universalmutator
table=${OUTPUT:-docs/results/mutants.tsv}

die() {
    echo "mutants: $*" >&2
    exit 2
}

need_universalmutator() {
    ! cmp -s tools/mutants/requirements.txt "$packages/requirements.txt" || return 0
    [ -z "${NO_INSTALL:-}" ] || die "no universalmutator in $packages, and NO_INSTALL forbids fetching it"
    python3 -m pip --version >/dev/null 2>&1 || tools/setup.sh --need pip3 python3-pip || exit 2
    rm -rf "$packages"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --require-hashes --no-deps \
        --disable-pip-version-check --retries 2 --target "$packages" -r tools/mutants/requirements.txt ||
        die 'universalmutator cannot be fetched from PyPI: is there a network?'
    cp tools/mutants/requirements.txt "$packages"
}

# The commit is that of the last row; count is what COUNT was for a row.
write_row() { # ROW
    {
        echo "# by make mutants, at $(git rev-parse --short HEAD)"
        printf 'exercise\tcount\tjudged\tkilled\tequivalent\tsurvived\trate\n'
        {
            grep -s '^[1-5]' "$table" | grep -v "^$(cut -f 1 "$1")	" || true
            cat "$1"
        } | sort
    } >"$1.table"
    mv "$1.table" "$table"
}

[ -n "$1" ] || die 'make mutants EX=211'
tools/setup.sh --need python3 python3
need_universalmutator
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for exercise in $1; do
    folder=$(echo solutions/*/"${exercise}"_*/)
    [ -d "$folder" ] || die "there is no exercise $exercise"
    files=$(cd solutions && find "${folder#solutions/}" -name '*.c' -o -name '*.cu' -o -name '*.cuh' -o -name '*.py')
    # shellcheck disable=SC2086
    (cd solutions && PYTHONPATH=$packages PYTHONDONTWRITEBYTECODE=1 python3 ../tools/mutants/mutants.py "$seed" $files) \
        >"$scratch/list"
    "$COURSE_BUILD/grader" mutants --backend cpu --exercise "$exercise" --seed "$seed" ${FRESH:+--fresh} \
        ${JOBS:+--jobs "$JOBS"} --output "$scratch/row" <"$scratch/list"
    write_row "$scratch/row"
done
