#!/bin/sh
# study.sh: the program that studies the autoencoder of 511, where there is no GPU: its table, what it
# says of it and its picture; and what reasons.awk makes of times, of which each reason can be confirmed
# or refuted. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset SUBMISSION EX PHASE CASE SEED FORMAT OUTPUT BATCHES # of the make that runs this
. tests/scripts/tally.sh

study() {
    make BUILD="$COURSE_BUILD" BACKEND=cpu study SUBMISSION=solutions OUTPUT="$scratch/out" BATCHES="3 64"
}

counted() { # IMPLEMENTATION BATCH MEASURE
    awk -F'\t' -v i="$1" -v b="$2" -v m="$3" '$1 == i && $2 == b && $3 == m { print $5 }' "$scratch/out/study.tsv"
}

one_launch() {
    [ "$(counted fused 64 launches)" = 1 ] && [ "$(counted layers 64 launches)" = 18 ]
}

one_frame_moves_more() {
    [ "$(counted fused-many_frames 64 bytes)" -gt $((4 * $(counted fused 64 bytes))) ]
}

is_less() { # A B, numbers
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'
}

lanes_and_shared_memory() { # without prefetching one tile has room, and not three
    is_less 50 "$(counted fused 64 '% of lanes')" && ! is_less 100 "$(counted fused 64 '% of lanes')" &&
        is_less "$(counted fused-prefetch 64 '% of shared memory')" "$(counted fused 64 '% of shared memory')" &&
        ! is_less 100 "$(counted fused 64 '% of shared memory')"
}

says() { # FILE WORDS
    grep -q -- "$2" "$1" || { cat "$1"; false; }
}

has_no_times() {
    says "$scratch/out/study.txt" 'no reason is confirmed or refuted' &&
        ! grep -P '\t(call|device)\t' "$scratch/out/study.tsv"
}

is_a_png() {
    command -v gnuplot >/dev/null || return 0
    head -c 4 "$scratch/out/cuda_benchmark_results.png" | grep -q PNG
}

# A made-up table: the layers take LAYERS ms launched and NODES as a graph, the fused kernel FUSED, at a
# batch of 65,536 LARGE, and PyTorch's graph TORCH.
made_up() { # LAYERS NODES FUSED LARGE TORCH
    {
        printf '# device made up\n# copy 4e12 bytes a second\n# fp32 5e13 flop a second\n'
        printf '# flop 225280\n# traffic 2688 bytes\n# weights 456064 bytes\n'
        printf 'implementation\tbatch\tmeasure\tcalls\tmedian\tlow\thigh\n'
        row layers 512 stream "$1"
        row layers 512 device "$2"
        row fused 32 device "$3"
        row fused 512 device "$3"
        row fused 65536 device "$4"
        row torch_graph 512 device "$5"
        row fused-unroll 512 device 0.9
    } >"$scratch/made_up.tsv"
    awk -f programs/study/reasons.awk "$scratch/made_up.tsv" >"$scratch/made_up.txt"
}

row() { # IMPLEMENTATION BATCH MEASURE MEDIAN
    printf '%s\t%s\t%s\t1\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$4" "$4"
}

verdicts_are() { # WORD of each of five
    sed -n 's/^[0-9]\. [^:]*: \([a-z]*\)\. .*/\1/p' "$scratch/made_up.txt" >"$scratch/verdicts"
    printf '%s\n' "$@" | diff - "$scratch/verdicts"
}

all_confirmed() {
    made_up 0.07 0.04 0.03 0.07 0.02 && verdicts_are confirmed confirmed confirmed confirmed confirmed
}

all_refuted() {
    made_up 0.012 0.011 0.009 10000 0.05 && verdicts_are refuted refuted refuted refuted refuted
}

nodes_are_no_launches() { # the layers are slow as a graph, too
    made_up 0.07 0.06 0.03 0.07 0.02 && verdicts_are confirmed confirmed confirmed refuted confirmed &&
        says "$scratch/made_up.txt" 'Launches are 25 % of what it gains'
}

without_numbers_it_is_open() { # MISSING VERDICT...
    made_up 0.07 0.04 0.03 0.07 0.02 && grep -v "$1" "$scratch/made_up.tsv" >"$scratch/less" || return 1
    shift
    awk -f programs/study/reasons.awk "$scratch/less" >"$scratch/made_up.txt" && verdicts_are "$@"
}

switches_have_both_times() {
    made_up 0.07 0.04 0.03 0.07 0.02 && says "$scratch/made_up.txt" 'all options .* 0.0300 ' &&
        says "$scratch/made_up.txt" 'without unroll .* 0.9000 30.00x'
}

refuses_batches() {
    "$COURSE_BUILD/study" 0 >"$scratch/said" 2>&1
    [ $? = 2 ] && says "$scratch/said" usage
}

check 'the study runs' study
check 'one launch against eighteen' one_launch
check 'a frame a block moves more bytes' one_frame_moves_more
check 'lanes at work and shared memory are counted' lanes_and_shared_memory
check 'softgpu gives no times, and says so' has_no_times
check 'PyTorch is skipped with a word' says "$scratch/out/study.tsv" '# PyTorch: skipped'
check 'the picture' is_a_png
check 'times that confirm every reason' all_confirmed
check 'times that refute every reason' all_refuted
check 'a graph that is slow is not the launches' nodes_are_no_launches
check 'a reason without PyTorch is open' without_numbers_it_is_open torch confirmed open confirmed confirmed confirmed
check 'so is one without the peak' without_numbers_it_is_open fp32 open confirmed confirmed confirmed confirmed
check 'each switch beside the time without' switches_have_both_times
check 'a batch of 0 is refused' refuses_batches
tally
