#!/bin/sh
# reset.sh EXERCISE: hand the file of one exercise out again, and keep what was there in
# results/backups, dated. SUBMISSION is the folder that holds the file (default: the course).
set -eu
cd "$(dirname "$0")/.."

die() {
    echo "reset: $*" >&2
    exit 2
}

case ${1:-} in
[1-9][0-9][0-9]) ;;
'') die "which exercise? e.g. make reset EX=211" ;;
*) die "one exercise at a time, by its number, not \"$1\"" ;;
esac

# The skeleton comes from the solution; a course without solutions has a folder of skeletons.
source=
for file in solutions/phase?_*/"$1"_*.c* skeletons/phase?_*/"$1"_*.c*; do
    if [ -f "$file" ]; then source=$file && break; fi
done
[ -n "$source" ] || die "there is no exercise $1, or no skeleton of it here"

path=${source#*/}
target=${SUBMISSION:-.}/$path
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
case $source in
solutions/*)
    [ "$(realpath "${SUBMISSION:-.}")" != "$(realpath solutions)" ] || die "solutions are no place for skeletons"
    tools/skeletons.sh --print "$source" >"$scratch/new"
    ;;
*) cp "$source" "$scratch/new" ;;
esac
[ -s "$scratch/new" ] || die "the skeleton of $1 could not be made; $target is as it was"
if cmp -s "$scratch/new" "$target"; then
    echo "$target is as it was handed out"
    exit 0
fi

# The copy is made, and is on the disk, before the file is touched.
if [ -e "$target" ]; then
    stamp=$(date +%Y-%m-%d_%H.%M.%S)
    backups=${BACKUPS:-results/backups}
    mkdir -p "$backups"
    backup=$backups/$(basename "$path").$stamp
    n=1
    while ! (set -C && cat "$target" >"$backup") 2>/dev/null; do
        if [ ! -e "$backup" ] || [ $n -ge 100 ]; then
            die "cannot keep a copy in $backups; $target is as it was"
        fi
        n=$((n + 1))
        backup=$backups/$(basename "$path").$stamp.$n
    done
    cmp -s "$target" "$backup" || die "the copy $backup is not whole; $target is as it was"
    sync "$backup"
    echo "kept: $backup"
fi
mkdir -p "$(dirname "$target")"
cp "$scratch/new" "$target.reset"
mv "$target.reset" "$target"
echo "handed out again: $target"
