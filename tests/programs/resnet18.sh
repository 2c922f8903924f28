#!/bin/sh
# resnet18.sh: the program of five ResNet-18s and its report, on small images: its CSV is what
# docs/resnet18.md says, all five compute the same, copies are counted, and what is wrong is named. The
# last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset SUBMISSION EX PHASE CASE SEED FORMAT OUTPUT # of the make that runs this
export SOFTGPU_CHECKS=off # a third of the time; what it would find nothing here reads, and grading 505 and 507 does
for file in 505_resnet18/505_resnet18.cu 507_resnet18_optimized/507_resnet18_optimized.cu; do
    [ -e "solutions/phase5_full_network/$file" ] || { echo "skipped: needs $file"; exit 0; }
done
. tests/scripts/tally.sh
resnet18=$COURSE_BUILD/resnet18

refused() { # STATUS WORDS OPTION...: ends with that status, and says so
    status=$1 words=$2
    shift 2
    "$resnet18" "$@" >"$scratch/said" 2>&1
    if [ $? != "$status" ] || ! grep -q -- "$words" "$scratch/said"; then
        cat "$scratch/said"
        return 1
    fi
}

quick='--size 32 --repeats 1 --warmup 0'
sweep=$scratch/resnet18.tsv

# --- all five -----------------------------------------------------------------------------------

run_all_five() {
    # shellcheck disable=SC2086
    "$resnet18" --impl all --precision fp16 --batches 1 $quick --images 1 --verify --answers "$scratch/answers" \
        --csv >"$scratch/csv" &&
        "$resnet18" --impl resident --batches 1,2 --budget 0.001 $quick --profile --csv >"$scratch/scaled" &&
        "$resnet18" --impl optimized --precision fp16 --batches 1 $quick --profile --csv >>"$scratch/scaled"
}

