#!/bin/bash
# ncu.sh [PROGRAM [FOLDER]]: measure the launches of PROGRAM.cu: kernels, solutions or hopper, on the
# GPU of this machine, with Nsight Compute, and write FOLDER/PROGRAM.tsv (default: kernels, beside
# this script). Needs nvcc, ncu, and the right to read performance counters. FOLDER/ncu.csv is what
# ncu said.
#
# The GPU runs machine code that was made of the PTX that softgpu interprets (compute_80), so that
# both count the same program; of hopper (compute_90a), whose machine code is also asked how often a warp
# waited at an mbarrier.
#
# LAUNCHES=N measures only the first N launches, SKIP=N all but the first N, where time is short.
#
# The table has a row for each launch: its label; why ptxas made it something else than its PTX says
# (column "merged", empty for nearly all; kept when the table is measured again); the metrics.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${1:-kernels} folder=$(realpath -m "${2:-$here}")
PATH=$PATH:/usr/local/cuda/bin
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
mkdir -p "$folder"
code="arch=compute_80,code=sm_$arch"
[ "$program" != hopper ] || code=arch=compute_90a,code=sm_90a
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Names differ from one GPU to the next: of what we would like, what this one has.
wanted() {
    local memory='(ld|st|red|atom|ldgsts|ldgsts_cache_access|ldgsts_cache_bypass)'
    ncu --query-metrics 2>/dev/null | awk '{ print $1 }' | grep -E \
        -e "^l1tex__t_(requests|sectors)_pipe_lsu_mem_(global|local)_op_$memory\$" \
        -e "^l1tex__data_(pipe_lsu_wavefronts|bank_conflicts_pipe_lsu)_mem_shared(_op_$memory)?\$" \
        -e '^smsp__inst_executed_op_(shared|ldsm|ldgsts|global|local)(_(ld|st|red|atom))?$' \
        -e '^smsp?__inst_executed_pipe_tensor(_op_[hi]mma(_type_hfma2)?)?$' \
        -e '^sm__sass_inst_executed_op_tma_(ld|st|red)$' -e '^l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld$' \
        -e '^l1tex__m_l1tex2xbar_write_sectors_pipe_tma$' -e '^l1tex__t_(requests|sectors)_pipe_lsu_mem_dshared_op_(ld|st)$' \
        -e '^l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma$' \
        -e '^smsp__(thread_inst_executed|inst_executed|thread_inst_executed_pred_on)$' |
        sort -u | sed 's/$/.sum/' | paste -sd,
}

root=$here/../../..
cd "$root"
for file in "$here/$program.cu" $(cat "$here/$program.files"); do
    nvcc -std=c++17 -gencode "$code" -Icommon -Iphase2_cuda_basics -Iphase3_layers \
        -Iphase4_optimization -c "$file" -o "$work/$(basename "$file").o" &
    builds+=($!)
done
for build in "${builds[@]}"; do wait "$build"; done
nvcc -gencode "$code" -o "$work/program" "$work"/*.o
skip=${SKIP:-0} most=${LAUNCHES:-9999}
"$work/program" list | tail -n +$((skip + 1)) | head -n "$most" >"$work/labels"
metrics=$(wanted || true)
[ -n "$metrics" ] || { echo "ncu.sh: ncu knows none of the metrics" >&2; exit 1; }
ncu --clock-control none --cache-control none --csv --page raw --print-units base \
    --launch-skip "$skip" --launch-count "$most" --metrics "$metrics" --log-file "$folder/ncu.csv" "$work/program"

# How often warps looked whether a phase of an mbarrier is over, by launch: each has a kernel of its own,
# which ncu may print more than once.
waits() {
    ncu --clock-control none --section SourceCounters --export "$work/source" "$work/program" >"$work/log"
    ncu --import "$work/source.ncu-rep" --csv --page source --print-source sass | awk '
        { gsub(/^"|"$/, ""); n = split($0, field, /","/) }
        field[1] == "Kernel Name" {
            if (!($0 in number)) number[$0] = ++launches
            now = number[$0]
            waits[now] = 0
        }
        field[1] == "Address" { for (i = 1; i <= n; i++) if (field[i] == "Instructions Executed") executed = i }
        field[2] ~ /SYNCS\.PHASECHK/ { waits[now] += field[executed] }
        END { for (i = 1; i <= launches; i++) print waits[i] }'
}
[ "$program" != hopper ] || waits >"$work/waits"

# "label<TAB>reason" of the rows of an earlier table.
merged() {
    [ ! -e "$here/$program.tsv" ] || awk -F'\t' '!/^#/ && $2 != "" { print $1 "\t" $2 }' "$here/$program.tsv"
}
merged >"$work/merged"

{
    echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)," \
        "CUDA $(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')," \
        "$(ncu --version | sed -n 's/^Version //p'), measured by ncu.sh"
    awk -v labels="$work/labels" -v merged="$work/merged" -v waits="$work/waits" '
        BEGIN {
            while ((getline line <waits) > 0) wait[++waited] = line
            while ((getline line <labels) > 0) label[++count] = line
            while ((getline line <merged) > 0) { split(line, part, "\t"); why[part[1]] = part[2] }
        }
        !/^"/ { next }
        {
            gsub(/^"|"$/, "")
            n = split($0, field, /","/)
        }
        !columns && field[1] == "ID" {
            header = "label\tmerged"
            for (i = 1; i <= n; i++) {
                if (field[i] !~ /^(l1tex|sm|smsp)__.*\.sum$/) continue
                column[++columns] = i
                header = header "\t" field[i]
            }
            print header (waited ? "\tSYNCS.PHASECHK" : "")
            next
        }
        columns && field[1] ~ /^[0-9]+$/ {
            line = label[++row] "\t" why[label[row]]
            for (i = 1; i <= columns; i++) {
                gsub(/,/, "", field[column[i]])
                line = line "\t" field[column[i]]
            }
            print line (waited ? "\t" wait[row] : "")
        }
        END { if (row != count) { print "ncu.sh: " row " rows for " count " launches" >"/dev/stderr"; exit 1 } }
    ' "$folder/ncu.csv"
} >"$work/table"
cp "$work/table" "$folder/$program.tsv"
wc -l "$folder/$program.tsv"
