#!/bin/sh
# gpt.sh: the program that trains a GPT on a text and lets it write, on a small text: losses fall, a
# run goes on, the same seed writes the same, and a file that is damaged is named. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
[ -n "${CUCC_FRONTEND:-}" ] || { echo 'skipped: needs nvcc or clang'; exit 0; }
unset EX PHASE CASE SEED FORMAT OUTPUT # of the make that runs this
. tests/scripts/tally.sh
gpt=$COURSE_BUILD/gpt kept=$scratch/kept

refused() { # WORDS OPTION...: does not end with 0, and says so
    words=$1
    shift
    if "$gpt" "$@" >"$scratch/said" 2>&1 || ! grep -q -- "$words" "$scratch/said"; then
        cat "$scratch/said"
        return 1
    fi
}

yes 'the quick brown fox jumps over the lazy dog' | head -n 200 >"$scratch/text"
small='--layers 1 --channels 16 --heads 2 --context 16 --batch 4 --count 40'

compiled() {
    make SUBMISSION=solutions BACKEND=cpu gpt-program
}

# shellcheck disable=SC2086
learns() {
    "$gpt" train --text "$scratch/text" --checkpoint "$kept" --curve "$scratch/curve" --steps 30 --every 15 $small >"$scratch/run" || return 1
    cat "$scratch/run"
    grep -q '^step 30 of 30  loss [0-9.]*  validation [0-9.]*  [0-9]* tokens/s  [0-9.]* s per epoch  [0-9.]* MiB$' "$scratch/run" &&
        awk 'NR == 2 { first = $2 } { last = $2 } END { exit !(NR == 31 && last < first - 1) }' "$scratch/curve"
}

# shellcheck disable=SC2086
goes_on() {
    "$gpt" train --resume --text "$scratch/text" --checkpoint "$kept" --curve "$scratch/curve" --steps 32 $small >"$scratch/run" || return 1
    grep -q 'from step 30 on$' "$scratch/run" && [ "$(wc -l <"$scratch/curve")" = 33 ]
}

writes_the_same() {
    "$gpt" sample --checkpoint "$kept" --prompt 'the ' --count 30 --seed 7 >"$scratch/one" &&
        "$gpt" sample --checkpoint "$kept" --prompt 'the ' --count 30 --seed 7 >"$scratch/two" &&
        "$gpt" sample --checkpoint "$kept" --prompt 'the ' --count 30 --seed 8 >"$scratch/other" &&
        cmp "$scratch/one" "$scratch/two" && ! cmp -s "$scratch/one" "$scratch/other" && grep -q '^the ' "$scratch/one"
}

check 'it compiles' compiled
check 'it learns, and says how' learns
check 'a run goes on' goes_on
check 'the same seed writes the same' writes_the_same

# The tenth for validation is another text, so that to learn more is soon to know it worse.
{ cat "$scratch/text"; yes 'god yzal eht revo spmuj' | head -n 43; } >"$scratch/turned"
# shellcheck disable=SC2086
stops_at_best() { # and keeps that network
    set -- train --text "$scratch/turned" --checkpoint "$scratch/best" $small
    "$gpt" "$@" --steps 300 --every 10 >"$scratch/run" || return 1
    best=$(sed -n 's/^stopped early: the best validation loss, [0-9.]*, was at step \([0-9]*\);.*/\1/p' "$scratch/run")
    awk '/^step / { n++; if (n == 1 || $8 < low) { low = $8; at = $2 } last = $2 } END { exit !(last == at + 20 && last < 300 && at == best) }' \
        best="$best" "$scratch/run" && "$gpt" "$@" --resume --steps 1 >"$scratch/again" && cat "$scratch/again" &&
        grep -q "from step $best on$" "$scratch/again" && grep -q "loss, $(awk '/^stopped/ { print $7 }' "$scratch/run") was at step $best;" "$scratch/again"
}
check 'it stops at the best validation, and says so' stops_at_best

