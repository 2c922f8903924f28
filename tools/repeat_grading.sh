#!/bin/sh
# repeat_grading.sh TIMES [GRADE FLAG...]: grade a submission again and again, afresh, and say
# whether every grading gave the same verdicts. The table, in TSV, names machine and commit and has
# a line for each exercise (its points) and each timing (its ratio): how often each verdict came,
# the least, middle and largest number, and the bound. Ends with 1 when the verdicts of a line
# differ. OUTPUT=FILE: the table goes there too.
set -u
times=${1:-}
case $times in
'' | *[!0-9]* | 0)
    echo 'usage: repeat_grading.sh TIMES [GRADE FLAG...]' >&2
    exit 2
    ;;
esac
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

start=$(date +%s) done=0
while [ $done -lt "$times" ]; do
    "$COURSE_BUILD/grader" grade "$@" --fresh --results "$scratch/results.json" >"$scratch/log" 2>&1 &&
        "$COURSE_BUILD/grader" report --format grades --results "$scratch/results.json" >>"$scratch/all" &&
        "$COURSE_BUILD/grader" report --format tests --results "$scratch/results.json" >>"$scratch/all"
    status=$?
    if [ $status != 0 ]; then
        cat "$scratch/log" >&2
        exit $status
    fi
    done=$((done + 1))
    echo "grading $done of $times: $(($(date +%s) - start)) s so far" >&2
done

awk -F'\t' -v times="$times" -v seconds=$(($(date +%s) - start)) '
    function take(name, verdict, value, least,   line, n, i) {
        line = $at["exercise"] "\t" name
        if (!(line in seen)) { order[++lines] = line; verdicts[line] = ""; wanted[line] = least }
        n = ++seen[line]
        if (!((line, verdict) in count)) verdicts[line] = verdicts[line] (verdicts[line] ? "|" : "") verdict
        count[line, verdict]++
        for (i = n; i > 1 && number[line, i - 1] > value + 0; i--) number[line, i] = number[line, i - 1]
        number[line, i] = value + 0
    }
    /^# / { machine = $0; sub(/, started .*/, "", machine); next }
    $1 == "exercise" { split("", at); for (i = 1; i <= NF; i++) at[$i] = i; next }
    "points" in at {
        checks = $at["checks"] == "" ? "" : ", checks " $at["checks"]
        take("points", $at["status"] " " $at["right"] "/" $at["cases"] checks, $at["points"], $at["of"])
    }
    "kind" in at && $at["kind"] == "speed" { take($at["metric"], $at["verdict"], $at["number"], $at["wanted"]) }
    END {
        printf "%s, %d gradings in %d s\n", machine, times, seconds
        print "exercise\tname\tverdicts\tleast\tmiddle\tlargest\twanted"
        for (l = 1; l <= lines; l++) {
            line = order[l]; n = seen[line]; text = ""
            kinds = split(verdicts[line], kind, "|")
            for (k = 1; k <= kinds; k++) {
                text = text (k > 1 ? ", " : "") kind[k] " x" count[line, kind[k]]
            }
            if (kinds > 1 || n != times) differ++
            printf "%s\t%s\t%.4g\t%.4g\t%.4g\t%.4g\n", line, text, number[line, 1],
                number[line, int((n + 1) / 2)], number[line, n], wanted[line]
        }
        exit differ > 0
    }' "$scratch/all" >"$scratch/table"
status=$?
cat "$scratch/table"
[ -z "${OUTPUT:-}" ] || cp "$scratch/table" "$OUTPUT" || exit 2
[ $status = 0 ] || echo 'the verdicts differ' >&2
exit $status
