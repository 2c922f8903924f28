#!/bin/sh
# cuda_demo.sh: the library of programs/backend and the program that shows it: both devices answer
# alike, what cannot be done is said in words, what is printed is what docs/cuda_demo.md says. The
# last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
[ -e solutions/phase4_optimization/408_memory_pool/408_memory_pool.cu ] || { echo 'skipped: needs the solutions'; exit 0; }
unset SUBMISSION EX PHASE CASE SEED DEVICE # of the make that runs this
. tests/scripts/tally.sh
demo=$COURSE_BUILD/cuda_demo
objects=$COURSE_BUILD/program/$BACKEND

says() { # STATUS WORDS OPTION...: ends with that status, and says so
    status=$1 words=$2
    shift 2
    "$demo" "$@" >"$scratch/said" 2>&1
    if [ $? != "$status" ] || ! grep -q -- "$words" "$scratch/said"; then
        cat "$scratch/said"
        return 1
    fi
}

cuda_cc() {
    if [ "$BACKEND" = cuda ]; then "$NVCC" -arch="sm_$GPU_ARCH" "$@"; else emulator/cucc "$@"; fi
}

without_warnings() { # by each compiler that there is
    for frontend in ${NVCC:+nvcc} ${CUCC_CLANG:+clang}; do
        CUCC_FRONTEND=$frontend emulator/cucc -Xcompiler -Wall,-Wextra -Icommon -Iphase2_cuda_basics \
            -Iphase4_optimization -c programs/backend/backend_cuda.cu -o "$scratch/o" 2>"$scratch/warnings"
        ! grep . "$scratch/warnings" || return 1
    done
}

both_answer_alike() {
    set --
    for exercise in 106 107 202 204 205 208 213 408; do
        set -- "$@" "$objects"/solutions/phase?_*/"$exercise"_*/*.o
    done
    cuda_cc tests/programs/backend.c "$objects"/programs/backend/*.o "$@" -L"$COURSE_BUILD" -lcourse \
        -Xlinker -rpath="$COURSE_BUILD" -lcublas -lm -o "$scratch/backend" && "$scratch/backend"
}

# Cores, roundings and the machine's memory are not the page's.
normalized() {
    sed 's/CPU with [0-9]* cores\{0,1\} */CPU /; s/off by .*/off by X/' "$1"
}
as_the_page_says() {
    sed -n '/^<!-- printed -->$/,/^<!-- end -->$/p' docs/cuda_demo.md | sed '/^<!--/d; /^```$/d' >"$scratch/page"
    "$demo" >"$scratch/printed" && normalized "$scratch/page" >"$scratch/a" &&
        normalized "$scratch/printed" >"$scratch/b" && diff "$scratch/a" "$scratch/b"
}

# A student's 204 that subtracts; all other exercises are the course's.
notices_a_mistake() {
    mkdir -p "$scratch/wrong/phase2_cuda_basics/204_elementwise"
    sed 's/return a + b;/return a - b;/' solutions/phase2_cuda_basics/204_elementwise/204_elementwise.cu \
        >"$scratch/wrong/phase2_cuda_basics/204_elementwise/204_elementwise.cu"
    ! make BUILD="$COURSE_BUILD" cuda_demo SUBMISSION="$scratch/wrong" >"$scratch/said" 2>&1 || return 1
    cat "$scratch/said"
    grep -q 'add .*: too much' "$scratch/said"
}

check 'its kernels compile without a warning' without_warnings
check 'a mistake of an exercise is noticed' notices_a_mistake
check 'it is built from the solutions, and runs' make BUILD="$COURSE_BUILD" cuda_demo SUBMISSION=solutions
check 'both devices answer alike' both_answer_alike
check 'on the CPU it is timed' says 0 '^  CPU.* GFLOP/s' --device cpu
check 'a device that is not there is said' says 0 '^  no device 99: there are 1$' --device 99
check 'and another one is taken' grep -q '^chosen: ' "$scratch/said"
check 'another word is refused' says 2 usage --device fast
if [ "$BACKEND" = cuda ]; then
    check 'on the GPU it is timed' says 0 ' GB/s on the GPU ' --device gpu
else
    check 'what is printed is what the page says' as_the_page_says
    check 'a second GPU is one, too' env SOFTGPU_DEVICES=2 "$demo" --device 1
    check 'so is a small one' env SOFTGPU_MEMORY=64M "$demo" --device gpu
fi

tally
