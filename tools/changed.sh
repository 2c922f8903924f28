#!/bin/sh
# changed.sh COMMIT: the numbers of the exercises whose solutions have other code now than at COMMIT, a line
# each; one that was not there then has. Comments, blanks and the paths of includes are no code. Exit status 1
# where git does not know the commit.
set -eu
cd "$(dirname "$0")/.."
git cat-file -e "$1^{commit}" 2>/dev/null || exit 1
then=$(mktemp -d)
trap 'rm -rf "$then"' EXIT

code() { # FOLDER: a line for each exercise, its number and its code
    find "$1" -type f -name '[1-5][0-9a-z]*_*' ! -name '*.answers' | awk -F / '{ print $NF "\t" $0 }' | LC_ALL=C sort | cut -f 2 |
        xargs awk '
        FNR == 1 {
            id = FILENAME
            sub(/.*\//, "", id)
            sub(/_.*/, "", id)
            inside = 0
            line_comment = FILENAME ~ /\.py$/ ? "#.*" : "//.*|^ *#include.*"
        }
        inside { if (!sub(/.*\*\//, "")) next; inside = 0 }
        {
            while (match($0, /\/\*([^*]|\*[^\/])*\*\//)) $0 = substr($0, 1, RSTART - 1) " " substr($0, RSTART + RLENGTH)
            if (sub(/\/\*.*/, "")) inside = 1
            sub(line_comment, "")
            gsub(/[ \t]+/, "")
            code[id] = code[id] $0
        }
        END { for (id in code) print id "\t" code[id] }'
}

git archive "$1" solutions | tar -x -C "$then"
code "$then/solutions" >"$then/code"
code solutions | awk -F '\t' 'NR == FNR { was[$1] = $2; next } was[$1] != $2 { print $1 }' "$then/code" - | sort
