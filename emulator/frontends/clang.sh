# clang.sh: the front end that needs nothing of NVIDIA's: clang and the headers in include/. Part of
# cucc.
#
# A .cu file is compiled twice, as by nvcc: for the device to PTX, then for the host, with the PTX
# wrapped as a fat binary inside. The first pass finds the errors, the second shows the warnings.
# shellcheck shell=bash disable=SC2154

# One that is named is not asked for its version: that is a tenth of a small compilation.
find_clang() {
    local candidate version
    if [ -n "${CUCC_CLANG:-}" ]; then
        command -v "$CUCC_CLANG"
        return
    fi
    for candidate in clang++ clang++-{19,18,17,16,15,14}; do
        candidate=$(command -v "$candidate") || continue
        version=$("$candidate" -dumpversion)
        if [ "${version%%.*}" -ge 14 ]; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# Without a toolkit clang must be told which one to imitate: how kernels are launched, which PTX.
cuda_options=(-x cuda --cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_80
    -Xclang -target-sdk-version=11.5 -Wno-unknown-cuda-version)
# Math functions must stay calls (-fmath-errno): there is no libdevice to make instructions of them.
# Host compilers never see kernels, so nobody is used to hear there of signs compared.
host_options=(--cuda-host-only -Wno-sign-compare)
debug_options=(-gline-tables-only)
# As by nvcc, pointers of any types may meet, and a kernel's malloc is one.
# Loops of 32 rounds, or of 8 with a warp's sum in each, are unrolled as by nvcc, with indices of 64 bits
# too (by default: up to 300). Else an array of the rounds' sums would lie in local memory.
device_options=(--cuda-device-only -S -emit-llvm -fmath-errno -fno-strict-aliasing -fno-builtin-malloc -fno-builtin-free -mllvm -unroll-threshold=1200)
code_options=(-O3 -w -Xclang -target-feature -Xclang +ptx75)

# From LLVM's text to PTX. The text is optimised; only neighbouring stores are not joined yet.
back_end_options=(-x ir -S --target=nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang sm_80 -Xclang -disable-llvm-passes)

# Addresses of shared memory with 32 bits, as nvcc has them: softgpu is faster with them. Constants lie
# in its global memory, and their addresses want 64. Reduced in strength, such addresses would keep
# clang from loading four floats at once.
short_options=(-Xclang -fcuda-short-ptr -mllvm -nvptx-short-ptr -mllvm -disable-lsr)

includes=(-isystem "$here/include" -isystem "$here/include/libraries")

# What the arguments of the command become.
sources=() others=() common=() output='' mode=link standard=-std=gnu++17 language='' dependencies=''

wants_value() { # COUNT OPTION
    [ "$1" -gt 1 ] || fail "$2 wants a value"
}

# What is for the compiler; OpenMP is for the linker too.
take_words() {
    local word
    for word in "$@"; do
        common+=("$word")
        case $word in -fopenmp*) others+=("$word") ;; esac
    done
}

