#!/bin/sh
# setup.sh: find what the course needs, install what is missing, write config.mk.
#
#   setup.sh [BUILD]                the set-up; config.mk (and nvcc's wheels) go to BUILD
#   setup.sh --look [BUILD]         install and write nothing, print what is there as NAME='value'
#   setup.sh --archive [BUILD]      see to it that libarchive is there, which only make class needs
#   setup.sh --need COMMAND PACKAGE see to it that one more command is there
#   setup.sh --bench                try to bring OpenBLAS and NumPy; prints the flags of OpenBLAS
#   setup.sh --tests [BUILD]        try to bring the little that only make test needs
#   setup.sh --ci                   try to bring all without which a test would be skipped
#
# Everything is tried: a library is there when a program that uses it compiles and links, nvcc or
# clang when it compiles a kernel, a GPU when cudaGetDeviceCount finds one. The Makefile runs this
# whenever config.mk is missing, or something that it names is gone or newer.
#
# Installs by apt-get, as root or through a passwordless sudo. Where there is no nvcc, clang
# compiles for the software GPU, with the course's own headers. A GPU needs nvcc: it comes as
# NVIDIA's wheels from PyPI into BUILD/cuda, as it does with NVCC_WHEELS=1. NO_INSTALL=1 forbids all
# of that.
# Exit status: 2 when something that the course needs is missing.
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# These belong together. 13.0 runs with every driver from 580 on.
wheels="nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88
        nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85"

say() {
    echo "setup: $*" >&2
}

# --- installing -------------------------------------------------------------------------------

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_install() {
    [ -z "${NO_INSTALL:-}" ] && command -v apt-get >/dev/null && as_root true 2>/dev/null
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
        -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" >"$scratch/apt.log" 2>&1
}

# install_packages PACKAGE...: the package lists are fetched only when the install fails without.
install_packages() {
    say "installing $*"
    apt_get install --no-install-recommends "$@" ||
        { apt_get update && apt_get install --no-install-recommends "$@"; } ||
        { tail -n 5 "$scratch/apt.log" >&2; return 1; }
}

# --- looking ----------------------------------------------------------------------------------

# links COMPILER FILE FLAG...: does the program on standard input compile, link and load?
links() {
    compiler=$1 file=$scratch/$2
    shift 2
    cat >"$file"
    "$compiler" "$file" -o "$scratch/a.out" "$@" 2>"$scratch/links.log"
}

first_that_links() { # FILE COMPILER...: the first compiler that builds a program
    file=$1
    shift
    for compiler in "$@"; do
        if echo 'int main(void) { return 0; }' | links "$compiler" "$file" -pthread; then
            command -v "$compiler"
            return
        fi
    done
}

has_library() { # HEADER CALL FLAG...: can a C program include HEADER, make CALL and link?
    header=$1 call=$2
    shift 2
    printf '#include <stdio.h>\n#include <%s>\nint main(void) { %s; return 0; }\n' \
        "$header" "$call" | links "${CC:-false}" library.c "$@"
}

find_check_libs() { # Debian's libcheck is static and wants its friends
    for libs in '-lcheck' '-lcheck_pic -lsubunit -lrt -lm' '-lcheck_pic -lrt -lm'; do
        # shellcheck disable=SC2086
        if has_library check.h 'srunner_run_all(srunner_create(NULL), CK_NORMAL)' $libs -pthread; then
            echo "$libs"
            return
        fi
    done
}

