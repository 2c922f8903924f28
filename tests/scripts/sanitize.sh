#!/bin/sh
# sanitize [EXERCISES]: the grader built with AddressSanitizer and UndefinedBehaviorSanitizer, under
# its unit tests, those of make class, and a grading of EXERCISES ("103 104 111", which need no
# softgpu: that has a sanitize of its own) with all reports of it. Memory that nobody frees is an
# error too.
set -eu
cd "$(dirname "$0")/../.."
exercises=${1:-103 104 111}
build=$(realpath "${BUILD:-build}")/sanitize/grader
flags="-fsanitize=address,undefined -fno-sanitize-recover=undefined"

mkdir -p "$build"
unset MAKEFLAGS MFLAGS MAKELEVEL
built() { # TARGET... FLAG=...
    make BUILD="$build" CFLAGS="-O1 -g $flags" "$@"
}

# Behind its filter of system calls a worker cannot look for leaks at its end; and a library may ask
# for more memory than there is.
cat >"$build/worker_options.c" <<'END'
const char *__asan_default_options(void) { return "detect_leaks=0:allocator_may_return_null=1"; }
END
built LDFLAGS="$flags $build/worker_options.c" "$build/worker_cpu"
built LDFLAGS="$flags" "$build/grader" "$build/unit_tests" "$build/class" "$build/class_tests"

export COURSE_ROOT="$PWD" COURSE_BUILD="$build"
export ASAN_OPTIONS=detect_odr_violation=0 # constants of headers
"$build/unit_tests"
"$build/class_tests"
built LDFLAGS="$flags" fuzz-replay-grader
head -c 32 /dev/urandom >"$build/key"
chmod 600 "$build/key"
results=$build/results.json
"$build/grader" grade --submission solutions --exercise "$exercises" --results "$results" --key "$build/key" \
    --history "$build/history.jsonl"
"$build/grader" verify --results "$results" --key "$build/key" --submission solutions
for format in junit gradescope github summary csv html markdown grades tests; do
    for file in "$results" tests/grader/views/results.json; do
        "$build/grader" report --format $format --results "$file" --history "$build/history.jsonl" >/dev/null
    done
done