# The text is longer than the context of 16.
# shellcheck disable=SC2086
both_learn_alike() { # write alike, and read each other's checkpoint
    for device in cpu gpu; do
        "$gpt" train --device $device --text "$scratch/text" --checkpoint "$scratch/$device" --curve "$scratch/$device.tsv" \
            --steps 12 --every 6 $small >"$scratch/$device.run" || return 1
        "$gpt" sample --device gpu --checkpoint "$scratch/$device" --temperature 0 --count 60 >"$scratch/$device.text" || return 1
    done
    "$gpt" sample --device cpu --checkpoint "$scratch/gpu" --temperature 0 --count 60 >"$scratch/other" || return 1
    paste "$scratch/cpu.tsv" "$scratch/gpu.tsv" | awk 'NR > 1 { n++; for (i = 2; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d * d > 1e-6) bad = 1 } }
        END { exit bad || n != 12 }' && cmp "$scratch/gpu.text" "$scratch/other" && cmp "$scratch/gpu.text" "$scratch/cpu.text" &&
        grep -q '^on one core of the CPU: ' "$scratch/cpu.run"
}
check 'CPU and GPU learn and write alike' both_learn_alike
check 'a second GPU is one, too' env SOFTGPU_DEVICES=2 "$gpt" sample --device 1 --checkpoint "$kept" --count 1
check 'a device that is not there is said' refused 'no device 99' train --device 99
check 'so is another word' refused 'the number of a GPU?' sample --device fast

# shellcheck disable=SC2086
dropout_trains() { # otherwise than without it, alike each time, and on as the same run
    drops="$small --every 5 --dropout 0.3"
    for run in 'without --steps 10 --dropout 0' 'whole --steps 10' 'parts --steps 5' 'parts --steps 10 --resume'; do
        set -- $run
        name=$1
        shift
        "$gpt" train --text "$scratch/text" --checkpoint "$scratch/$name" --curve "$scratch/$name.tsv" $drops "$@" || return 1
    done
    cmp "$scratch/whole.tsv" "$scratch/parts.tsv" && ! cmp -s "$scratch/whole.tsv" "$scratch/without.tsv"
}
check 'dropout changes training, and a run goes on' dropout_trains
check 'all cannot be dropped' refused 'below 1' train --dropout 1
check 'the CPU drops nothing' refused 'needs a GPU' train --device cpu --dropout 0.1

{ head -c 1000 "$kept"; printf 'x'; tail -c +1002 "$kept"; } >"$scratch/damaged"
head -c -1 "$kept" >"$scratch/cut"
check 'a damaged checkpoint is named' refused 'damaged: the checksum is wrong' sample --checkpoint "$scratch/damaged"
check 'on the CPU, too, a damaged one is' refused 'damaged: the checksum is wrong' sample --device cpu --checkpoint "$scratch/damaged"
check 'one that is cut short is named' refused 'cut short' sample --checkpoint "$scratch/cut"
check 'another file is named' refused 'no checkpoint of this program' sample --checkpoint "$scratch/text"
check 'a file that is not there is named' refused 'No such file' train --text "$scratch/none"
check 'a short text is refused' refused 'too few' train --text "$scratch/one"
head -c 1000 "$scratch/text" >"$scratch/short"
check 'also for a network that is there' refused 'context of 16' train --device cpu --resume --context 4 --text "$scratch/short" \
    --checkpoint "$kept"
check 'a folder that is not there is named' refused 'cannot be written' train --text "$scratch/text" \
    --checkpoint "$scratch/none/kept" --steps 1 --layers 1 --channels 4 --heads 1 --context 8
check 'an option that is not known is refused' refused 'no such option' train --step 3
check 'a value that cannot be is refused' refused 'cannot be this one' train --steps 0

