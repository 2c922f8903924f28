#!/bin/bash
# all.sh [quick]: all tests of the course, one part a line at the end of this file. `make test` builds
# what they need and runs this; `make quick` runs what takes seconds, and of the exercises those that
# were changed since the last commit. The last line printed counts what passed, what failed, and what was
# skipped because this machine lacks something; before it stands what failed, and before that where
# the time went. Most parts keep less than one core busy, so five lists of them run side by side, and
# the corpus takes what they leave; only what it times on the CPU is judged when they have ended.
#
# A part passes when its command exits 0. It counts for as many tests as it says it ran ("3 passed,
# 0 failed", or Check's "Checks: 3, Failures: 0, Errors: 0"), else for one. Each line that begins
# with "skipped" counts as skipped.
#
# ONLY=NAME runs one part; the last lines name each part that failed with the command that repeats it.
#
# FAST=1 leaves out a part that has passed with the same files, which are those of the folders in $of,
# and those of the exercises in $with: with $graded their cases and corpus too, else their baselines.
# CI=true takes no notice of it.
set -u
TIMEFORMAT='%U %S'
cd "$COURSE_ROOT" || exit 2
fast=${FAST:-}
unset MAKEFLAGS MFLAGS MAKELEVEL FAST # the makes below are their own; FAST means another thing to make gpt

logs=$COURSE_BUILD/test
mkdir -p "$logs"
: >"$logs/counts"
: >"$logs/seconds"
: >"$logs/failed"
: >"$logs/again"
: >"$logs/skipped"

counts_of() { # LOG: passed and failed, if it has any
    awk '/Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+/ {
             sub(/^.*Checks: /, "")
             split($0, n, /[^0-9]+/)
             checks_passed += n[1] - n[2] - n[3]; checks_failed += n[2] + n[3]; found = 1
         }
         /[0-9]+ passed, [0-9]+ failed/ {
             sub(/ passed, /, " "); sub(/^.*: /, "")
             last_passed = $1; last_failed = $2; found = 1
         }
         END { if (found) print checks_passed + last_passed, checks_failed + last_failed }' "$1"
}

# What a part depends on: its files as they are, committed or not, and what was found here.
files_now() {
    {
        git ls-files -coz --exclude-standard -- $of Makefile '*.mk' tests/all.sh || date +%N
        for exercise in ${with:-}; do
            git ls-files -coz --exclude-standard -- "*phase?_*/${exercise}_*/*" \
                "grader/exercises/${exercise}_*/${graded:-baseline.}*"
        done
        printf '%s\0' "$COURSE_BUILD/config.mk"
    } | xargs -0 sha256sum 2>&1 | sha256sum
}

wanted() { # NAME
    [ -z "${ONLY:-}" ] || [ "$1" = "$ONLY" ]
}

unchanged() { # STAMP
    [ -n "$fast" ] && [ "${CI:-}" != true ] && [ "$(cat "$1" 2>&1)" = "$files" ]
}

# Lines of a log that tell nothing of a failure.
of_what_passed='^ok |^ +[0-9]+ +[0-9]+ +[0-9]+ of |^  [1-5][0-9a-z]+ +[a-z0-9_]+ +passed |^      traffic: .*: counted '

