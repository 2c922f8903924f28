#!/bin/sh
# readme.sh: put what was measured into README.md and docs/softgpu.md, between the two markers of
# each table:
#   <!-- grades: FILE -->  ...  <!-- end -->    a results.json, as the grader's own table
#   <!-- tsv: FILE -->     ...  <!-- end -->    a TSV file; its # lines become the caption
set -eu
cd "$COURSE_ROOT"

tsv_table() {
    awk -F'\t' '/^# / { sub(/^# /, ""); print "Measured on " $0 ":\n"; next }
                { line = "|"; for (i = 1; i <= NF; i++) line = line " " $i " |"; print line }
                !headed++ { line = "|"; for (i = 1; i <= NF; i++) line = line "---|"; print line }' "$1"
}

new=$(mktemp)
trap 'rm -f "$new"' EXIT
fill() { # DOCUMENT
    inside=
    while IFS= read -r line; do
        case $line in
        '<!-- end -->') inside= ;;
        esac
        [ -n "$inside" ] || printf '%s\n' "$line"
        file=${line#*: } file=${file% -->}
        case $line in
        '<!-- grades: '*) inside=1; "$COURSE_BUILD/grader" report --format markdown --results "$file" ;;
        '<!-- tsv: '*) inside=1; tsv_table "$file" ;;
        esac
    done <"$1" >"$new"
    cat "$new" >"$1"
}

fill README.md
fill docs/softgpu.md