# Each step's loss is that of 509, but for what bf16 rounds.
# shellcheck disable=SC2086
fast_learns_alike() {
    heads='--layers 1 --channels 64 --heads 1 --context 16 --batch 4 --steps 12 --every 6 --count 40'
    make SUBMISSION=solutions BACKEND=cpu FAST=1 gpt-program || return 1
    "$gpt" train --text "$scratch/text" --checkpoint "$scratch/plain" --curve "$scratch/plain.tsv" $heads &&
        "$gpt" train --fast --text "$scratch/text" --checkpoint "$scratch/fast" --curve "$scratch/fast.tsv" $heads || return 1
    paste "$scratch/plain.tsv" "$scratch/fast.tsv" | awk 'NR > 1 { n++; for (i = 2; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d * d > 4e-4) bad = 1 } }
        END { exit bad || n != 12 }' && "$gpt" sample --checkpoint "$scratch/fast" --count 20
}
check '--fast is said where it is not there' refused 'made with FAST=1' train --fast --channels 64 --heads 1
check '--fast learns as 509 does' fast_learns_alike
check 'its heads have 64 or 128 channels' refused '64 or 128' train --fast --channels 64 --heads 2

# Up to step 10 the rate does not depend on how many steps there will be.
# shellcheck disable=SC2086
fast_goes_on() { # as the same run, to the bit; and 509 takes it up
    heads='--layers 1 --channels 64 --heads 1 --context 16 --batch 4 --every 5 --count 40'
    "$gpt" train --fast --text "$scratch/text" --checkpoint "$scratch/whole" --curve "$scratch/whole.tsv" --steps 10 $heads || return 1
    for part in '--steps 5' '--steps 10 --resume'; do
        "$gpt" train --fast --text "$scratch/text" --checkpoint "$scratch/parts" --curve "$scratch/parts.tsv" $part $heads || return 1
    done
    cmp "$scratch/whole" "$scratch/parts" && cmp "$scratch/whole.tsv" "$scratch/parts.tsv" &&
        "$gpt" train --resume --text "$scratch/text" --checkpoint "$scratch/parts" --steps 11 $heads
}
check 'it goes on as the same run' fast_goes_on

# shellcheck disable=SC2086
fast_drops_alike() { # the very numbers that 509 drops
    heads='--layers 2 --channels 64 --heads 1 --context 16 --batch 4 --steps 12 --every 6 --dropout 0.5 --seed 2 --count 40'
    "$gpt" train --text "$scratch/text" --checkpoint "$scratch/plain" --curve "$scratch/plain.tsv" $heads &&
        "$gpt" train --fast --text "$scratch/text" --checkpoint "$scratch/fast" --curve "$scratch/fast.tsv" $heads || return 1
    paste "$scratch/plain.tsv" "$scratch/fast.tsv" | awk 'NR > 1 { n++; for (i = 2; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d * d > 4e-4) bad = 1 } }
        END { exit bad || n != 12 }'
}
check '--fast drops what 509 drops' fast_drops_alike

# shellcheck disable=SC2086
team_learns_alike() { # as one GPU does; and a run goes on
    make SUBMISSION=solutions BACKEND=cpu GPUS=2 gpt-program || return 1
    for gpus in 1 2; do
        SOFTGPU_DEVICES=2 "$gpt" train --gpus $gpus --text "$scratch/text" --checkpoint "$scratch/team$gpus" --curve "$scratch/team$gpus.tsv" \
            --steps 12 --every 6 $small || return 1
    done
    paste "$scratch/team1.tsv" "$scratch/team2.tsv" | awk 'NR > 1 { n++; for (i = 2; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d * d > 1e-8) bad = 1 } }
        END { exit bad || n != 12 }' &&
        SOFTGPU_DEVICES=2 "$gpt" train --gpus 2 --resume --text "$scratch/text" --checkpoint "$scratch/team1" --steps 14 $small
}
check '--gpus is said where it is not there' refused 'made with GPUS=N' train --gpus 2
check 'two GPUs learn as one' team_learns_alike
check 'they must divide the batch' refused 'divide the batch' train --gpus 2 --batch 3
check 'that there are fewer is said' refused 'there are 1' train --gpus 2 --text "$scratch/text"

