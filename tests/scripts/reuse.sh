#!/bin/sh
# reuse.sh: 303 stands on the student's own 212 as soon as that passed, and 404 on its tile; else on
# the reference's. 303's bytes tell whose 212 it was: the reference's tiles are larger. Whose tile
# it was is told by a word that the student's has. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset EX PHASE CASE SEED # of the make that runs this
if [ ! -x "$COURSE_BUILD/worker_softgpu" ]; then
    echo 'skipped: needs softgpu'
    exit 0
fi
work=$COURSE_BUILD/test/reuse
rm -rf "$work"
mine=$work/submission
mkdir -p "$mine"
cp -r "$COURSE_BUILD"/skeletons/phase* "$mine"
product=$mine/phase2_cuda_basics/212_matmul_transposed/212_matmul_transposed.cu tile=$mine/phase2_cuda_basics/212_matmul_transposed/212_tile.cuh
linear=phase3_layers/303_linear/303_linear.cu fused=phase4_optimization/404_fusion/404_fusion.cu
small_tiles=grader/exercises/212_matmul_transposed/right/templates_in_z.cu # it has no use for 212_tile.cuh
passed=0 failed=0

grade() { # EXERCISE FLAG...
    "$COURSE_BUILD/grader" grade --backend cpu --submission "$mine" --results "$work/results.json" \
        --exercise "$@" >"$work/log" 2>&1
}

expect() { # WHAT WORDS, of the results
    if grep -q -- "$2" "$work/results.json"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not so: $1; looked for \"$2\" in"
        sed 's/^/    /' "$work/log"
    fi
}

cp solutions/$linear "$mine/$linear"
cp solutions/$fused "$mine/$fused"
sed -i 's/^#define TILE 16.*/&\n#ifdef MINE\n#error my tile\n#endif/' "$mine/$fused"

grade 303
expect '303 passes without 212' '"status": "passed"'
expect 'on the reference' '"prerequisites": "reference"'
reference=$(sed -n 's/.*"counted": \([0-9]*\).*/\1/p' "$work/results.json" | head -n 1)

cp $small_tiles "$product"
grade 303
own=$(sed -n 's/.*"counted": \([0-9]*\).*/\1/p' "$work/results.json" | head -n 1)
echo "$own $reference" >"$work/results.json"
expect 'a 212 that passed is in it, even where 302 is not' "^5[0-9] 8[0-9]$"
grade 404 --case fused_17x33x65
expect 'a tile that is as it was handed out is the course'"'"'s' '"status": "passed"'

cp solutions/phase3_layers/302_bias/302_bias.cu "$mine/phase3_layers/302_bias"
echo '#define MINE' >>"$tile"
grade 303 --case forward_17x33x65
expect 'on nothing but their own' '"prerequisites": "own"'
grade 404 --case fused_17x33x65
expect 'a tile that is written is included' 'my tile'

sed -i 's/a_tile\[ty \* PITCH + i\]/2 * &/' "$product"
grade 303 --case forward_17x33x65
expect 'a 212 that failed is not in it' '"prerequisites": "reference"'
expect 'and costs 303 nothing' '"status": "passed"'
grade 404 --case fused_17x33x65
expect 'nor is its tile' '"status": "passed"'
grade 404 --case fused_17x33x65 --own
expect 'unless it is asked for' 'my tile'
ln -sf /etc/passwd "$tile"
grade 404 --case fused_17x33x65 --own
expect 'and is a file' '212_tile.cuh is not a regular file'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
