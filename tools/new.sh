#!/bin/sh
# new.sh: lay out exercise EX (316) called NAME (rope) of PHASE (3), three folders of one name: its page
# and its contract, the solution, and what grades it. It copies n floats, and is complete: the cases
# pass, and the first wrong submission fails. Make it yours from there (CONTRIBUTING.md).
set -eu
cd "$(dirname "$0")/.."

die() {
    echo "new: $*" >&2
    exit 2
}

id=${EX:-} name=${NAME:-} phase=$(echo phase"${PHASE:-}"_*)
[ -n "$id" ] && [ -n "$name" ] && [ -d "$phase" ] || die "as in make new EX=316 NAME=rope PHASE=3"
case $id in
"$PHASE"[0-9][0-9]) number=$id ;;
"$PHASE"[a-z]) number="CHALLENGE($PHASE, '${id#?}')" ;;
*) die "the exercises of phase $PHASE have the numbers ${PHASE}00 to ${PHASE}99, its challenges ${PHASE}a to ${PHASE}z" ;;
esac
case $name in
*[!a-z0-9_]* | [!a-z]*) die "NAME becomes a function of C: small letters, digits and _" ;;
esac
for there in grader/exercises/"$id"_*; do
    [ ! -e "$there" ] || die "$there is there already"
done

# What differs between C on the CPU and CUDA.
if [ "$PHASE" = 1 ]; then
    ending=c call=call_void arguments='u64(n)' runtime=
    declared="void $name(float *y, const float *x, size_t n)"
else
    ending=cu call=call_cuda arguments='u64(n), stream()' runtime='#include <cuda_runtime_api.h>
'
    declared="cudaError_t $name(float *y, const float *x, size_t n, cudaStream_t stream)"
fi
file=${id}_$name
folder=grader/exercises/$file
solution=$phase/$file/$file.$ending
contract=$phase/$file/$name.h
all=$(grep -l '#include "[0-9]' "$phase"/*.h) # contracts of the phase
mkdir -p "$folder/wrong" "$phase/$file" "solutions/$phase/$file"

{
    cat <<END
/*
 * $file.$ending: TODO: what it computes, in one line.
 *
 * The idea: TODO.
 *
 * What it costs: TODO: what bounds it, and what the next exercise takes away.
 */
#include "$file/$name.h"
#include "not_implemented.h"

END
    if [ $ending = c ]; then
        cat <<END
$declared
{
    /* SOLUTION: what the student is to write (about 1 line). */
    for (size_t i = 0; i < n; i++) y[i] = x[i];
    /* END SOLUTION */
}
END
    else
        cat <<END
/* SOLUTION: ${name}_kernel: what the student is to write (about 2 lines). */
__global__ static void ${name}_kernel(float *y, const float *x, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
/* END SOLUTION */

$declared
{
    /* SOLUTION: blocks of 256 threads, none if n is 0 (about 3 lines). */
    if (n == 0) return cudaSuccess;
    unsigned blocks = (unsigned)((n + 255) / 256);
    ${name}_kernel<<<blocks, 256, 0, stream>>>(y, x, n);
    /* END SOLUTION */
    return cudaGetLastError();
}
END
    fi
} >"solutions/$solution"

guard=COURSE_$(echo "$name" | tr a-z A-Z)_H
cat >"$contract" <<END
/*
 * $name.h: the contract of exercise $id. The conventions are in $(basename "$all").
 */
#ifndef $guard
#define $guard

$runtime#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** TODO: shapes, what is overwritten, what may be NULL, what n = 0 gives. y = x. */
$declared;

#ifdef __cplusplus
}
#endif

#endif
END

# The phase's header has it with the others, in order.
{
    sed '/^#include/,$d' "$all"
    { grep '^#include' "$all"; echo "#include \"$file/$name.h\""; } | LC_ALL=C sort
    printf '\n#endif\n'
} >"$folder/all"
cat "$folder/all" >"$all"
rm "$folder/all"

cat >"$folder/cases.c" <<END
/* $file: TODO: what its cases hold it to. */
#include "correctness/case.h"

/* Inputs, a call, and what should have come back: in double, by another way than the solution's. */
static void run_$name(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *x = random_f32(n);
    float *y = f32_array(n);
    double *want = f64_array(n);
    for (size_t i = 0; i < n; i++) want[i] = x[i];
    $call("$name", ARGS(out_f32("y", y, n), in_f32("x", x, n), $arguments));
    expect_close((layout){"y", 1, n}, y, want, NULL, 0.0);
}

/* TODO: nothing, one, what fills a block and what does not, NaN and infinity, in place, large. */
static const grading_case cases[] = {
    {.name = "n=0", .run = run_$name, .shape = {0}},
    {.name = "n=1000", .run = run_$name, .shape = {1000}},
    {0},
};

/* course/exercise.h has all that it may have: .prerequisites, exercises that it calls; .parts, files
 * that it includes; .baseline_file, .speed, .traffic and .speed_points, as 203 has them. */
EXERCISE($id) = {
    .id = $number,
    .name = "$name",
    .file = "$solution",
    .functions = {"$name"},
    .points = 10,
    .cases = cases,
};
END

sed 's/i < n/i + 1 < n/' "solutions/$solution" >"$folder/wrong/changed"
{
    echo "// WRONG: n=1000 | never written"
    diff -U1 --label "a/$solution" --label "b/$solution" "solutions/$solution" "$folder/wrong/changed" || true
} >"$folder/wrong/last_element.patch"
rm "$folder/wrong/changed"

cat >"$phase/$file/README.md" <<END
# $id · TODO: its title

<!-- facts -->
<!-- end -->

## Idea

TODO: one idea, with a picture.

## Contract

\`$name\`, in \`$name.h\`. TODO: what is easily overlooked in it.

## Line budget

TODO: about how many lines.

## Hints

### Hint 1

<details><summary>Show it</summary>

TODO: a question.

</details>

### Hint 2

<details><summary>Show it</summary>

TODO: what most get wrong.

</details>

### Hint 3

<details><summary>Show it</summary>

TODO: the lines that matter.

</details>

## What the measured number means

TODO.

## Read further

- TODO: author, title, number.
END

echo "written: $phase/$file, solutions/$solution, $folder, and a line in $all"
echo "next: make update"
