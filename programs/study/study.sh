#!/bin/sh
# study.sh: the study of exercise 511 on this machine: FOLDER/study.tsv, its conclusions in
# FOLDER/study.txt, and the picture FOLDER/cuda_benchmark_results.png.
#
#   programs/study/study.sh FOLDER [BATCH ...]      PYTHON=FILE: one with PyTorch
set -eu
cd "$COURSE_ROOT"
folder=$1
shift
COURSE_COMMIT=${COURSE_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)}
export COURSE_COMMIT
mkdir -p "$folder"
table=$folder/study.tsv

python_with_torch() {
    for python in ${PYTHON:-python3 /usr/bin/python3}; do
        if "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
}

"$COURSE_BUILD/study" "$@" >"$table.new"
if [ "$BACKEND" = cuda ]; then
    "$COURSE_BUILD/worker_cuda" --device | sed -n 's/^flop_per_second=\(.*\)/# fp32 \1 flop a second at most/p' >>"$table.new"
fi
python=$(python_with_torch)
if [ "$BACKEND" = cuda ] && [ -n "$python" ]; then
    batches=$(awk -F'\t' '!/^#/ && $1 == "fused" && $3 == "device" { print $2 }' "$table.new")
    # shellcheck disable=SC2086
    "$python" programs/study/study_torch.py $batches >>"$table.new"
else
    echo '# PyTorch: skipped, no python3 here has it with a GPU' >>"$table.new"
fi
mv "$table.new" "$table"

awk -f programs/study/reasons.awk "$table" >"$folder/study.txt"
cat "$folder/study.txt"
if command -v gnuplot >/dev/null; then
    gnuplot -e "folder='$folder'" programs/study/study.gp
    echo "$folder/cuda_benchmark_results.png"
else
    echo 'no picture: gnuplot is not installed'
fi
