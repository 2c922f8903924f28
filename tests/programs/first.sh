#!/bin/sh
# first.sh: the program of phase2_cuda_basics/200_a_whole_program/README.md compiles without a warning, by each
# compiler that there is, and prints on softgpu what the page says.
set -eu
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/^<!-- printed -->$/,/^<!-- end -->$/p' phase2_cuda_basics/200_a_whole_program/README.md |
    sed '/^<!--/d; /^```$/d' >"$work/page"
[ -s "$work/page" ]

for frontend in ${NVCC:+nvcc} ${CUCC_CLANG:+clang}; do
    CUCC_FRONTEND=$frontend emulator/cucc -Xcompiler -Wall,-Wextra programs/first/first.cu -o "$work/first" 2>"$work/warnings"
    "$work/first" >"$work/printed"
    if [ ! -s "$work/warnings" ] && diff "$work/page" "$work/printed"; then
        echo "ok $frontend: what is printed is what the page says"
    else
        cat "$work/warnings"
        exit 1
    fi
done
