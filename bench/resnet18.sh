#!/bin/sh
# resnet18.sh: ResNet-18 in all implementations of the course, and in PyTorch where a python3 has it,
# on this machine and in this run: FOLDER/resnet18.tsv. docs/resnet18.md says what the columns are.
#
#   bench/resnet18.sh FOLDER      BATCHES=1,4,8,16,32,64 SIZE=224 REPEATS=15 BUDGET=5 PYTHON=FILE
#
# On softgpu, where a forward pass takes a second, a small image stands for a large one.
set -eu
cd "$COURSE_ROOT"
folder=$1
if [ "$BACKEND" = cuda ]; then
    batches=${BATCHES:-1,4,8,16,32,64} size=${SIZE:-224} repeats=${REPEATS:-15} warmup=3 images=256
else
    batches=${BATCHES:-1,2} size=${SIZE:-32} repeats=${REPEATS:-1} warmup=1 images=2
fi
budget=${BUDGET:-5}
COURSE_COMMIT=${COURSE_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)}
export COURSE_COMMIT

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python_with_torch() {
    for python in ${PYTHON:-python3 /usr/bin/python3}; do
        if "$python" -c 'import torch' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
}

"$COURSE_BUILD/resnet18" --generate "$scratch/weights"
status=0 # 1: something is wrong, and the table says what
"$COURSE_BUILD/resnet18" --impl all --precision fp32,tf32,fp16 --batches "$batches" --size "$size" \
    --repeats "$repeats" --warmup "$warmup" --budget "$budget" --images "$images" \
    --weights "$scratch/weights" --verify --answers "$scratch/answers" --profile --csv \
    >"$scratch/csv" || status=$?
[ $status -le 1 ] || exit $status
python=$(python_with_torch)
if [ -n "$python" ]; then
    "$python" bench/resnet18_torch.py --weights "$scratch/weights" --answers "$scratch/answers" \
        --batches "$batches" --size "$size" --repeats "$repeats" --warmup 5 --budget "$budget" \
        >>"$scratch/csv" || {
        status=1
        echo '# PyTorch: not all measured, it failed' >>"$scratch/csv"
    }
else
    echo '# PyTorch: not measured here, no python3 has it' >>"$scratch/csv"
fi

# Comments first; fields hold no commas.
mkdir -p "$folder"
{ grep '^#' "$scratch/csv" && grep -v '^#' "$scratch/csv" | tr ',' '\t'; } >"$folder/resnet18.tsv"
echo "$folder/resnet18.tsv: $(($(grep -c -v '^#' "$folder/resnet18.tsv") - 1)) rows; make report FORMAT=resnet18 OUTPUT=$folder draws them"
exit $status