part() { # NAME COMMAND...
    wanted "$1" || return 0
    name=$1 log=$logs/${1// /_}.log start=$SECONDS
    files=$(files_now)
    shift
    if unchanged "$log.passed"; then
        skip "$name" 'unchanged since it passed'
        return
    fi
    rm -f "$log.passed"
    { time "$@" >"$log" 2>&1; } 2>"$log.cpu"
    status=$?
    counts=$(counts_of "$log")
    ok=${counts% *} bad=${counts#* }
    if [ -z "$counts" ]; then ok=1 bad=0; fi
    if [ -z "$counts" ] && grep -q ^skipped "$log"; then ok=0; fi
    if [ $status != 0 ] && [ "$bad" = 0 ]; then ok=$((ok > 0 ? ok - 1 : 0)) bad=1; fi
    echo "$ok $bad $(grep -c ^skipped "$log")" >>"$logs/counts"
    echo "$((SECONDS - start)) $(awk '{ printf "%.0f", $1 + $2 }' "$log.cpu") $name" >>"$logs/seconds"
    say "$name" "$ok passed, $bad failed"
    sed -n 's/^skipped/    &/p' "$log" | tee -a "$logs/skipped"
    if [ "$bad" = 0 ]; then
        echo "$files" >"$log.passed"
    else
        { say "$name" "$bad failed" && grep -vE "$of_what_passed" "$log" | tail -n 60 | sed 's/^/    /'; } >>"$logs/failed"
        echo "FAILED $name: make test ONLY=\"$name\"" >>"$logs/again"
    fi
}

skip() { # NAME WHY
    wanted "$1" || return 0
    say "$1" "skipped: $2" | tee -a "$logs/skipped"
    echo '0 0 1' >>"$logs/counts"
}

say() { # NAME WHAT
    printf '%-38s %s\n' "$1" "$2"
}

build() {
    make BUILD="$COURSE_BUILD" "$@"
}

# An exercise waits for processes more than it works: two for each core, where no GPU has to hold them.
grade() { # RESULTS FLAG...
    results=$1
    shift
    [ "$BACKEND" = cuda ] || set -- --jobs $((2 * $(nproc))) "$@"
    "$COURSE_BUILD/grader" grade --backend "$BACKEND" --results "$results" "$@"
}

quick_compiler=${CUCC_FRONTEND:-} # of both: clang takes a third of nvcc's time
[ -z "${CUCC_CLANG:-}" ] || quick_compiler=clang

cuda_exercises=$(ls solutions/phase[2-9]_*/*/ | sed -n 's/^\([0-9]*[a-z]*\)_.*\.cu$/\1/p' | tr '\n' ' ')

# What is timed is left out: a loaded machine must not fail the tests. What is counted is not: on
# softgpu the solutions in CUDA earn every point that there is, and no compiler warns of them. CI draws the
# same numbers each time, so that what fails there fails again; elsewhere each run draws its own.
solutions_are_right() {
    [ "${CI:-}" != true ] || set -- --seed 81726354321
    grade "$logs/solutions.json" --submission solutions --rounds 1 "$@" &&
        grep -q '"status": *"passed"' "$logs/solutions.json" &&
        ! grep -qE '"status": *"(failed|build_failed|not_started|not_run)"' "$logs/solutions.json" &&
        grep -q '"warnings": *""' "$logs/solutions.json" && ! grep '"warnings": *"[^"]' "$logs/solutions.json" &&
        { [ "$BACKEND" = cuda ] || solutions_earn_all; }
}

solutions_earn_all() {
    "$COURSE_BUILD/grader" report --format grades --results "$logs/solutions.json" --output "$logs/grades.tsv" &&
        awk -F '\t' -v cuda=" $cuda_exercises" '/^#/ { next }
            !("points" in at) { for (i = 1; i <= NF; i++) at[$i] = i; next }
            index(cuda, " " $at["exercise"] " ") { found++ }
            index(cuda, " " $at["exercise"] " ") && $at["points"] != $at["of"] { print "not all points: " $0; lost = 1 }
            END { exit lost || !found }' "$logs/grades.tsv"
}

# Of a tests.tsv, what each test is, without what was measured.
tests_in() {
    awk -F '\t' '/^#/ { next }
        !("metric" in at) { for (i = 1; i <= NF; i++) at[$i] = i }
        { print $at["exercise"] "|" $at["kind"] "|" $at["function"] "|" $at["metric"] "|" $at["bound"] "|" $at["wanted"] }' "$1"
}

# What docs/results says of a test, it says of the test as it is: same metric, bound and threshold.
# A test may be there that nobody has measured yet.
tests_are_as_measured() {
    "$COURSE_BUILD/grader" report --format tests --results "$logs/solutions.json" --output "$logs/tests.tsv" || return 1
    tests_in "$logs/tests.tsv" >"$logs/tests"
    for measured in docs/results/*/tests.tsv; do
        ! tests_in "$measured" | grep -vxFf "$logs/tests" || return 1
    done
}

skeletons_score_nothing() {
    grade "$logs/skeletons.json" --submission "$COURSE_BUILD/skeletons" &&
        grep -q '"status": *"not_started"' "$logs/skeletons.json" &&
        ! grep -E '"status": *"(passed|failed|build_failed|not_run)"' "$logs/skeletons.json"
}

# A skeleton with a comment more is somebody's work that implements nothing: no case passes, and no
# compiler warns of it.
begun_skeletons_score_nothing() {
    rm -rf "$logs/begun"
    cp -r "$COURSE_BUILD/skeletons" "$logs/begun"
    for file in "$logs"/begun/*/*/*; do echo '/* begun */' >>"$file"; done
    CUCC_FRONTEND=$quick_compiler grade "$logs/begun.json" --submission "$logs/begun" &&
        grep -q '"status": *"failed"' "$logs/begun.json" &&
        ! grep -E '"status": *"(passed|build_failed|not_started)"' "$logs/begun.json" &&
        ! grep -E '"points": *[0-9.]*[1-9]' "$logs/begun.json" &&
        grep -q '"warnings": *""' "$logs/begun.json" && ! grep '"warnings": *"[^"]' "$logs/begun.json"
}

# softgpu, and what compilers say of everything.
emulator_and_compilers() {
    of='emulator tests/emulator tests/fuzz common'
    part 'device of softgpu'             "$COURSE_BUILD/test_device"
    part 'a device in another process'   "$COURSE_BUILD/remote/test_device"
    part 'softgpu'                       build emulator-test
    part 'what softgpu says of mistakes' build emulator-diagnose
    part 'softgpu by both compilers'     build emulator-compare
    part 'headers compiled once'         tests/emulator/precompiled
    part 'softgpu in another process'    build emulator-test-remote
    part "softgpu's headers are CUDA's"  tests/emulator/abi
    part 'what fuzzers began with'       build fuzz-replay
    of='grader emulator common tests phase?_* solutions bench tools'
    part 'the same, of the grader'       build fuzz-replay-grader
    part 'compiles without warnings'     build compiled
}

# Everything graded; clang compiles the right submissions of the corpus.
solutions() {
    of='grader emulator common phase?_* solutions docs/results tools'
    part 'solutions are right'             solutions_are_right
    part 'measured are the tests of today' tests_are_as_measured
}

# What takes seconds.
basics() {
    of=.
    part 'rooms'                           tools/rooms.sh
    part 'no copies in the corpus'         tools/copies.sh
    part 'plain words'                     tools/prose.sh
    part 'unit tests of the grader'        "$COURSE_BUILD/unit_tests"
    part 'make update has nothing to write' build check-generated
}

# The exercises that have a file which the last commit does not have like that.
changed_exercises() {
    { git diff --name-only HEAD && git ls-files -o --exclude-standard; } | tr '/' '\n' |
        sed -n 's/^\([1-5][0-9a-z]*\)_.*/\1/p' | sort -u | while read -r id; do
        ! ls -d grader/exercises/"$id"_*/ >/dev/null 2>&1 || printf '%s ' "$id"
    done
}

changed_are_right() {
    grade "$logs/changed.json" --submission solutions --exercise "$changed" &&
        ! grep -qE '"status": *"(failed|build_failed|not_started|not_run)"' "$logs/changed.json"
}

quick() {
    basics
    changed=$(changed_exercises)
    if [ -z "$changed" ]; then
        skip 'exercises' 'none changed since the last commit'
        return
    fi
    part "solutions of $changed" changed_are_right
    corpus_part 'corpus: wrong rejected, right not' --exercise "$changed"
}

# Of the same numbers every time, since which mistake a message names may depend on them; from a
# seed that no submission guesses. Many only wait for their deadline: three for each core. By clang:
# solutions are compiled by nvcc, where there is one.
corpus_part() { # NAME FLAG...
    of='grader emulator common phase?_* solutions'
    name=$1
    shift
    part "$name" env CUCC_FRONTEND="$quick_compiler" \
        "$COURSE_BUILD/grader" corpus --seed 81726354321 --jobs $((3 * $(nproc))) "$@"
}

# The exercises in C with a speed test: what is slow among their submissions wants the cores for itself.
timed_exercises() {
    for exercise in $(ls -d grader/exercises/*/slow | cut -d / -f 3); do
        ! ls solutions/phase?_*/"$exercise/$exercise.c" >/dev/null 2>&1 || printf '%s ' "${exercise%%_*}"
    done
}

other_exercises() {
    ls grader/exercises | sed -n 's/^\([1-9][0-9a-z]*\)_.*/\1/p' | grep -vxFf <(timed_exercises | tr ' ' '\n') | tr '\n' ' '
}

most_of_the_corpus() {
    corpus_part 'corpus: wrong rejected, right not' --exercise "$(other_exercises)"
}

# The course without its exercises. A part that needs some of them names them.
machinery='. :(exclude,glob)grader/exercises/[0-9]*/** :!solutions :(exclude,glob)phase?_*/[0-9]*/**'

# The grader, and what it says of the course.
grader() {
    basics
    of=$machinery graded='*'
    if [ -x "$COURSE_BUILD/class_tests" ]; then
        with=103 part 'grading a class'        "$COURSE_BUILD/class_tests"
        with=103 part 'the same through Slurm' tests/scripts/slurm.sh
    else
        skip 'grading a class' 'needs libarchive (tools/setup.sh --archive)'
    fi
    of=.
    part 'skeletons score nothing'         skeletons_score_nothing
    part 'begun skeletons score nothing'   begun_skeletons_score_nothing
    if python=$(tests/programs/torchvision.sh --python); then
        part "504's logits are torchvision's" env PYTHON="$python" tests/programs/torchvision.sh
    else
        skip "504's logits are torchvision's" 'needs python3 with torchvision'
    fi
}

# Commands and programs, and what they make.
networks='103 106 107 109 110 111 112 202 203 204 205 208 209 212 213 301 302 303 304 305 307 309 310
          311 312 313 314 404 408 501 502 504 505 506 507 508 509 510'

commands() {
    of=.
    part 'a handout'                       env CUCC_FRONTEND="$quick_compiler" tests/scripts/handout.sh
    of='README.md CONTRIBUTING.md docs tools emulator/README.md phase?_* tests/scripts'
    part 'the book'                        tests/scripts/book.sh
    part 'the report'                      tests/scripts/report.sh
    of=$machinery graded='*'
    with='103 104'         part 'reports'                         tests/scripts/views.sh
    with='203 206 207 208 209 211' part 'pictures of kernels'     tests/scripts/see.sh
    with="$networks 101 211 402"   part "a student's loop"        tests/scripts/loop.sh
    with='212 302 303 304 404 407' part "a student's own, used again" tests/scripts/reuse.sh
    with=                  part 'softgpu without the course'      tests/scripts/install.sh
    with='103 203'         part 'a build from a cache'            tests/scripts/build_cache.sh
    with='103 104 105'     part 'watching files'                  tests/scripts/watch.sh
    with=200               part 'a first program'                 tests/programs/first.sh
    with='103 104'         part 'repeated gradings'               tests/scripts/repeat.sh
    with=203               part 'mutants of a solution'           tests/scripts/mutants.sh
    with=103               part 'hostile ones without isolation'  tests/scripts/hostile.sh
    with=203               part 'a GPU that looks on softgpu too' tests/scripts/checks.sh
    with=                  part 'an exercise laid out'            tests/scripts/new.sh
}

# By clang, which takes a sixth of nvcc's time with headers compiled once: "solutions are right" is of nvcc's.
programs() {
    export CUCC_FRONTEND=$quick_compiler
    of=$machinery
    with=$networks         part 'five ResNet-18s'                 tests/programs/resnet18.sh
    with="$networks 108 3a 4c 4d 4i" part 'a GPT that writes'       tests/programs/gpt.sh
    with="$networks 108 3c"        part 'a GPT of Llama blocks'       tests/programs/llama.sh
    with="$networks 104 206 211"   part 'the stages in one table' tests/scripts/stages.sh
    with="$networks 401 409 411 412 416 4c 4d 4g 4i 4j 512" part 'operations for PyTorch' tests/programs/torch_ops.sh
    with="$networks 106 107 108 111 214 306 401 407 409 411 412 413 4g 5c" part 'a layer and memory in two tables' tests/scripts/layer.sh
    with="$networks 3a 401 4c 4d 4g 4i"     part 'a step of GPT-2 in one table' tests/scripts/gpt2.sh
    with='206 214 2a 304 306 307 311 313 402 404 405 410 412 413 4a 4b 4c 4h' \
                           part 'each operation validated'        tests/scripts/validate.sh
    with=$networks         part 'digits that are recognised'       tests/programs/mnist.sh
    with="$networks 511"   part 'what bounds an autoencoder'      tests/programs/study.sh
    with="$networks 211 216 503"   part 'a package of Python'     tests/scripts/cuda_nn.sh
    with='102 103 107 202 204 205 208 213 408' part 'one library, two backends' tests/programs/cuda_demo.sh
    with="$networks 414"   part 'training from a file'            tests/programs/train_from_nvme.sh
    with='103 104 105 106 107 108 1a 206 211 212 213 214 2a 401 402 4a 4b 4g' \
                           part 'the ladder in one table'         tests/scripts/ladder.sh
    with=                  part 'what is given to make'           tests/scripts/given.sh
}

everything() {
    lanes=
    for list in emulator_and_compilers solutions grader commands programs most_of_the_corpus; do
        $list &
        lanes="$lanes $!"
    done
    for lane in $lanes; do
        wait "$lane" || echo '0 1' >>"$logs/counts" # it died
    done
    corpus_part 'corpus: what is timed' --exercise "$(timed_exercises)"
}

"${1:-everything}"

printf '\nseconds   of a core   part\n'
sort -rn "$logs/seconds" | while read -r seconds cpu name; do printf '%7d %11d   %s\n' "$seconds" "$cpu" "$name"; done
echo
sed -n 's/^[0-9 ]* corpus: /corpus: /p' "$logs/seconds" | while read -r name; do sed -n '/^seconds /,/^$/p' "$logs/${name// /_}.log"; done
cat "$logs/failed"
[ ! -s "$logs/failed" ] || sed -n 's/^ *\(FAILED .*: make corpus EX=\)/\1/p' "$logs/failed"
cat "$logs/again"
[ "${CI:-}" = true ] || ! grep -q need "$logs/skipped" || echo 'tools/setup.sh --ci installs packages that skipped tests need'
[ -s "$logs/counts" ] || { echo "no part of the tests is called \"${ONLY:-}\""; exit 2; }
awk '{ passed += $1; failed += $2; skipped += $3 }
     END { print passed " passed, " failed " failed, " skipped + 0 " skipped"; exit failed != 0 }' "$logs/counts"
