#!/bin/sh
# handout.sh: a handout holds no line of a solution, neither as text nor in its libraries, but of
# what other exercises include, has all that it needs, and gives the same verdicts and points as the
# whole course. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset EX PHASE CASE SEED HIDDEN # of the make that runs this
git rev-parse HEAD >/dev/null 2>&1 || { echo 'skipped: a handout, which is made from what git tracks'; exit 0; }
work=$COURSE_BUILD/test/handout
rm -rf "$work"
mkdir -p "$work/build"
handout=$work/course
passed=0 failed=0

expect() { # WHAT COMMAND...: it succeeds
    what=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not so: $what"
        head -n 20 "$work/log" | sed 's/^/    /'
    fi
}

says() { # WORDS COMMAND...: it fails, and says so
    words=$1
    shift
    ! "$@" >"$work/said" 2>&1 && { grep -q -- "$words" "$work/said" || { cat "$work/said"; false; }; }
}

# No line of the handout, or of its libraries' strings, has one. The pages of the exercises may: the
# last hint of each is a piece of its solution.
nothing_in() { # PATTERNS
    [ -s "$1" ] && ! find "$handout" -type f ! -path "$handout/phase?_*/*/README.md" -exec grep -aFn -f "$1" /dev/null {} + | grep .
}

# Lines of 25 characters and more that stand in no source that is meant for students.
distinctive() {
    { git ls-files -coz --exclude-standard -- common grader emulator programs 'phase*/*.h' \
        'solutions/phase*/*_tile.cuh' tools/setup.sh && find "$COURSE_BUILD"/skeletons -type f -print0; } |
        grep -zvE '/exercises/[^/]*/(wrong|right|slow|fast|hostile)/|/(baseline\.|(layerwise|host_layers|cpu_network)\.c$)|^programs/gpt/llama/' |
        xargs -0 cat >"$work/public"
    find solutions/phase* grader/exercises/*/baseline.c* -type f ! -name '*_tile.cuh' -exec cat {} + |
        sed 's/^ *//' | sort -u |
        awk 'NR == 1 { public = $0; next }
             length($0) > 24 && !index(public, $0)' RS='\001' "$work/public" RS='\n' -
}

links_lead_somewhere() {
    find "$handout" -name '*.md' | while read -r page; do
        grep -o '](\([^):#]*\)[):#]' "$page" | grep -v ':$' | sed 's/](//; s/.$//' | while read -r target; do
            [ -e "$(dirname "$page")/$target" ] || echo "$page: $target"
        done
    done | { ! grep .; }
}

