#!/bin/sh
# loop.sh: a student's loop from end to end, in a submission of its own: grade, progress, next,
# compare, reset, watch, run, sanitize, profile. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset EX PHASE CASE SEED # of the make that runs this
work=$COURSE_BUILD/test/loop
rm -rf "$work"
mkdir -p "$work/submission"
cp -r "$COURSE_BUILD"/skeletons/phase* "$work/submission"
export SUBMISSION="$work/submission" RESULTS="$work/results.json" BACKUPS="$work/backups"
history=$work/history.jsonl
first=phase1_cpu/103_matmul_cpu/103_matmul_cpu.c kernel=phase2_cuda_basics/203_vector_add/203_vector_add.cu
compare=phase1_cpu/101_compare/101_compare.c
tiled=phase2_cuda_basics/211_matmul_tiled/211_matmul_tiled.cu
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

# wait_for N: until the history has N verdicts, five minutes at most
wait_for() {
    for _ in $(seq 3000); do
        [ "$(grep -c '"entry"' "$history" 2>/dev/null)" -ge "$1" ] && return
        sleep 0.1
    done
}

grader progress >"$work/log" 2>&1
expect 'nothing is started' '0 of [0-9]* exercises, 0.0 of' "$work/log"
grader next >"$work/log" 2>&1
expect 'the first exercise comes first' '101 compare: not started' "$work/log"
expect 'with its page' 'phase1_cpu/101_compare/README.md' "$work/log"
expect 'and the budget of lines' 'About [0-9]* lines' "$work/log"