# ---- processes: tasks of an srun, with NCCL's calls by tests/programs/nccl.c --------------------

# shellcheck disable=SC2086
rank() { # NUMBER COUNT OPTION...: in the background; what it says is in $scratch/rankNUMBER
    number=$1 count=$2
    shift 2
    SLURM_STEP_NUM_TASKS=$count SLURM_PROCID=$number SLURM_JOB_ID=$job SLURM_STEP_ID=0 NCCL_FOLDER=$scratch LD_LIBRARY_PATH=$scratch \
        "$gpt" train --gpus 1 --comm nccl --text "$scratch/text" --checkpoint "$scratch/ranks" --curve "$scratch/ranks.tsv" \
        $small "$@" >"$scratch/rank$number" 2>&1 &
    pids="$pids $!"
}

begin_ranks() {
    pids='' job=$((${job:-0} + 1))
    rm -f "$scratch/nccl" "$scratch"/rank[0-9]
}

ended() { # TENTHS: all ranks have, within that time; else they are killed
    for pid in $pids; do
        for _ in $(seq "$1"); do kill -0 "$pid" 2>/dev/null || continue 2; sleep 0.1; done
        cat "$scratch"/rank[0-9]
        # shellcheck disable=SC2086
        kill -9 $pids
        return 1
    done
}

all_say() { # WORDS NUMBER...: these ranks; and none of all has ended well
    for pid in $pids; do ! wait "$pid" || return 1; done
    words=$1
    shift
    for number; do grep -q "$words" "$scratch/rank$number" || { cat "$scratch"/rank[0-9]; return 1; }; done
}

processes_learn_alike() { # as one does; only rank 0 speaks
    emulator/cucc -O2 -shared -Xcompiler -fPIC tests/programs/nccl.c -o "$scratch/libnccl.so.2" || return 1
    begin_ranks
    rank 0 2 --steps 12 --every 6
    rank 1 2 --steps 12 --every 6
    ended 600 || return 1
    cat "$scratch"/rank[01]
    for pid in $pids; do wait "$pid" || return 1; done
    [ ! -s "$scratch/rank1" ] && grep -q '^2 GPUs, each with 2 windows of a batch' "$scratch/rank0" && paste "$scratch/team1.tsv" "$scratch/ranks.tsv" |
        awk 'NR > 1 { n++; for (i = 2; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d * d > 1e-8) bad = 1 } } END { exit bad || n != 12 }'
}

dies() { # while they train; the others would wait for it in NCCL
    begin_ranks
    for number in 0 1 2; do rank $number 3 --steps 1000000 --every 2 --batch 3; done
    for _ in $(seq 600); do ! grep -q '^step' "$scratch/rank0" || break; sleep 0.1; done
    # shellcheck disable=SC2086
    set -- $pids
    kill -9 "$2"
    ended 100 && all_say 'is gone' 0 2
}

does_not_come() {
    begin_ranks
    rank 0 3 --batch 3
    rank 2 3 --batch 3
    ended 400 && all_say 'gone' 2 && all_say 'rank 1 has not come' 0 || return 1
    begin_ranks
    rank 1 2
    ended 400 && all_say 'rank 0 has not come' 1
}

differs() {
    begin_ranks
    rank 0 2
    rank 1 2 --batch 8
    ended 400 && all_say 'rank 1 has 8 windows of a batch, and rank 0 has 4' 0 1
}

check 'two processes learn as one' processes_learn_alike
check 'all say that a rank is gone' dies
check 'all say that a rank has not come' does_not_come
check 'all say that their sizes differ' differs
export SLURM_STEP_NUM_TASKS=2
check 'the ring is of one process' refused 'of one process' train --gpus 1 --text "$scratch/text"
check 'all GPUs must divide the batch' refused 'all 2 of them' train --gpus 1 --comm nccl --batch 3 --text "$scratch/text"

tally
