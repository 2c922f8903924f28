#!/bin/sh
# doctor.sh BUILD: what this machine has and lacks, and the consequences. Changes nothing, never
# fails.
cd "$(dirname "$0")/.." || exit 0
asked=${CUCC_FRONTEND:-}
eval "$(tools/setup.sh --look "$1")"
CUCC_FRONTEND=${asked:-$CUCC_FRONTEND}

row() { # LABEL TEXT...
    label=$1
    shift
    printf '  %-16s %s\n' "$label" "$*"
}

tool() { # LABEL COMMAND: its first line about its version, or that it is missing
    if [ -n "$2" ] && command -v "$2" >/dev/null; then
        row "$1" "$2 ($("$2" --version 2>/dev/null | grep -m 1 '[0-9]'))"
    else
        row "$1" "none"
    fi
}

has_mnist() {
    [ -e "$1/train-images-idx3-ubyte.gz" ] || [ -e "$1/train-images-idx3-ubyte" ]
}

echo "This machine has"
row system "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release 2>/dev/null), $(uname -m)," \
    "$(nproc) cores, $(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)"
tool "C compiler" "$CC"
tool "C++ compiler" "$CXX"
if [ -n "$missing" ]; then
    row missing "$missing"
else
    row libraries "check, libffi, jansson, zlib, libcrypto"
fi
[ -n "$ARCHIVE_LIBS" ] || row libarchive "none; only make class needs it"
if [ -n "$NVCC" ]; then
    row nvcc "$NVCC ($("$NVCC" --version | sed -n 's/.*\(release [0-9.]*\).*/\1/p'))"
    row cudart "${CUDA_LIB:-none}"
else
    row nvcc none
fi
tool "CUDA by clang" "$CUCC_CLANG"
if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader 2>/dev/null |
        while read -r line; do row GPU "$line"; done
fi
[ -n "$GPU" ] || row GPU "none that CUDA can use"
for name in bwrap setpriv clang-format doxygen compute-sanitizer gnuplot xmllint unzip chromium sbatch; do
    command -v "$name" >/dev/null || row "$name" "none"
done
"${PYTHON:-/usr/bin/python3}" -I -c 'import numpy' 2>/dev/null || row NumPy "none; exercises in Python are skipped"
for dir in "${COURSE_DATA:-}" data ../shared/data; do
    if [ -n "$dir" ] && { has_mnist "$dir" || has_mnist "$dir/mnist"; }; then
        mnist=$dir
        row MNIST "$(realpath "$dir")"
        break
    fi
done
[ -n "${mnist:-}" ] || row MNIST "none"

echo
echo "Submissions are isolated by"
if [ -x "$1/grader" ]; then
    COURSE_BUILD=$(realpath "$1") COURSE_ROOT=$PWD ISOLATION='' "$1/grader" isolation --backend "${BACKEND:-cpu}" 2>/dev/null
else
    echo "  what make all finds out: the grader is not built."
fi

echo
echo "So"
if [ -n "$missing" ]; then
    echo "  nothing can be built before the missing packages are there: make setup installs them."
elif [ -z "$CUCC_FRONTEND" ]; then
    echo "  phase 1 is graded, CUDA exercises are skipped: they need nvcc or clang (make setup tries"
    echo "  again)."
elif [ -n "$GPU" ]; then
    echo "  CUDA exercises run on the GPU (sm_$GPU_ARCH), with measured speed; BACKEND=cpu takes the"
    echo "  software GPU instead, which sees out-of-bounds accesses, races and uninitialised reads."
else
    echo "  CUDA exercises run on the software GPU: correctness is judged, and instead of"
    echo "  speed what they move in memory."
fi
command -v bwrap >/dev/null || echo "  submissions are less well isolated than they could be: apt-get install bubblewrap"
if [ -n "$CUCC_FRONTEND" ]; then
    echo "  For the software GPU $CUCC_FRONTEND compiles them; CUCC_FRONTEND=nvcc|clang chooses."
fi
[ -n "${mnist:-}" ] || echo "  501 trains on digits that the course draws; make data fetches MNIST."
exit 0
