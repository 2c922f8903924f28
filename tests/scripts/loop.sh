#!/bin/sh
# test_loop.sh: a student's loop from end to end, in a submission of its own: grade, progress, next,
# compare, reset, watch, sanitize, profile. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset EX PHASE CASE SEED # of the make that runs this
work=$COURSE_BUILD/test/loop
rm -rf "$work"
mkdir -p "$work/submission"
cp -r "$COURSE_BUILD"/skeletons/phase* "$work/submission"
export SUBMISSION="$work/submission" RESULTS="$work/results.json" BACKUPS="$work/backups"
history=$work/history.jsonl
first=phase1_cpu/103_matmul_cpu.c kernel=phase2_cuda_basics/203_vector_add.cu
passed=0 failed=0
watcher=
trap '[ -z "$watcher" ] || kill "$watcher" 2>/dev/null' EXIT

grader() {
    command=$1
    shift
    "$COURSE_BUILD/grader" "$command" --backend cpu --submission "$SUBMISSION" --history "$history" \
        --results "$work/results.json" "$@"
}

expect() { # WHAT WORDS LOG: the log holds the words
    if grep -q -- "$2" "$3"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not so: $1; looked for \"$2\" in"
        sed 's/^/    /' "$3"
    fi
}

reset() {
    tools/reset.sh "$@" >"$work/reset.log" 2>&1
}

# wait_for N: until the history has N verdicts, a minute at most
wait_for() {
    for _ in $(seq 600); do
        [ "$(grep -c '"entry"' "$history" 2>/dev/null)" -ge "$1" ] && return
        sleep 0.1
    done
}

grader progress >"$work/log" 2>&1
expect 'nothing is started' '0 of [0-9]* exercises, 0.0 of' "$work/log"
grader next >"$work/log" 2>&1
expect 'the first exercise comes first' '103 matmul_cpu: not started' "$work/log"
expect 'with its page' 'docs/exercises/103_matmul_cpu.md' "$work/log"
expect 'and the budget of lines' 'About [0-9]* lines' "$work/log"

grader grade --exercise 103 >"$work/log" 2>&1
grader compare --exercise 103 >"$work/log" 2>&1
expect 'what is not started has no history' 'make grade EX=103' "$work/log"

cp "solutions/$first" "$SUBMISSION/$first"
grader progress >"$work/log" 2>&1
expect 'begun work is seen' 'begun, not graded yet' "$work/log"
grader grade --exercise 103 >"$work/log" 2>&1
grader grade --exercise 103 >"$work/log" 2>&1
expect 'a verdict that is remembered is noted once' '^1$' /dev/stdin <<EOF
$(grep -c '"entry"' "$history")
EOF
grader progress >"$work/log" 2>&1
expect 'a right exercise is done' '# 103 matmul_cpu  *done' "$work/log"
printf '{"time":"2026' >>"$history"
sed -i 's/sum +=/sum -=/; s/sum = 0/sum = 1/' "$SUBMISSION/$first"
echo '/* changed */' >>"$SUBMISSION/$first"
grader progress >"$work/log" 2>&1
expect 'a torn line is mentioned' '1 line cut short or damaged, skipped' "$work/log"
expect 'a changed file is seen' '103 matmul_cpu  *changed since' "$work/log"
grader grade --exercise 103 >"$work/log" 2>&1
grader compare --exercise 103 >"$work/log" 2>&1
expect 'both verdicts are compared' '103 matmul_cpu on .*: 2 gradings' "$work/log"
if command -v gnuplot >/dev/null; then
    expect 'and drawn' '</svg>' "$work/compare_103.svg"
else
    echo 'skipped: a drawing of two gradings, which needs gnuplot'
fi

reset
expect 'reset wants an exercise' 'which exercise' "$work/reset.log"
reset '1*3'
expect 'and no pattern' 'by its number' "$work/reset.log"
cp "$SUBMISSION/$first" "$work/mine"
reset 103
expect 'the old file is kept' 'kept: .*103_matmul_cpu.c.20' "$work/reset.log"
cmp "$work/mine" "$work"/backups/103_matmul_cpu.c.* >"$work/cmp.log" 2>&1 && echo whole >"$work/cmp.log"
expect 'to the last byte' whole "$work/cmp.log"
cmp "$SUBMISSION/$first" "$COURSE_BUILD/skeletons/$first" >"$work/cmp.log" 2>&1 && echo same >"$work/cmp.log"
expect 'and the skeleton is back' same "$work/cmp.log"

before=$(grep -c '"entry"' "$history")
grader watch >"$work/watch.log" 2>&1 &
watcher=$!
for _ in $(seq 100); do grep -q watching "$work/watch.log" && break; sleep 0.1; done
cp "solutions/$first" "$work/new" && mv "$work/new" "$SUBMISSION/$first"
wait_for $((before + 1))
expect 'a file that is replaced is graded' 'matmul_cpu .*passed' "$work/watch.log"
touch "$SUBMISSION/phase1_cpu/notes.txt"
echo '#error not now' >>"$SUBMISSION/$first"
wait_for $((before + 2))
expect 'a file that is written is graded' 'not now' "$work/watch.log"
kill "$watcher" && wait "$watcher" 2>/dev/null
watcher=

if [ -n "${CUCC_FRONTEND:-}" ]; then
    sed 's/if (i < n) *//; s/i >= n/i > n/' "solutions/$kernel" >"$SUBMISSION/$kernel"
    EX=203 BACKEND=cpu tools/sanitize_student.sh --backend cpu --submission "$SUBMISSION" \
        --exercise 203 >"$work/log" 2>&1
    expect 'an access out of bounds is listed' '203_vector_add.cu:[0-9]*' "$work/log"
    expect 'with the command that repeats it' "make check EX=203 CASE='.*' SEED=[0-9]* SUBMISSION='$SUBMISSION'" "$work/log"
    cp "solutions/$kernel" "$SUBMISSION/$kernel"
    EX=203 BACKEND=cpu tools/sanitize_student.sh --backend cpu --submission "$SUBMISSION" \
        --exercise 203 >"$work/log" 2>&1
    grader grade --exercise 203 >"$work/log" 2>&1
    expect 'sanitize takes no points away' 'traffic: 2 of 2 passed  *15.0 / 15.0' "$work/log"
    EX=203 BACKEND=cpu tools/profile.sh --backend cpu --submission "$SUBMISSION" \
        --exercise 203 >"$work/log" 2>&1
    expect 'what a kernel moves is counted' '4.0 sectors each' "$work/log"
    expect 'and the line that costs it' '203_vector_add.cu:[0-9]* ' "$work/log"
else
    echo 'skipped: make sanitize and make profile, which need nvcc or clang'
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
