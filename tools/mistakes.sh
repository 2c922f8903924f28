#!/bin/sh
# mistakes.sh: the cost of each slow submission of the corpus, counted on softgpu: the count that
# its first line claims, as TSV on standard output. docs/results/softgpu/mistakes.tsv is this.
set -eu
cd "$COURSE_ROOT"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf 'exercise\tmistake\tcounter\tcounted\n'
for slow in grader/exercises/*/slow/*; do
    exercise=${slow#grader/exercises/} name=${exercise%%/*} id=${exercise%%_*}
    folder=$(echo solutions/*/"$name")
    solution=$folder/$name.cu
    [ -d "$folder" ] || { echo "mistakes: there is no $folder" >&2 && exit 1; }
    [ -f "$solution" ] || continue # of the CPU
    rm -rf "$work/handed_in"
    mkdir -p "$work/handed_in/$(basename "${folder%/*}")"
    cp -r "$folder" "$work/handed_in/$(basename "${folder%/*}")" # with the parts of 507
    case $slow in
    *.patch)
        cp -r "${slow%/slow/*}/right" "$work/handed_in"
        (cd "$work/handed_in" && git apply "$COURSE_ROOT/$slow")
        changed=$(sed -n 's|^+++ b/\(right/.*\)|\1|p' "$slow")
        [ -z "$changed" ] || cp "$work/handed_in/$changed" "$work/handed_in/${solution#solutions/}"
        ;;
    *) cp "$slow" "$work/handed_in/${solution#solutions/}" ;;
    esac
    "$COURSE_BUILD/grader" grade --backend cpu --submission "$work/handed_in" --exercise "$id" \
        --results "$work/results.json" >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }
    mistake=$(basename "${slow%.*}" | tr _ ' ')
    claimed=$(sed -n '1s/.*SLOW: \(.*\) |.*/\1/p' "$slow")
    "$COURSE_BUILD/grader" report --format tests --results "$work/results.json" |
        awk -F '\t' -v OFS='\t' -v mistake="$mistake" -v claimed="$claimed" '
            !("metric" in at) { for (i = 1; i <= NF; i++) at[$i] = i }
            $at["kind"] == "traffic" && $at["verdict"] == "failed" && index($at["metric"], claimed) == 1 {
                print $at["exercise"], mistake, $at["metric"], sprintf("%.6g", $at["number"])
            }'
done