# Sets CC, CXX, CHECK_LIBS, ARCHIVE_LIBS (empty where it is not) and missing: the packages that would
# bring what the course cannot do without.
look() {
    missing=
    CC=$(first_that_links cc.c $candidates_cc)
    CXX=$(first_that_links cxx.cc $candidates_cxx)
    CHECK_LIBS=
    [ -n "$CC" ] || missing="$missing gcc libc6-dev"
    [ -n "$CXX" ] || missing="$missing g++"
    command -v make >/dev/null || missing="$missing make"
    CHECK_LIBS=$(find_check_libs)
    [ -n "$CHECK_LIBS" ] || missing="$missing check"
    has_library ffi.h 'ffi_cif c; ffi_prep_cif(&c, FFI_DEFAULT_ABI, 0, &ffi_type_void, NULL)' \
        -lffi || missing="$missing libffi-dev"
    has_library jansson.h 'json_decref(json_object())' -ljansson ||
        missing="$missing libjansson-dev"
    has_library zlib.h 'zlibVersion()' -lz || missing="$missing zlib1g-dev"
    has_library openssl/evp.h 'EVP_MD_CTX_free(EVP_MD_CTX_new())' -lcrypto ||
        missing="$missing libssl-dev"
    ARCHIVE_LIBS=
    has_library archive.h 'archive_read_free(archive_read_new())' -larchive &&
        ARCHIVE_LIBS=-larchive
    missing=${missing# }
}

# works_nvcc NVCC: does it turn a kernel into PTX inside a host object, as the software GPU wants it?
works_nvcc() {
    echo '#include <cuda_runtime.h>
          __global__ void f(float *x) { *x = sinf(*x); }
          void g(float *x) { f<<<1, 1>>>(x); }' >"$scratch/kernel.cu"
    "$1" -ccbin "$CXX" -gencode arch=compute_80,code=compute_80 --no-compress -lineinfo \
        -cudart none -c "$scratch/kernel.cu" -o "$scratch/kernel.o" >"$scratch/nvcc.log" 2>&1
}

# works_clang CLANG: does it do the same, through cucc, with the course's headers?
works_clang() {
    echo '__global__ void f(float *x) { *x = sinf(*x); }
          void g(float *x) { f<<<1, 1>>>(x); }' >"$scratch/kernel.cu"
    CUCC_FRONTEND=clang CUCC_CLANG="$1" "$root/emulator/cucc" -c "$scratch/kernel.cu" \
        -o "$scratch/kernel.o" >"$scratch/clang.log" 2>&1
}

find_clang() {
    for clang in ${CUCC_CLANG:-} clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14; do
        if command -v "$clang" >/dev/null && works_clang "$(command -v "$clang")"; then
            command -v "$clang"
            return
        fi
    done
}

install_clang() {
    if [ -n "${NO_INSTALL:-}" ]; then
        say "neither nvcc nor clang, and NO_INSTALL forbids installing"
    elif ! can_install || ! install_packages clang; then
        say "neither nvcc nor clang++ 14 or newer. Install it, then make setup:" \
            "  apt-get install clang"
    fi
}

nvcc_places() {
    for nvcc in "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" \
        /usr/local/cuda/bin/nvcc "$build/cuda/bin/nvcc"; do
        [ ! -x "$nvcc" ] || echo "$nvcc"
    done
}

find_nvcc() {
    nvcc_places | while read -r nvcc; do
        if works_nvcc "$nvcc"; then
            echo "$nvcc"
            break
        fi
    done
}

has_pip() {
    python3 -m pip --version >/dev/null 2>&1
}

install_nvcc() {
    if [ -n "${NO_INSTALL:-}" ]; then
        say "no nvcc, and NO_INSTALL forbids fetching it"
        return
    fi
    if ! has_pip && can_install; then install_packages python3 python3-pip || true; fi
    if ! has_pip; then
        say "no nvcc, and no pip to fetch it with. Install it, then make setup:" \
            "  apt-get install python3-pip"
        return
    fi
    say "no nvcc here: fetching NVIDIA's compiler into $build/cuda"
    rm -rf "$build/cuda" "$build/cuda.tmp"
    # shellcheck disable=SC2086
    if PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --no-deps --only-binary :all: \
        --disable-pip-version-check --no-warn-script-location --retries 2 \
        --target "$build/cuda.tmp" $wheels >"$scratch/pip.log" 2>&1; then
        mv "$build/cuda.tmp/nvidia/cu13" "$build/cuda"
        ln -s lib "$build/cuda/lib64"
        ln -s libcudart.so.13 "$build/cuda/lib/libcudart.so"
    else
        tail -n 2 "$scratch/pip.log" >&2
    fi
    rm -rf "$build/cuda.tmp"
}

# The folder of the headers that nvcc itself would take.
find_cuda_include() {
    echo '#include <cuda_runtime_api.h>' >"$scratch/include.cu"
    header=$("$NVCC" -ccbin "$CXX" -M "$scratch/include.cu" 2>/dev/null | tr ' ' '\n' |
        grep -m 1 '/cuda_runtime_api\.h$')
    cd "$(dirname "$header")" && pwd -P
}

# Sets CUDA_LIB, and GPU and GPU_ARCH if the program also finds a device.
look_for_gpu() {
    top=$(dirname "$(dirname "$(readlink -f "$NVCC")")")
    for dir in "$top/lib64" "$top/lib" "$top"/targets/*/lib /usr/lib/*-linux-gnu; do
        [ -e "$dir/libcudart.so" ] || continue
        links "$CC" gpu.c "-I$CUDA_INCLUDE" "-L$dir" "-Wl,-rpath,$dir" -lcudart <<'END' || continue
#include <cuda_runtime_api.h>
#include <stdio.h>
int main(void)
{
    int count = 0, major = 0, minor = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return 1;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    printf("%d%d\n", major, minor);
    return 0;
}
END
        CUDA_LIB=$dir
        if GPU_ARCH=$("$scratch/a.out" 2>/dev/null); then GPU=1; else GPU_ARCH=; fi
        return
    done
}

# --- the set-up -------------------------------------------------------------------------------

# These two stop the script when nothing helps.

need_command() { # COMMAND PACKAGE
    command -v "$1" >/dev/null && return
    if can_install && install_packages "$2"; then return; fi
    say "$1 is missing. Install it and try again:   apt-get install $2"
    exit 2
}

# Not asked for in a second round.
also_wanted() {
    command -v bwrap >/dev/null || printf ' bubblewrap'
    has_numpy || printf ' python3-numpy'
    [ -n "$(nvcc_places)" ] || command -v clang++ >/dev/null || printf ' clang'
}

need_libraries() {
    look
    # shellcheck disable=SC2086
    if [ -n "$missing" ] && can_install && install_packages $missing; then look; fi
    [ -n "$missing" ] || return 0
    say "missing. Install and try again:   apt-get install $missing$(also_wanted)"
    exit 2
}

has_openblas() {
    has_library cblas.h 'openblas_set_num_threads(1)' -lopenblas
}

has_numpy() {
    "${PYTHON:-/usr/bin/python3}" -I -c 'import numpy' 2>/dev/null
}

# Grading works without: exercises in Python are skipped, and the end of a grading says so.
want_numpy() {
    has_numpy || ! can_install || install_packages python3-numpy || true
}

# With a test the less where there is no way.
try_command() { # COMMAND PACKAGE
    command -v "$1" >/dev/null || { can_install && install_packages "$2"; } ||
        say "no $1: the tests that need it are skipped (apt-get install $2)"
}

# Bare machines have no make either, and no lists of packages. gcc before clang is there, which would do.
ci_packages="make git gcc g++ bubblewrap clang clangd libomp-dev python3-numpy libarchive-dev libxml2-utils unzip
    gnuplot-nox chromium doxygen python3-pip python3-venv python3-torchvision codespell slurmctld slurmd slurm-client munge"
install_for_ci() {
    # shellcheck disable=SC2086
    set -- $ci_packages
    if ! can_install; then
        say "nothing can be installed here. Without these, tests are skipped:   apt-get install $*"
        return
    fi
    say "installing $*"
    apt_get update || say "apt-get update failed"
    apt_get install --no-install-recommends "$@" && return
    for package in "$@"; do # all but those that this system does not have
        apt_get install --no-install-recommends "$package" || say "no $package here"
    done
}

# Grading works without, less well isolated, and says so.
want_bubblewrap() {
    command -v bwrap >/dev/null || ! can_install || install_packages bubblewrap || true
}

nvidia_devices() {
    find /dev -maxdepth 1 \( -name 'nvidia[0-9]*' -o -name dxg \) | sort | tr '\n' ' '
}

# Sets CUCC_CLANG, CUCC_FRONTEND, NVCC and what follows from it; empty where there is none.
look_for_cuda() {
    CUDA_INCLUDE='' CUDA_LIB='' GPU='' GPU_ARCH='' BACKEND=cpu
    CUCC_CLANG=$(find_clang)
    NVCC=$(find_nvcc)
    CUCC_FRONTEND=${NVCC:+nvcc}
    CUCC_FRONTEND=${CUCC_FRONTEND:-${CUCC_CLANG:+clang}}
    [ -n "$NVCC" ] || return 0
    CUDA_INCLUDE=$(find_cuda_include)
    look_for_gpu
    [ -z "$GPU" ] || BACKEND=cuda
}

# config.mk depends on what was found, so that it is made anew when one of them goes or changes.
print_config() {
    for header in check ffi jansson zlib openssl/evp; do echo "#include <$header.h>"; done >"$scratch/all.c"
    found="$CC $CXX $CUCC_CLANG $NVCC${CUDA_INCLUDE:+ $CUDA_INCLUDE/cuda_runtime_api.h} $("$CC" -M \
        "$scratch/all.c" | tr ' ' '\n' | grep -E '/(check|ffi|jansson|zlib|openssl/evp)\.h$' | tr '\n' ' ')"

    echo "# Written by tools/setup.sh. \`make setup\` writes it again."
    for name in CC CXX NVCC CUDA_INCLUDE CUDA_LIB GPU GPU_ARCH CUCC_CLANG; do
        eval "echo \"export $name := \$$name\""
    done
    echo "export CUCC_FRONTEND ?= $CUCC_FRONTEND"
    echo "export BACKEND ?= $BACKEND"
    echo "CHECK_LIBS := $CHECK_LIBS"
    echo "ARCHIVE_LIBS := $ARCHIVE_LIBS"
    echo "NVIDIA_DEVICES := $(nvidia_devices)"
    echo "\$(BUILD)/config.mk: $found"
    for file in $found; do echo "$file:"; done
}

root=$(realpath "$(dirname "$0")/..")
candidates_cc="${CC:-} gcc clang cc"
candidates_cxx="${CXX:-} g++ clang++ c++"

case ${1:-} in
--archive)
    build=$(realpath -m "${2:-build}")
    look
    if [ -z "$ARCHIVE_LIBS" ] && can_install && install_packages libarchive-dev; then look; fi
    [ -n "$ARCHIVE_LIBS" ] || {
        say "make class needs libarchive. Install it and try again:   apt-get install libarchive-dev"
        exit 2
    }
    if [ -e "$build/config.mk" ]; then # no object depends on it: the file keeps its time
        touch -r "$build/config.mk" "$scratch/time"
        sed -i "s/^ARCHIVE_LIBS := .*/ARCHIVE_LIBS := $ARCHIVE_LIBS/" "$build/config.mk"
        touch -r "$scratch/time" "$build/config.mk"
    fi
    ;;
--bench)
    CC=$(first_that_links cc.c $candidates_cc)
    has_openblas || ! can_install || install_packages libopenblas-dev || true
    want_numpy
    ! has_openblas || echo '-DWITH_OPENBLAS -lopenblas'
    ;;
--tests)
    build=$(realpath -m "${2:-build}")
    grep -q '^ARCHIVE_LIBS := .' "$build/config.mk" 2>/dev/null || "$0" --archive "$build" || true
    try_command xmllint libxml2-utils
    try_command unzip unzip
    try_command codespell codespell
    want_numpy
    ;;
--ci)
    install_for_ci
    ;;
--need)
    need_command "$2" "$3"
    ;;
--look)
    build=$(realpath -m "${2:-build}")
    look
    look_for_cuda
    for name in CC CXX NVCC CUDA_INCLUDE CUDA_LIB GPU GPU_ARCH CUCC_CLANG CUCC_FRONTEND BACKEND ARCHIVE_LIBS missing; do
        eval "echo \"$name='\$$name'\""
    done
    ;;
*)
    build=$(realpath -m "${1:-build}")
    mkdir -p "$build"
    need_libraries
    want_bubblewrap
    want_numpy
    look_for_cuda
    if [ -z "$NVCC" ] && [ -n "$(nvidia_devices)${NVCC_WHEELS:-}" ]; then
        install_nvcc
        look_for_cuda
    fi
    if [ -z "$CUCC_FRONTEND" ]; then
        install_clang
        look_for_cuda
    fi
    [ -n "$CUCC_FRONTEND" ] || say "no compiler for CUDA: CUDA exercises will be skipped"
    print_config >"$scratch/config.mk"
    mv "$scratch/config.mk" "$build/config.mk"
    ;;
esac
