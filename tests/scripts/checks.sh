#!/bin/sh
# checks.sh: make grade on a GPU that looks on softgpu too. The GPU is softgpu behind the name of
# the CUDA runtime, which tells a worker for GPUs nothing of what it finds: only the checks can have
# it. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset EX PHASE CASE SEED # of the make that runs this
if [ ! -x "$COURSE_BUILD/worker_cuda" ] || [ ! -x "$COURSE_BUILD/worker_softgpu" ]; then
    echo 'skipped: needs softgpu, and the CUDA runtime (make setup NVCC_WHEELS=1 fetches it)'
    exit 0
fi
work=$COURSE_BUILD/test/checks
rm -rf "$work"
mkdir -p "$work/build/lib" "$work/submission"
for file in "$COURSE_BUILD"/*; do
    case $file in
    */objects | */scratch | */cache | */test | */obj | */worker_cuda) ;;
    *) ln -s "$file" "$work/build/" ;;
    esac
done
ln -s "$COURSE_BUILD/libsoftgpu.so" "$work/build/lib/libcudart.so"
objects=$(find "$COURSE_BUILD/obj/worker_cuda" -name '*.o')
# shellcheck disable=SC2086
"${CC:-cc}" -o "$work/build/on_softgpu" -Wl,--no-as-needed $objects "$COURSE_BUILD/libcourse.so" \
    "$COURSE_BUILD/libsoftgpu.so" -Wl,-rpath,"$COURSE_BUILD" -lffi -lm -pthread -ldl || exit 1
cat >"$work/build/worker_cuda" <<END # measures nothing
#!/bin/sh
[ "\$1" = --device ] && echo name=none && exit
exec "$work/build/on_softgpu" "\$@"
END
chmod +x "$work/build/worker_cuda"
export CUCC_NVCC="${NVCC:-}" NVCC="$COURSE_ROOT/emulator/cucc" CUDA_LIB="$work/build/lib" ISOLATION=off
passed=0 failed=0
file=phase2_cuda_basics/203_vector_add/203_vector_add.cu

grade() { # FLAG...: one case of 203
    COURSE_BUILD=$work/build "$COURSE_BUILD/grader" grade --backend cuda --exercise 203 --case n=33 \
        --submission "$work/submission" --results "$work/results.json" "$@" >"$work/log" 2>&1
}

expect() { # WHAT WORDS
    if grep -q -- "$2" "$work/log" "$work/results.json"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not so: $1; looked for \"$2\" in"
        sed 's/^/    /' "$work/log"
    fi
}

mkdir -p "$work/submission/${file%/*}"
cp "solutions/$file" "$work/submission/$file"
grade
expect 'a right one passes on both' '203  vector_add .*passed 1/1 .*passed .*10.0 / 10.0'

sed 's/if (i < n) c/if (i < n \&\& ((volatile float *)c)[i] != 7) c/' "solutions/$file" >"$work/submission/$file"
grade
expect 'reading what nothing has written costs the checks' '203  vector_add .*failed 1/1 .*failed .*8.0 / 10.0'
expect 'it is said where' 'checks.*, in n=33: .*203_vector_add.cu:17'
SOFTGPU_CHECKS=off grade --fresh
expect 'whatever the environment has softgpu look for' '203  vector_add .*failed 1/1 .*failed .*8.0 / 10.0'
grade --no-checks
expect 'nobody looks' '203  vector_add .*passed 1/1 .* - .*10.0 / 10.0'
expect 'and that is said' '"skipped: needs softgpu"'

cp grader/exercises/203_vector_add/hostile/on_the_cpu.cu "$work/submission/$file"
grade
expect 'work on the host is a wrong case' 'on softgpu: vector_add: no kernel ran'
expect 'and has no points' '203  vector_add .*failed: 1 of 1 .* 0.0 / 10.0'

COURSE_BUILD=$work/build "$COURSE_BUILD/grader" grade --backend cuda --jobs 3 --exercise "204 217 310" --case any \
    --submission solutions --results "$work/results.json" >"$work/log" 2>&1
for exercise in '204  elementwise' '217  histogram' '310  pooling'; do
    expect 'several at once are right on both' "$exercise  *passed 1/1 .*passed"
done

echo "checks: $passed passed, $failed failed"
[ "$failed" = 0 ]
