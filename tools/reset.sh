#!/bin/sh
# reset.sh EXERCISE: hand the files of one exercise out again, and keep the old files in
# results/backups, dated. SUBMISSION is the folder that holds them (default: the course).
set -eu
cd "$(dirname "$0")/.."

die() {
    echo "reset: $*" >&2
    exit 2
}

case ${1:-} in
[1-9][0-9][0-9] | [1-9][a-z]) ;;
'') die "which exercise? e.g. make reset EX=211" ;;
*) die "one exercise at a time, by its number, not \"$1\"" ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# make_skeleton SOURCE: its skeleton in $scratch/new. It comes from the solution; a course without
# solutions has a folder of skeletons.
make_skeleton() {
    case $1 in
    solutions/*)
        [ "$(realpath "${SUBMISSION:-.}")" != "$(realpath solutions)" ] || die "solutions are no place for skeletons"
        tools/skeletons.sh --print "$1" >"$scratch/new"
        ;;
    *) cp "$1" "$scratch/new" ;;
    esac
    [ -s "$scratch/new" ] || die "the skeleton of $1 could not be made; ${1#*/} is as it was"
}

# keep FILE: a copy in the backups. It is made, and is on the disk, before the file is touched.
keep() {
    stamp=$(date +%Y-%m-%d_%H.%M.%S)
    backups=${BACKUPS:-results/backups}
    mkdir -p "$backups"
    backup=$backups/$(basename "$1").$stamp
    n=1
    while ! (set -C && cat "$1" >"$backup") 2>/dev/null; do
        if [ ! -e "$backup" ] || [ $n -ge 100 ]; then
            die "cannot keep a copy in $backups; $1 is as it was"
        fi
        n=$((n + 1))
        backup=$backups/$(basename "$1").$stamp.$n
    done
    cmp -s "$1" "$backup" || die "the copy $backup is not whole; $1 is as it was"
    sync "$backup"
    echo "kept: $backup"
}

# refuse_links PATH: what lies behind a link, in a folder of another's, is not the course's to write.
refuse_links() {
    at=$1
    while [ "$at" != . ]; do
        [ ! -L "${SUBMISSION:-.}/$at" ] || die "${SUBMISSION:-.}/$at is a link: nothing was changed"
        at=$(dirname "$at")
    done
}

reset_file() { # SOURCE
    target=${SUBMISSION:-.}/${1#*/}
    refuse_links "${1#*/}"
    make_skeleton "$1"
    if cmp -s "$scratch/new" "$target"; then
        echo "$target is as it was handed out"
        return
    fi
    if [ -e "$target" ]; then keep "$target"; fi
    mkdir -p "$(dirname "$target")"
    rm -f "$target.reset"
    (set -C && cat "$scratch/new" >"$target.reset") || die "cannot write $target"
    mv "$target.reset" "$target"
    echo "handed out again: $target"
}

# An exercise's source, and its parts if it has any.
found=
folder=skeletons
if [ -d solutions ]; then folder=solutions; fi
for source in "$folder"/phase?_*/"$1"_*/*; do
    [ -f "$source" ] || continue
    found=yes
    reset_file "$source"
done
[ -n "$found" ] || die "there is no exercise $1, or no skeleton of it here"
