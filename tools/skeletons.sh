#!/bin/sh
# skeletons.sh: the students' files are the solutions with the marked regions taken out.
#
#   skeletons.sh               write phase*/ from solutions/phase*/ and note the hashes
#   skeletons.sh --check       fail when that would change something
#   skeletons.sh --into DIR    write every skeleton below DIR, and note nothing
#   skeletons.sh --print FILE  print the skeleton of one solution
#
# solutions/skeletons.sha256 holds the hash of each skeleton, and of the two before it: a file whose hash is
# not there is a student's work, and is left alone.
set -eu
cd "$(dirname "$0")/.."

manifest=solutions/skeletons.sha256
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

skeleton() { # SOLUTION: its skeleton on standard output
    case $1 in
    *.answers) sed 's/^\([^#;]*=\).*/\1/' "$1" ;;
    *.py) awk '/# SOLUTION: / { sub(/SOLUTION/, "TODO"); print; sub(/#.*/, "raise NotImplementedError"); print; cut = 1 }
               !cut
               /# END SOLUTION$/ { cut = 0 }' "$1" ;;
    *) awk -f tools/skeleton.awk "$1" ;;
    esac
}

solutions() {
    for solution in solutions/phase*_*/*/*.c solutions/phase*_*/*/*.cu solutions/phase*_*/*/*.cuh \
        solutions/phase*_*/*/*.py solutions/phase*_*/*/*.answers; do
        [ ! -f "$solution" ] || echo "$solution"
    done
}

# entry FILE PATH: the manifest's line for FILE, were it at PATH
entry() {
    echo "$(sha256sum <"$1" | cut -d ' ' -f 1)  $2"
}

known() {
    grep -qxF "$1" "$manifest" 2>/dev/null
}

note() {
    known "$1" && return
    { cat "$manifest" 2>/dev/null || true; echo "$1"; } | LC_ALL=C sort -s -k 2,2 >"$scratch/manifest"
    cp "$scratch/manifest" "$manifest"
}

# update ACTION: call ACTION (write or list) with PATH and ENTRY for each file of phase*/ that is out
# of date. A file that is gone is written again, but not listed: its owner may have meant it.
update() {
    solutions | while read -r solution; do
        path=${solution#solutions/}
        skeleton "$solution" >"$scratch/new" || { : >"$scratch/failed"; continue; }
        new=$(entry "$scratch/new" "$path")
        old=gone
        if [ -e "$path" ]; then old=$(entry "$path" "$path"); fi
        case $1-$old in
        *-"$new" | list-gone) known "$new" || "$1" "$path" "$new" ;;
        write-gone) "$1" "$path" "$new" ;;
        *) if known "$old"; then "$1" "$path" "$new"; else echo "$path: somebody's work, left alone"; fi ;;
        esac
    done
}

write() { # PATH ENTRY, from $scratch/new
    mkdir -p "$(dirname "$1")"
    cp "$scratch/new" "$1"
    note "$2"
    echo "$1: written"
}

list() {
    echo "$1: differs from its solution (run: make update)"
    : >"$scratch/failed"
}

case ${1:-} in
--print)
    skeleton "$2"
    ;;
--into)
    solutions | while read -r solution; do
        path=$2/${solution#solutions/}
        mkdir -p "$(dirname "$path")"
        skeleton "$solution" >"$path" || : >"$scratch/failed"
    done
    ;;
--check)
    update list
    ;;
*)
    update write
    ;;
esac
[ ! -e "$scratch/failed" ]