value() { # IMPLEMENTATION COLUMN [FILE]: of batch 1
    awk -F, -v impl="$1" -v column="$2" '/^#/ { next }
        $1 == "implementation" { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        $1 == impl { print $at; exit }' "${3:-$scratch/csv}"
}

is() { # IMPLEMENTATION COLUMN VALUE [FILE]
    got=$(value "$1" "$2" "${4:-}")
    [ "$got" = "$3" ] || { echo "$1: $2 is '$got', not '$3'"; false; }
}

at_most() { # IMPLEMENTATION COLUMN BOUND
    value "$1" "$2" | awk -v bound="$3" '{ print; ok = $1 != "" && $1 + 0 <= bound } END { exit !ok }'
}

columns_are_documented() {
    grep -v '^#' "$scratch/csv" | head -n 1 | tr ',' '\n' >"$scratch/columns"
    [ "$(wc -l <"$scratch/columns")" = 32 ] || return 1
    sed -n '/^## Columns/,$p' docs/resnet18.md >"$scratch/documented"
    grep -v -E '^(batchnorm|relu_add|pooling|linear)_ms$' "$scratch/columns" | while read -r column; do
        grep -q "^|.*\`$column\`" "$scratch/documented" || echo "$column"
    done | { ! grep .; }
}

rows_have_all_fields() {
    awk -F, '!/^#/ { rows++; if (NF != 32) { print; bad = 1 } } END { exit bad || rows != 6 }' "$scratch/csv"
}

check 'it is built from the solutions' make BUILD="$COURSE_BUILD" resnet18 SUBMISSION=solutions
check 'all five run and agree' run_all_five
check 'every column is documented' columns_are_documented
check 'every row has every field' rows_have_all_fields
check 'resident: two copies' is resident copies 2
check 'optimized: two copies' is optimized copies 2
check 'conv_bn: a copy there and back for 40 layers' is conv_bn copies 80
check 'transfer: there and back for 60 layers' is transfer copies 120
for impl in transfer conv_bn resident; do
    check "$impl: layers are the CPU's" at_most $impl layer_error 1e-5
    check "$impl: logits are the CPU's" at_most $impl logit_error 1e-4
done
check 'optimized in fp16 rounds' at_most optimized logit_error 1e-2
check 'and in nothing but fp16' sh -c "! awk 'BEGIN { exit !($(value optimized logit_error) < 1e-5) }'"
check 'the parameters are on the device' sh -c "[ $(value resident peak_bytes) -ge 46758048 ]"
check 'what is held is what was allocated' sh -c "[ $(value resident holds_bytes) -le $(value resident peak_bytes) ]"

scaled_rows_say_so() {
    awk -F, '$1 == "resident" && $4 == 2 { print; found = $5 == 1 && $15 == "" } END { exit !found }' "$scratch/scaled"
}
the_roadmaps_line() {
    # shellcheck disable=SC2086
    "$resnet18" --impl transfer --batch 1 $quick |
        grep -Ex 'Batch 1: CPU [0-9]+\.[0-9]{2} ms, GPU [0-9]+\.[0-9]{2} ms, Speedup: [0-9]+\.[0-9]x'
}
profile_is_of_the_layers() { # convolutions take most of it; nothing is negative
    awk -F, '$1 == "resident" && $4 == 1 { print; ok = $19 > $20 && $19 > $23 && $25 >= 0 } END { exit !ok }' \
        "$scratch/scaled"
}
graph_is_told_by_kind() { # the copy of the image in a frame is no layer: it stays with the others
    for column in convolution_ms pooling_ms linear_ms other_ms; do
        ms=$(value optimized $column "$scratch/scaled")
        echo "$column '$ms'"
        awk -v ms="$ms" 'BEGIN { exit !(ms + 0 > 0) }' || return 1
    done
}
check 'a row that was scaled says so' scaled_rows_say_so
check 'the line of the roadmap' the_roadmaps_line
check 'the profile is of the layers' profile_is_of_the_layers
check 'of those in a graph too' graph_is_told_by_kind

# --- what is wrong is named ---------------------------------------------------------------------

weights=$scratch/weights
damaged() { # OFFSET: a byte changed there
    cp "$weights" "$scratch/damaged"
    printf '\252' | dd of="$scratch/damaged" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
check 'weights are written' "$resnet18" --seed 3 --generate "$weights"
# shellcheck disable=SC2086
check 'and read' "$resnet18" --weights "$weights" --impl cpu --batch 1 $quick
damaged 30000000
check 'a damaged array is named' refused 2 'checksum is wrong, that of layer4' --weights "$scratch/damaged"
damaged 100
check 'a damaged table is refused' refused 2 "$scratch/damaged: " --weights "$scratch/damaged"
head -c 1000000 "$weights" >"$scratch/damaged"
check 'a file cut short is refused' refused 2 'cut short' --weights "$scratch/damaged"
echo 'no weights at all, and longer than eight bytes' >"$scratch/damaged"
check 'another file is refused' refused 2 'no file of weights' --weights "$scratch/damaged"
check 'a missing file is named' refused 2 'none: No such file' --weights "$scratch/none"
check 'a folder that is not there is named' refused 2 'No such file' --generate "$scratch/none/weights"
check 'a wrong batch is named' refused 2 "--batches '0': must be" --batches 0
check 'so is one that is no number' refused 2 "--batches 'x'" --batches 1,x
check 'an unknown implementation is named' refused 2 "--impl 'gpu'" --impl gpu
check 'so is a precision' refused 2 "--precision 'bf16'" --precision bf16
check 'an image that is too small is refused' refused 2 'from 32' --size 16
check 'an unknown option is refused' refused 2 'nrecognized option' --fast
check 'a word that is no option is refused' refused 2 'no option' resident
check 'the help lists all five' sh -c "\"$resnet18\" --help | grep -c -E '^ +(cpu|transfer|conv_bn|resident|optimized) ' | grep -qx 5"

# --- the report ---------------------------------------------------------------------------------

{ grep '^#' "$scratch/csv" && grep -v '^#' "$scratch/csv" | tr ',' '\t'; } >"$sweep"
report() {
    make BUILD="$COURSE_BUILD" report FORMAT=resnet18 OUTPUT="$scratch"
}
numbers_are_the_tables() { # and nothing is left to be filled in
    grep -q "^| conv_bn | fp32 | 1 | .* | $(value conv_bn copies) | " "$scratch/resnet18.md" && ! grep -q '[{}]' "$scratch/resnet18.md"
}
no_such_word() {
    echo '{nothing}' >"$scratch/template"
    ! awk -f bench/resnet18_report.awk "$sweep" "$scratch/template"
}
check 'a report is written' report
check 'its numbers are those of the table' numbers_are_the_tables
check 'a template with a word that is none fails' no_such_word
if command -v gnuplot >/dev/null; then
    check 'it has its pictures' [ "$(find "$scratch" -name 'resnet18_*.svg' | wc -l)" -ge 4 ]
else
    echo 'skipped: the pictures of the report, which need gnuplot'
fi
check 'without a table there is none' sh -c "! make BUILD='$COURSE_BUILD' report FORMAT=resnet18 OUTPUT='$scratch/none'"

for python in python3 /usr/bin/python3; do
    "$python" -c 'import torch' 2>/dev/null || python=
    [ -z "$python" ] || break
done
torch_agrees() {
    "$python" bench/resnet18_torch.py --device cpu --weights "$weights.1" --answers "$scratch/answers" --size 32 \
        --batches 1 --repeats 1 --warmup 0 >"$scratch/torch" && cat "$scratch/torch" &&
        awk -F, '$1 == "torch_cpu" { ok = NF == 32 && $27 < 1e-4 && $28 == $29 } END { exit !ok }' "$scratch/torch"
}
if [ -n "$python" ]; then
    "$resnet18" --generate "$weights.1"
    check 'PyTorch computes the same' torch_agrees
else
    echo 'skipped: PyTorch computes the same: needs python3-torch'
fi

# What nvcc alone compiles.
hoppers_units() {
    solution=solutions/phase5_full_network/507_resnet18_optimized
    CUCC_FRONTEND=nvcc emulator/cucc -arch=sm_90a -DHOPPER_LAUNCH=-1e9 bench/resnet18_hopper.cu \
        common/resnet18_layout.c -Icommon -Iphase5_full_network -I$solution -L"$COURSE_BUILD" -lcourse \
        -Xlinker -rpath="$COURSE_BUILD" -lm -o "$scratch/hopper" && "$scratch/hopper" 2 47
}
if CUCC_FRONTEND=nvcc emulator/cucc --front-end >/dev/null 2>&1; then
    check "507's layers by Hopper's units are right" hoppers_units
else
    echo "skipped: 507's layers by Hopper's units need nvcc"
fi

tally
