# nvcc.sh: the front end that is NVIDIA's own compiler. Part of cucc.
# shellcheck shell=bash disable=SC2154

find_nvcc() {
    local candidate
    for candidate in "${CUCC_NVCC:-}" "${NVCC:-}" "$(command -v nvcc || true)" \
        /usr/local/cuda/bin/nvcc "$root/build/cuda/bin/nvcc"; do
        if [ -x "$candidate" ]; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# Options that nvcc does not know go to the host compiler. A toolkit may lack cuBLAS's header; then the
# one of softgpu is found, last of all.
compile_with_nvcc() {
    local lineinfo=(-lineinfo -Xcompiler -g)
    [ "$lines" = yes ] || lineinfo=()
    local command=("$compiler" --threads 2 -gencode "arch=compute_$arch,code=compute_$arch" --no-compress
        "${lineinfo[@]}" -cudart none -Xcompiler "-idirafter,$here/include"
        -Xcompiler "-idirafter,$here/include/libraries"
        --forward-unknown-to-host-compiler "${options[@]}"
        "${link_options[@]}")
    show "${command[@]}"
    exec "${command[@]}"
}