# With 101 solved, in a history of its own: 102 lies beside the path.
cp "solutions/$compare" "$SUBMISSION/$compare"
history=$work/path.jsonl grader grade --exercise 101 >"$work/log" 2>&1
expect 'a grading leads on along the path' 'Next: 103 matmul_cpu, make next EX=103' "$work/log"
make BUILD="$COURSE_BUILD" HISTORY="$work/path.jsonl" next >"$work/log" 2>&1
expect 'so does make next' '103 matmul_cpu: not started' "$work/log"
make BUILD="$COURSE_BUILD" HISTORY="$work/path.jsonl" next ALL=1 >"$work/log" 2>&1
expect 'or to all exercises' '102 stopwatch: not started' "$work/log"
# Both commands of make compile the same object: the second finds it.
for command in "grade FRESH=1" check; do
    COURSE_CACHE=$work/objects make BUILD="$COURSE_BUILD" HISTORY="$work/path.jsonl" $command EX=101 >>"$work/objects.log" 2>&1
    ls -d "$work"/objects/*.headers | wc -l
done | sort -u | wc -l >"$work/log"
expect 'an object is compiled once' '^1$' "$work/log"
cp "$COURSE_BUILD/skeletons/$compare" "$SUBMISSION/$compare"

grader grade --exercise vector_add >"$work/log" 2>&1
expect 'an exercise has a name, too' '203  *vector_add ' "$work/log"
cp "$work/results.json" "$work/kept.json"
grader grade --exercise 203 --case n=3 >"$work/log" 2>&1
expect 'no case of that name' "203 has no case 'n=3'; it has 'n=31' " "$work/log"
grader grade --phase 9 >"$work/log" 2>&1
expect 'no such phase' 'no phase 9; there are 1 to 5' "$work/log"
cmp "$work/results.json" "$work/kept.json" >"$work/log" 2>&1 && echo same >"$work/log"
expect 'and the results are as they were' same "$work/log"
make help >"$work/log" 2>&1
expect 'all commands fit on a page' '^[1-3]*[0-9]$\|^40$' /dev/stdin <<EOF
$(wc -l <"$work/log")
EOF
make BUILD="$COURSE_BUILD" grade 203 >"$work/log" 2>&1
expect 'a number is no target' 'make grade EX=203' "$work/log"
make BUILD="$COURSE_BUILD" grade ex=203 >"$work/log" 2>&1
expect 'names are written in capitals' 'ex= is not known: write it in capitals' "$work/log"
if [ -x "$COURSE_BUILD/class" ]; then
    "$COURSE_BUILD/class" --submissions "$work" --out "$work/class" -- "$COURSE_BUILD/grader" grade --exercise 999 >"$work/log" 2>&1
    [ -e "$work/class" ] || echo nobody was graded >>"$work/log"
    expect 'a class is told before' 'no exercise "999"' "$work/log"
    expect 'anybody is graded' 'nobody was graded' "$work/log"
fi

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
expect 'and counted on the path' '1 of 3[0-9] exercises on the path' "$work/log"
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
mv "$SUBMISSION/${first%/*}" "$work/elsewhere"
ln -s "$work/elsewhere" "$SUBMISSION/${first%/*}"
reset 103
expect 'nothing behind a link is handed out' '103_matmul_cpu is a link: nothing was changed' "$work/reset.log"
rm "$SUBMISSION/${first%/*}"
mv "$work/elsewhere" "$SUBMISSION/${first%/*}"

mkdir "$work/fresh"
cp "$COURSE_BUILD/config.mk" "$work/fresh"
env -u MAKELEVEL -u MAKEFLAGS make -n BUILD="$work/fresh" all >"$work/log" 2>&1
expect 'a first build says how long it takes' '^building the grader, once: ' "$work/log"
grep -oE "building [0-9]+/[0-9]+'" "$work/log" | tail -n 1 | grep -oE '[0-9]+' | tail -n 1 >"$work/all"
grep -oE " [0-9]+/$(cat "$work/all")'" "$work/log" | tail -n 1 >"$work/last"
expect 'and counts to the end' " $(cat "$work/all")/$(cat "$work/all")'" "$work/last"

make BUILD="$COURSE_BUILD" compile_commands.json >"$work/log" 2>&1
expect 'an editor is told of the files of students' '"file": "phase2_cuda_basics/203_vector_add/203_vector_add.cu"' compile_commands.json

# One file of each phase, as handed out, and a kernel; by .clangd alone in a folder of their own, and by both.
editor=$(mktemp -d)
trap 'rm -rf "$editor"; [ -z "$watcher" ] || kill "$watcher" 2>/dev/null' EXIT
mkdir "$editor/emulator"
cp -r .clangd common phase?_* "$editor"
cp -r emulator/include "$editor/emulator"
for phase in 1 2 3 4 5; do
    cp -r "$COURSE_BUILD"/skeletons/phase${phase}_* "$editor"
done
cp "solutions/$tiled" "$editor/$tiled"
understands() { # FOLDER FILE...: clangd's own trials of refactoring count as errors; those of the code have a [name]
    folder=$1
    shift
    for file in "$@"; do
        (cd "$folder" && clangd --check="$file" 2>&1) | grep -E '^E\[[^]]*\] \[|All checks completed' | sed "s|^|$file: |"
    done >"$work/log"
    [ "$(grep -c 'All checks completed' "$work/log")" = $# ] && ! grep -q '\] \[' "$work/log" && echo 'no error' >>"$work/log"
}
if command -v clangd >/dev/null; then
    files="$first $kernel $tiled phase3_layers/304_softmax/304_softmax.cu phase3_layers/layers.h phase4_optimization/402_matmul_tensorcore/402_matmul_tensorcore.cu
        phase5_full_network/507_resnet18_optimized/507_resnet18_optimized.cu"
    # shellcheck disable=SC2086
    understands "$editor" $files
    expect 'an editor understands them without' 'no error' "$work/log"
    # shellcheck disable=SC2086
    understands . $files
    expect 'and with it' 'no error' "$work/log"
    echo '__global__ void wrong(float *x) { x[threadIdx.w] = 1.0f; }' >>"$editor/$kernel"
    understands "$editor" "$kernel"
    expect 'and says what is wrong' "no member named 'w'" "$work/log"
else
    echo 'skipped: what an editor makes of a kernel, which needs clangd'
fi

for package in $(sed -n 's/.*missing="$missing \(.*\)"$/\1/p' tools/setup.sh) clang bubblewrap python3-numpy; do
    tr ' ' '\n' <Dockerfile | grep -qxF "$package" || echo "$package"
done >"$work/log"
[ -s "$work/log" ] || echo 'all of them' >"$work/log"
expect 'a container has the packages that the course would install' 'all of them' "$work/log"

before=$(grep -c '"entry"' "$history")
"$COURSE_BUILD/grader" watch --backend cpu --submission "$SUBMISSION" --history "$history" \
    --results "$work/results.json" >"$work/watch.log" 2>&1 & # not by a function: $! would be a shell's
watcher=$!
for _ in $(seq 3000); do grep -q watching "$work/watch.log" && break; sleep 0.1; done
cp "solutions/$first" "$work/new" && mv "$work/new" "$SUBMISSION/$first"
wait_for $((before + 1))
expect 'a file that is replaced is graded' 'matmul_cpu .*passed' "$work/watch.log"
touch "$SUBMISSION/${first%/*}/notes.txt"
echo '#error not now' >>"$SUBMISSION/$first"
wait_for $((before + 2))
expect 'a file that is written is graded' 'not now' "$work/watch.log"
kill "$watcher" && wait "$watcher" 2>/dev/null
watcher=

grader run --exercise 104 --shape 3x4x5 >"$work/log" 2>&1
expect 'what is not written can be run' 'failed: matmul_cpu_ikj is not implemented yet' "$work/log"
grader run --exercise 104 --shape 3x4 >"$work/log" 2>&1
expect 'a shape has its numbers' 'has 3 numbers, not 2' "$work/log"
grader run --exercise 104 --shape=-3x4x5 >"$work/log" 2>&1
expect 'which must make sense' 'cannot take this shape' "$work/log"
grader run --exercise 104 --case none >"$work/log" 2>&1
expect 'and its cases names' "104 has no case 'none'; it has" "$work/log"

cp solutions/phase1_cpu/101_compare/101_compare.c "$SUBMISSION/phase1_cpu/101_compare"
grader run --exercise 101 >"$work/log" 2>&1
expect 'an integer is shown as one, of a case that is not empty' '^    out first_bad  *[1-9][0-9]* (1)$' "$work/log"

if [ -n "${CUCC_FRONTEND:-}" ]; then
    grader run --exercise 204 >"$work/log" 2>&1
    expect 'no case is shown that is empty' 'CASE=.add, n=100,' "$work/log"
    PYTHON=/bin/false grader grade --exercise '203 216' >"$work/log" 2>&1
    expect 'what is skipped for lack of a package is said' \
        'not graded for lack of NumPy: 216 ([0-9]* points); `apt-get install python3-numpy`' "$work/log"
    sed 's/if (i < n) *//; s/i >= n/i > n/' "solutions/$kernel" >"$SUBMISSION/$kernel"
    EX=203 BACKEND=cpu tools/sanitize_student.sh --backend cpu --submission "$SUBMISSION" \
        --exercise 203 >"$work/log" 2>&1
    expect 'an access out of bounds is listed' '203_vector_add.cu:[0-9]*' "$work/log"
    expect 'with the command that repeats it' "make check EX=203 CASE='.*' SEED=[0-9]* SUBMISSION='$SUBMISSION'" "$work/log"
    cp "solutions/$kernel" "$SUBMISSION/$kernel"
    EX=203 BACKEND=cpu tools/sanitize_student.sh --backend cpu --submission "$SUBMISSION" \
        --exercise 203 >"$work/log" 2>&1
    grader grade --exercise 203 >"$work/log" 2>&1
    expect 'sanitize takes no points away' 'traffic: 3 of 3 passed  *15.0 / 15.0' "$work/log"
    grader run --exercise 203 --case n=1000003 --shape 3 --seed 7 >"$work/log" 2>&1
    expect 'one call is shown' 'vector_add(c, a, b, 3, stream)' "$work/log"
    expect 'in a shape of its own' "CASE='n=1000003' SHAPE=3 SEED=7" "$work/log"
    expect 'with its numbers' '^    out c  *-*[0-9.]* -*[0-9.]* -*[0-9.]* (3)$' "$work/log"
    expect 'and its verdict' '^  right$' "$work/log"
    sed 's/if (i < n) /printf("thread %d\\n", (int)i); if (i < n) /; s/a\[i\] + b/a[i] - b/; 1i #include <stdio.h>' \
        "solutions/$kernel" >"$SUBMISSION/$kernel"
    grader run --exercise 203 --shape 2 >"$work/log" 2>&1
    expect 'with what a kernel prints' '^thread 1$' "$work/log"
    expect 'or why it failed' '^  failed: c\[0\] is ' "$work/log"
    grader grade --exercise 203 >"$work/log" 2>&1
    cp solutions/phase3_layers/303_linear/303_linear.cu "$SUBMISSION/phase3_layers/303_linear"
    grader needs '501 505' >"$work/log" 2>&1
    expect 'a program takes what is written' '^phase3_layers/303_linear/303_linear.cu' "$work/log"
    expect 'and nothing else of the student' '^  yours: 303$' "$work/log"
    expect 'not what failed' "^  the course's, because yours failed: 203$" "$work/log"
    expect 'nor its own main part, as long as that is a skeleton' '^solutions/phase5_full_network/501_mnist/501_mnist.cu' "$work/log"
    cp "solutions/$tiled" "$SUBMISSION/$tiled"
    grader grade --exercise 211 >"$work/log" 2>&1
    expect 'what is left to a GPU is told' '([0-9]* more cases need a GPU)' "$work/log"
    expect 'and what comes next' 'make compare EX=211. Next: 212 .*, make next EX=212' "$work/log"
    grader compare --exercise 211 >"$work/log" 2>&1
    expect 'the reference is beside it' 'reference  .* passed ' "$work/log"
    grep -q 'is the least' "$work/log" || echo 'no false floor' >>"$work/log"
    expect 'no conflicts at all can be had' 'no false floor' "$work/log"
    EX=203 BACKEND=cpu tools/profile.sh --backend cpu --submission "$SUBMISSION" \
        --exercise 203 >"$work/log" 2>&1
    expect 'what a kernel moves is counted' '4.0 sectors each' "$work/log"
    expect 'and the line that costs it' '203_vector_add.cu:[0-9]* ' "$work/log"
else
    echo 'skipped: make sanitize and make profile, which need nvcc or clang'
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