commands_exist() {
    cat "$handout"/*.md "$handout"/docs/*.md "$handout"/phase?_*/README.md "$handout"/phase?_*/*/README.md |
        grep -oE '(^|`)make [a-z][a-z0-9_.-]*[a-z0-9]' | sed 's/.* //' | sort -u >"$work/commands"
    while read -r target; do
        grep -qE "^([a-z0-9_.-]+ )*$target( [a-z0-9_.-]+)*:" "$handout/Makefile" "$handout/programs/programs.mk" "$handout/emulator/emulator.mk" ||
            echo "no such rule: $target"
    done <"$work/commands" | { ! grep .; }
}

paths_exist() { # of the grader's files
    grep -rhoE --include='*.md' '`grader/[A-Za-z0-9_./]+`' "$handout" | tr -d '`' | sort -u | while read -r path; do
        [ -e "$handout/$path" ] || echo "no such file: $path"
    done | { ! grep .; }
}

# All but simd.c, which includes what make writes.
sources_are_complete() {
    (cd "$handout" && make -n BUILD="$work/none" -o "$work/none/config.mk" -f - all >/dev/null <<'END' && \
        "$CC" -M -D_GNU_SOURCE -DWITH_CUDA -DWITH_SOFTGPU -isystem emulator/include -isystem emulator/include/libraries -Icommon -Igrader \
            -Igrader/worker -Iemulator -Iphase1_cpu -Iphase2_cuda_basics -Iphase3_layers \
            -Iphase4_optimization -Iphase5_full_network $(find common grader emulator -name '*.c' ! -name simd.c))
include Makefile
END
}

# grade_in ROOT BUILD RESULTS EXERCISES: what a submission in the handout gets there
grade_in() {
    env COURSE_ROOT="$1" COURSE_BUILD="$2" COURSE_COMMIT=same "$COURSE_BUILD/grader" grade --backend cpu \
        --submission "$handout" --results "$3" --exercise "$4"
}

in_handout() { # RESULTS EXERCISES
    grade_in "$handout" "$work/build" "$@"
}

in_course() {
    grade_in "$COURSE_ROOT" "$COURSE_BUILD" "$@"
}

# All but times, and what depends on them.
verdicts() { # RESULTS
    grep -E '"(id|name|status|reason|prerequisites|counted|verdict|points|max_points)"' "$1"
}

# Of all exercises they take minutes, and would show no more.
libraries_for_gpus() {
    GPU_ARCHS='80 90' "$COURSE_BUILD/grader" prebuild --backend cuda --exercise 402 --output "$work/prebuilt" &&
        [ -s "$work/prebuilt/cuda/402_baseline.so" ] && grep -q ' cuda/402_baseline.so$' "$work/prebuilt/MANIFEST"
}

expect 'a handout is made' env HANDOUT_CUDA=no tools/handout.sh "$handout"
cp "$work/log" "$work/made"
expect 'compilers say nothing of what is in its libraries' sh -c '! grep "^grader: " "$1"' _ "$work/made"
[ -z "${NVCC:-}" ] || expect 'libraries for GPUs are made, of what multiplies bf16, too' libraries_for_gpus
expect 'but not over what is there' says 'is there already' tools/handout.sh "$handout"
distinctive >"$work/distinctive"
expect 'the solutions have lines of their own' [ "$(wc -l <"$work/distinctive")" -gt 300 ]
expect 'and the handout has none of them' nothing_in "$work/distinctive"
echo "$COURSE_ROOT/solutions" >"$work/paths"
expect 'nor a path to them' nothing_in "$work/paths"
expect 'what its pages refer to is there' links_lead_somewhere
expect 'so are the commands that they name' commands_exist
expect "and the grader's files" paths_exist
expect 'what it is built from is there' sources_are_complete

for program in "$COURSE_BUILD"/grader "$COURSE_BUILD"/worker_* "$COURSE_BUILD"/python_* "$COURSE_BUILD"/*softgpu* "$COURSE_BUILD"/remote \
    "$COURSE_BUILD"/libcourse.so "$COURSE_BUILD"/config.mk; do
    [ ! -e "$program" ] || cp -r "$program" "$work/build"
done
find solutions/phase* -type f ! -name '*.cuh' ! -name '*.answers' >"$work/exercises"
in_handout "$work/skeletons.json" '' >"$work/log" 2>&1
expect 'as handed out nothing is started' grep -q '"points": 0.0,' "$work/skeletons.json"
expect 'nor failed' [ "$(grep -c '"status": "not_started"' "$work/skeletons.json")" = "$(wc -l <"$work/exercises")" ]

needs_in_handout() {
    env COURSE_ROOT="$handout" COURSE_BUILD="$work/build" "$COURSE_BUILD/grader" needs 501 --backend cpu --submission "$handout" 2>&1
}
needs_in_handout >"$work/needs"
expect 'a program takes a library for what is not written' grep -q '^prebuilt/softgpu/302.so' "$work/needs"
expect 'also for what it is about, which 503 needs' grep -q '^prebuilt/softgpu/501.so$' "$work/needs"

for file in phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c phase2_cuda_basics/206_matmul_naive/206_matmul_naive.cu \
    phase3_layers/303_linear/303_linear.cu phase4_optimization/404_fusion/404_fusion.cu phase5_full_network/501_mnist/501_mnist.cu; do
    cp "solutions/$file" "$handout/$file"
done
in_handout "$work/timed.json" 104 >"$work/log" 2>&1
expect 'a baseline times' grep -q '"pairs": [1-9]' "$work/timed.json"
exercises=104
[ -z "${CUCC_FRONTEND:-}" ] || exercises='206 404' # 404 calls an exercise before it
in_handout "$work/there.json" "$exercises" >"$work/log" 2>&1
in_course "$work/here.json" "$exercises" >"$work/log" 2>&1
verdicts "$work/there.json" >"$work/there"
verdicts "$work/here.json" >"$work/here"
expect 'right work passes' grep -q '"status": "passed"' "$work/there"
expect 'with the verdicts that the whole course gives' diff "$work/here" "$work/there"

stops_unwritten() ( # before it trains
    cd "$handout" && ln -s "$work/build" build && says 'no reference: 513' make -o all BUILD=build SUBMISSION=. BACKEND=cpu GPUS=2 gpt &&
        says 'when these are written' make -o all BUILD=build SUBMISSION=. BACKEND=cpu GPUS=2 gpt && [ ! -e build/gpt ] &&
        says 'no reference: 502' make -o all BUILD=build SUBMISSION=. BACKEND=cpu FAST=1 mnist && [ ! -e build/mnist ]
)
[ -z "${CUCC_FRONTEND:-}" ] || expect 'a program stops when what it is about is not written' stops_unwritten
cp solutions/phase5_full_network/509_char_gpt/*.cu* "$handout/phase5_full_network/509_char_gpt"
program_without_cpu() ( # DEVICE=cpu has words for it, and so has ARCH=llama
    cd "$handout" && make BUILD=build SUBMISSION=. BACKEND=cpu gpt-program &&
        says 'not in this copy' build/gpt sample --device cpu &&
        says 'not in this copy' make BUILD=build SUBMISSION=. BACKEND=cpu ARCH=llama gpt-program &&
        says 'No such file' build/gpt sample --device gpu --checkpoint "$work/none"
)
[ -z "${CUCC_FRONTEND:-}" ] || expect "a program goes without the CPU's network" program_without_cpu

on_a_gpu() {
    env COURSE_ROOT="$handout" COURSE_BUILD="$work/build" "$COURSE_BUILD/grader" grade --backend cuda \
        --submission "$handout" --results "$work/r.json"
}
manifest=$handout/prebuilt/MANIFEST
cp "$manifest" "$work/manifest"
sed -i '/softgpu\/302.so/d' "$manifest"
in_handout "$work/r.json" 303 >"$work/log" 2>&1
expect 'what was not made is named' grep -q '"reason": "this handout was made without prebuilt/softgpu/302.so' "$work/r.json"
cp "$work/manifest" "$manifest"
echo '# cudart: libcudart.so.0' >>"$manifest"
expect 'another CUDA runtime is told' says 'made with libcudart.so.0' on_a_gpu
tile=$handout/prebuilt/phase2_cuda_basics/212_matmul_transposed/212_tile.cuh
cp "$tile" "$work/tile"
echo >>"$tile"
expect 'a damaged part is found' says '212_tile.cuh is damaged' in_handout "$work/r.json" 404
cp "$work/tile" "$tile"
echo >>"$handout/prebuilt/softgpu/302.so"
expect 'a damaged library is found' says '302.so is damaged' in_handout "$work/r.json" 303
expect 'and grading says so' grep -q '"error": "prebuilt/softgpu/302.so is damaged' "$work/r.json"
sed -i 's/^# machine: .*/# machine: abacus/' "$manifest"
expect 'another machine is told' says 'this handout is for abacus' in_handout "$work/r.json" 206

echo "$passed passed, $failed failed"
[ $failed = 0 ]
