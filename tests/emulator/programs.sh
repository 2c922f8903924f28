#!/bin/bash
# programs.sh [FOLDER] [FILE...]: compile the programs of programs/ with each front end of cucc into FOLDER,
# run them, and hold the results against what the first lines state and against each other:
#
#   // prints: 523776       all of its output
#   // finds: race          every line of softgpu is a finding of that kind (a pattern), and there is one; otherwise
#                           softgpu says nothing
#   // FLAGS: -lcublas      for cucc
#
# Both front ends must find the same kinds at the same lines. The programs are compiled in lots, each in
# a namespace of its own, those with FLAGS alone; what is there and not older is not compiled again.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
emulator=$here/../../emulator
build=${1:-$here/../../build/tests/emulator}/programs
shift || true
lot=12      # programs that are compiled as one
seconds=20  # of the processor, for one program
patience=2000

# shellcheck source=lots.sh
. "$here/lots.sh"

# judge FILE OUT ERR: say what differs from its first lines.
judge() {
    local finds prints
    finds=$(value finds "$1") prints=$(value prints "$1")
    [ -z "$prints" ] || [ "$prints" = "$(cat "$2")" ] || echo "prints: $(head -3 "$2")"
    if [ -z "$finds" ]; then
        grep '^softgpu: ' "$3" | sed 's/^/unexpected: /'
    elif ! grep -q "^softgpu: $finds: " "$3"; then
        echo "does not find: $finds"
    else
        grep '^softgpu: ' "$3" | grep -v "^softgpu: $finds: " | sed 's/^/unexpected: /'
    fi
}

# places ERR: kinds and the last lines that are named, once each. In a lot the file may be the lot's.
places() {
    sed -nE 's|^softgpu: ([^:]*): .*\.cu:([0-9]+).*|\1 at line \2|p' "$1" | sort -u
}

# run_one FRONTEND PROGRAM FILE
run_one() {
    local at=$build/$1/$(name_of "$3") reasons
    if [ -x "$2" ]; then
        (ulimit -t $seconds && exec timeout $patience "$2" "$(name_of "$3")") >"$at.out" 2>"$at.err"
        reasons=$(judge "$3" "$at.out" "$at.err")
        places "$at.err" >"$at.places"
    else
        reasons="does not compile: $(head -3 "$2.log")"
    fi
    echo "$([ -z "$reasons" ] && echo 'ok  ' || echo FAIL) $(name_of "$3") ($1)${reasons:+: $reasons}"
}

# run_lot FRONTEND NUMBER FILE...
run_lot() {
    local frontend=$1 program=$build/$1/lot_$2 file
    shift 2
    together "$@" >"$program.new"
    cmp -s "$program.new" "$program.cu" || cp "$program.new" "$program.cu"
    compile "$frontend" "$program" "$program.cu"
    for file in "$@"; do run_one "$frontend" "$program" "$file"; done
}

run_alone() { # FRONTEND FILE
    local program
    program=$build/$1/alone_$(name_of "$2")
    # shellcheck disable=SC2046
    compile "$1" "$program" "$2" $(value FLAGS "$2")
    run_one "$1" "$program" "$2"
}

compare() { # FILE: what both front ends said
    local name
    name=$(name_of "$1")
    [ -e "$build/nvcc/$name.places" ] && [ -e "$build/clang/$name.places" ] || return
    cmp -s "$build"/{nvcc,clang}/"$name.places" ||
        echo "FAIL $name: nvcc: $(paste -sd, "$build/nvcc/$name.places"); clang: $(paste -sd, "$build/clang/$name.places")"
}

export -f run_lot run_alone run_one compile judge places together name_of value
export here emulator build seconds patience
programs=("$@")
[ $# -gt 0 ] || programs=("$here"/programs/*/*.cu)
mapfile -t programs < <(realpath "${programs[@]}")
mapfile -t many < <(grep -L '^// FLAGS: ' "${programs[@]}")
mapfile -t alone < <(grep -l '^// FLAGS: ' "${programs[@]}")
mkdir -p "$build"
{
    for frontend in ${FRONTENDS:-nvcc clang}; do
        CUCC_FRONTEND=$frontend "$emulator/cucc" --front-end >/dev/null 2>&1 || continue
        mkdir -p "$build/$frontend"
        headers_once "$frontend"
        for ((i = 0; i < ${#many[@]}; i += lot)); do
            printf '%q ' run_lot "$frontend" $i "${many[@]:i:lot}" && printf '\0'
        done
        for file in "${alone[@]}"; do printf '%q ' run_alone "$frontend" "$file" && printf '\0'; done
    done | xargs -0 -P "${JOBS:-2}" -n 1 bash -c 'eval "$1"' _
    for file in "${programs[@]}"; do compare "$file"; done
} | tee "$build/compared"
passed=$(grep -c '^ok ' "$build/compared")
failed=$(grep -c '^FAIL ' "$build/compared")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
