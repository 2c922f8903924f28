#!/bin/sh
# llama.sh: make gpt ARCH=llama on a small text: the network is right, it learns with as many parameters
# as the GPT, a run goes on, and each program refuses the other's checkpoint. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
[ -n "${CUCC_FRONTEND:-}" ] || { echo 'skipped: needs nvcc or clang'; exit 0; }
unset EX PHASE CASE SEED FORMAT OUTPUT ARCH # of the make that runs this
. tests/scripts/tally.sh
llama=$COURSE_BUILD/llama kept=$scratch/kept
small='--layers 1 --channels 16 --heads 2 --context 16 --batch 4 --count 40'

refused() { # WORDS COMMAND...: does not end with 0, and says so
    words=$1
    shift
    ! "$@" >"$scratch/said" 2>&1 && grep -q -- "$words" "$scratch/said" || { cat "$scratch/said"; return 1; }
}

make_gpt() { # ASSIGNMENT...
    make BUILD="$COURSE_BUILD" SUBMISSION=solutions BACKEND=cpu gpt-program "$@"
}

is_right() {
    objects=$COURSE_BUILD/program/cpu
    set -- "$objects"/programs/gpt/device.c.o "$objects"/programs/gpt/llama/*.o
    for exercise in 208 212 301 302 303 304 305 311 312 313 314 3c 508 509; do
        set -- "$@" "$objects"/solutions/phase?_*/"$exercise"_*/*.cu.o
    done
    emulator/cucc -O2 tests/programs/llama_network.c "$@" -Icommon -Iphase5_full_network -Xlinker --wrap=gpt_forward \
        -Xlinker --wrap=gpt_backward -Xlinker --wrap=gpt_update -L"$COURSE_BUILD" -lcourse -Xlinker -rpath="$COURSE_BUILD" -lm \
        -o "$scratch/network" && "$scratch/network"
}

yes 'the quick brown fox jumps over the lazy dog' | head -n 200 >"$scratch/text"

# shellcheck disable=SC2086
learns() {
    "$llama" train --text "$scratch/text" --checkpoint "$kept" --curve "$scratch/curve" --steps 30 --every 15 $small >"$scratch/run" || return 1
    cat "$scratch/run"
    awk '/ parameters of Llama blocks \(a GPT has / { n = $3; gpt = $11 + 0 } END { exit !(n > 0.99 * gpt && n <= gpt) }' "$scratch/run" &&
        awk 'NR == 2 { first = $2 } { last = $2 } END { exit !(NR == 31 && last < first - 1) }' "$scratch/curve"
}

# The sample is longer than the context of 16.
writes_the_same() {
    for run in 'one 7' 'two 7' 'other 8'; do
        "$llama" sample --checkpoint "$kept" --prompt 'the ' --count 30 --seed "${run#* }" >"$scratch/${run% *}" || return 1
    done
    cmp "$scratch/one" "$scratch/two" && ! cmp -s "$scratch/one" "$scratch/other" && grep -q '^the ' "$scratch/one"
}

# shellcheck disable=SC2086
goes_on() { # as the same run, dropout and all
    for run in 'whole --steps 10' 'parts --steps 5' 'parts --steps 10 --resume'; do
        "$llama" train --text "$scratch/text" --checkpoint "$scratch/${run%% *}" --curve "$scratch/${run%% *}.tsv" --every 5 --dropout 0.3 \
            $small ${run#* } || return 1
    done
    cmp "$scratch/whole" "$scratch/parts" && cmp "$scratch/whole.tsv" "$scratch/parts.tsv"
}

# shellcheck disable=SC2086
other_is_refused() {
    make_gpt && "$COURSE_BUILD/gpt" train --text "$scratch/text" --checkpoint "$scratch/gpt" --steps 1 $small &&
        refused 'read without ARCH=llama' "$llama" sample --checkpoint "$scratch/gpt" &&
        refused 'read with ARCH=llama' "$COURSE_BUILD/gpt" train --resume --text "$scratch/text" --checkpoint "$kept"
}

check 'it compiles' make_gpt ARCH=llama
check 'loss, gradients and update are right' is_right
check 'it learns with as many parameters' learns
check 'the same seed writes the same' writes_the_same
check 'a run goes on' goes_on
check 'each refuses the checkpoint of the other' other_is_refused
head -c -1 "$kept" >"$scratch/cut"
check 'one that is cut short is named' refused 'cut short' "$llama" sample --checkpoint "$scratch/cut"
check 'heads are even' refused 'even number of channels' "$llama" train --channels 6 --heads 2
check 'the CPU has no such blocks' refused 'need a GPU' "$llama" train --device cpu
check 'another name is refused' refused 'ARCH=lama: gpt or llama?' make_gpt ARCH=lama
check 'it is not for tensor cores' refused 'without FAST=1 and GPUS' make_gpt ARCH=llama FAST=1
check 'nor for several GPUs' refused 'without FAST=1 and GPUS' make_gpt ARCH=llama GPUS=2
tally
