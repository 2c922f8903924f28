#!/bin/sh
# layer.sh: make bench LADDER=layer, elementwise and memory on softgpu: every variant of the layer is right in
# both directions and has no time, a wrong one is called so; int8 in and out keeps a quarter of fp32, two
# experts of eight take less than all, and a router says which are in use. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL SUBMISSION EX PHASE CASE SEED OUTPUT SIZES # of the make that runs this
[ -n "${CUCC_FRONTEND:-}" ] || { echo 'skipped: needs nvcc or clang'; exit 0; }
. tests/scripts/tally.sh

bench() { # LADDER FLAG...
    ladder=$1
    shift
    make BUILD="$COURSE_BUILD" BACKEND=cpu NO_INSTALL=1 OUTPUT="$scratch" bench LADDER="$ladder" "$@"
}

rows() { # TABLE CONDITION: there are such rows
    awk -F '\t' '/^#/ || $1 == "what" { next } '"$2"' { found = 1 } END { exit !found }' "$scratch/$1.tsv"
}

no_rows() { # TABLE CONDITION
    ! rows "$@"
}

check 'the layer is measured' bench layer
check 'fields of all rows' no_rows layer 'NF != 8'
check 'the device is named' grep -q '^# device softgpu, ' "$scratch/layer.tsv"
for direction in forward backward; do
    for what in '108, 111: one core of a CPU' "303's baseline: untiled" '303: tiled' '214: registers' '4g: 3xTF32'; do
        check "$what, $direction" rows layer "\$1 == \"$what\" && \$2 == \"$direction\" && \$4 == \"\" && \$8 == \"right, softgpu has no times\""
    done
done
check '407: persistent, forward' rows layer '$1 == "407: persistent" && $2 == "forward" && $8 ~ /^right/'

# Without its bias.
sed 's|return bias == NULL ? cudaSuccess : bias_forward|return cudaSuccess; return bias_forward|' bench/gpt2_layers.cu >"$scratch/gpt2_layers.cu"
sed "s|\"gpt2_layers.cu\"|\"$scratch/gpt2_layers.cu\"|" bench/layer.cu >"$scratch/layer.cu"
check 'a wrong one is measured' bench layer LAYER="$scratch/layer.cu -Ibench"
check 'it is called wrong, and has no time' rows layer '$1 == "4g: 3xTF32" && $2 == "forward" && $4 == "" && $8 == "WRONG"'
check 'and no other' no_rows layer '$1 !~ /^(4g|214)/ && $8 == "WRONG"'

check 'elementwise functions are measured' bench elementwise
for what in '204: add' '204: mul' '204: relu' '204: sigmoid' '301: relu_backward'; do
    check "$what" rows elementwise "NF == 7 && \$1 == \"$what\" && \$3 == \"\" && \$7 == \"right, softgpu has no times\""
done

check 'memory is counted' bench memory
check 'fields of all of its rows' no_rows memory 'NF != 6'
kept() { awk -F '\t' -v what="$1" -v column="${2:-3}" '$2 == what { print $column }' "$scratch/memory.tsv"; }
an_eighth_more_at_most() { # than a quarter: scales and sums of the rows
    [ "$(kept '413, int8 in, int8 out')" -lt $(($(kept '214, fp32') * 9 / 32)) ]
}
check 'int8 in and out keeps a quarter' an_eighth_more_at_most
check 'two experts take less than eight' [ "$(kept '412, top 2' 4)" -lt $(($(kept '412, all 8' 4) / 2)) ]
check 'a network keeps less than a third in int8' [ "$(kept '5c, int8')" -lt $(($(kept '505, fp32') / 3)) ]
check 'the experts in use' rows memory '$2 == "411, top 2 of 64" && $5 > 0 && $5 <= 100 && $6 >= 1'
tally