read_options() {
    local words
    while [ $# -gt 0 ]; do
        case $1 in
        -o | --output-file) wants_value $# "$1"; output=$2; shift ;;
        --output-file=*) output=${1#*=} ;;
        -c | --compile) mode=object ;;
        -ptx | --ptx) mode=ptx ;;
        -E | --preprocess | -M | -MM) mode=text common+=("${1/--preprocess/-E}") ;;
        -Xcompiler | --compiler-options)
            wants_value $# "$1"
            IFS=, read -ra words <<<"$2"
            take_words "${words[@]}"
            shift
            ;;
        -Xcompiler=* | --compiler-options=*)
            IFS=, read -ra words <<<"${1#*=}"
            take_words "${words[@]}"
            ;;
        -Xlinker | --linker-options) wants_value $# "$1"; others+=(-Xlinker "$2"); shift ;;
        -Xlinker=* | --linker-options=*) others+=(-Xlinker "${1#*=}") ;;
        -x) wants_value $# "$1"; language=${2/#cu*/cu}; shift ;;
        -std | --std) wants_value $# "$1"; standard=-std=$2; shift ;;
        --std=* | -std=*) standard=-std=${1#*=} ;;
        -Werror | --Werror) # nvcc's takes kinds of warnings, clang's takes none
            common+=(-Werror)
            case ${2:-} in all-warnings | cross-execution-space-call | reorder | default-stream-launch) shift ;; esac
            ;;
        -fmad=false | --fmad=false) common+=(-ffp-contract=off) ;;
        -ccbin | --compiler-bindir | --threads | -t | -diag-suppress | --diag-suppress | -diag-error | \
            --expt-relaxed-constexpr=* | -res-usage=*) wants_value $# "$1"; shift ;;
        -lineinfo | --generate-line-info | -use_fast_math | --use_fast_math | --extended-lambda | \
            -extended-lambda | --expt-extended-lambda | -expt-extended-lambda | -res-usage | \
            --resource-usage | --expt-relaxed-constexpr | -expt-relaxed-constexpr | -fmad=true | \
            --fmad=true | -ccbin=* | --compiler-bindir=* | --threads=* | -diag-suppress=* | \
            --diag-suppress=* | --no-compress | --forward-unknown-to-host-compiler) ;;
        -MF)
            wants_value $# "$1"
            common+=("$1" "$2") dependencies=$2
            shift
            ;;
        -I | -D | -U | -include | -isystem | -MT | -MQ)
            wants_value $# "$1"
            common+=("$1" "$2")
            shift
            ;;
        --include-path=*) common+=("-I${1#*=}") ;;
        -L | -l) wants_value $# "$1"; others+=("$1$2"); shift ;;
        -fopenmp*) take_words "$1" ;;
        -L* | -l* | -Wl,* | -shared | -static* | *.o | *.a | *.so | *.so.*) others+=("$1") ;;
        --shared) others+=(-shared) ;;
        -*) common+=("$1") ;;
        *) sources+=("$1") ;;
        esac
        shift
    done
    [ ${#sources[@]} -gt 0 ] || [ ${#others[@]} -gt 0 ] || fail "no input files"
}

run() {
    show "$@"
    "$@"
}

# A number as BYTES bytes, the lowest first.
little_endian() { # VALUE BYTES
    local i byte
    for ((i = 0; i < $2; i++)); do
        printf -v byte '\\x%02x' $(($1 >> 8 * i & 255))
        # shellcheck disable=SC2059
        printf "$byte"
    done
}

# The container in which nvcc puts PTX: a header, one entry's header, the text (runtime/fatbin.c).
wrap() { # PTX FATBIN
    local bytes
    bytes=$(stat -c %s "$1")
    {
        little_endian 0xba55ed50 4 && little_endian 1 2 && little_endian 16 2
        little_endian $((24 + bytes)) 8
        little_endian 1 2 && little_endian 0x101 2 && little_endian 24 4
        little_endian "$bytes" 8 && little_endian 0 8
        cat "$1"
    } >"$2"
}

is_cuda() {
    [[ $language = cu || ($language = '' && $1 = *.cu) ]]
}

# nvcc takes a launch with blanks in its brackets, as Visual Studio formats it; clang does not.
without_blanks() { # SOURCE: prints the file to compile
    local of
    if ! grep -q '<< <' "$1"; then
        echo "$1"
        return
    fi
    of=$scratch/$(basename "$1")
    { echo "#line 1 \"$1\"" && sed 's/<< </<<</g; s/>> *> *(/>>>(/g' "$1"; } >"$of"
    echo "$of"
}

# Up to LLVM 16 a joined store gets the source line of what follows. So each store is followed by a call of
# nothing, which has the store's line. A store that is alone in its block stays as it is.
keep_places() { # LLVM'S TEXT
    awk '/^[^ ]/ { stores = 0 } { print }
        /^  store / && match($0, /, !dbg ![0-9]+/) && stores++ { print "  call void @llvm.sideeffect()" substr($0, RSTART, RLENGTH) }
        END { print "declare void @llvm.sideeffect()" }' "$1" >"$1.kept"
}

# cuda_runtime.h, which each source includes first, takes most of the time of a small one. With
# --precompiled=FOLDER clang takes what --precompile made of it there, but not where an option differs
# that matters, or a header is no longer the same: then, and where the source has errors, it starts
# again without. Whether a header is the same its content says, not its time.
precompiled_options=(-Xclang -fmodules-validate-system-headers -Xclang -fvalidate-ast-input-files-content)
compile_cuda() { # device|host OPTION...
    local command=("$compiler" "${cuda_options[@]}" "${includes[@]}") headers=$precompiled/$1.pch
    local rest=("$standard" "${common[@]}" "${debug_options[@]}" "${@:2}")
    if [ -e "$headers" ] && run "${command[@]}" -Xclang -include-pch -Xclang "$headers" \
        "${precompiled_options[@]}" "${rest[@]}" 2>"$scratch/said"; then
        cat "$scratch/said" >&2
    else
        run "${command[@]}" -include cuda_runtime.h "${rest[@]}"
    fi
}

precompile_with_clang() { # FOLDER
    local command header=$here/include/cuda_runtime.h
    read_options "${options[@]}" "$header"
    command=("$compiler" "${cuda_options[@]}" "${includes[@]}" "${precompiled_options[@]}" "$standard" "${common[@]}"
        -w -Xclang -emit-pch)
    run "${command[@]}" "${device_options[@]}" "${code_options[@]}" "${short_options[@]}" "$header" -o "$1/device.pch" &&
        run "${command[@]}" "${host_options[@]}" -c "$header" -o "$1/host.pch"
}

compile_device() { # SOURCE PTX OPTION...
    local text=$scratch/text fuse=2
    [[ " ${common[*]} " != *' -ffp-contract=off '* ]] || fuse=0
    compile_cuda device "${device_options[@]}" "${code_options[@]}" "${@:3}" "$1" -o "$text" &&
        keep_places "$text" &&
        run "$compiler" "${back_end_options[@]}" "${code_options[@]}" "${@:3}" -mllvm -nvptx-fma-level=$fuse "$text.kept" -o "$2"
}

to_ptx() { # SOURCE PTX
    compile_device "$1" "$2" "${short_options[@]}" || return
    ! grep -q '^[a-z. ]*\.const ' "$2" || compile_device "$1" "$2"
}

# What the device's code includes may not be what the host's does: -MF lists both.
keep_dependencies() {
    [ ! -e "$dependencies" ] || mv "$dependencies" "$scratch/of_device"
}

add_dependencies() { # OBJECT
    [ ! -e "$scratch/of_device" ] || sed "1s|^[^:]*:|$1:|" "$scratch/of_device" >>"$dependencies"
}

to_object() { # SOURCE OBJECT
    local fatbin=$scratch/fatbin compiler=$compiler source
    if ! is_cuda "$1"; then
        case $1 in *.c) compiler="$compiler -x c" ;; esac
        # shellcheck disable=SC2086
        run $compiler "${includes[@]}" "${debug_options[@]}" "${common[@]}" -c "$1" -o "$2"
        return
    fi
    source=$(without_blanks "$1")
    [ "$source" = "$1" ] || common+=(-iquote "$(dirname "$1")")
    to_ptx "$source" "$scratch/ptx" && keep_dependencies && wrap "$scratch/ptx" "$fatbin" &&
        compile_cuda host "${host_options[@]}" -Xclang -fcuda-include-gpubinary -Xclang "$fatbin" -c "$source" -o "$2" &&
        add_dependencies "$2"
}

# The name of what is made of a source when there is no -o.
default_name() { # SOURCE SUFFIX
    local base=${1##*/}
    echo "${output:-${base%.*}$2}"
}

link_all() {
    local objects=() source object
    for source in "${sources[@]}"; do
        object=$scratch/${#objects[@]}.o
        to_object "$source" "$object" || exit
        objects+=("$object")
    done
    run "$compiler" "${objects[@]}" "${others[@]}" "${link_options[@]}" -o "${output:-a.out}"
}

compile_with_clang() {
    local source
    [ "$lines" = yes ] || debug_options=()
    read_options "${options[@]}"
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    for source in "${sources[@]}"; do
        case $mode in
        object) to_object "$source" "$(default_name "$source" .o)" || exit ;;
        ptx) to_ptx "$source" "$(default_name "$source" .ptx)" || exit ;;
        text)
            run "$compiler" "${cuda_options[@]}" --cuda-host-only "${includes[@]}" -include \
                cuda_runtime.h "$standard" "${common[@]}" "$source" ${output:+-o "$output"} || exit
            ;;
        esac
    done
    [ $mode != link ] || link_all
}
