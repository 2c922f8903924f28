#!/bin/sh
# repeat_grading.sh TIMES [GRADE FLAG...]: grade a submission again and again, afresh, and say whether
# every grading came to the same. The table, in TSV, names machine and commit and has a line for each
# exercise (its points) and each timing (its ratio): how often which verdict, the least, middle and
# largest number, what was wanted. Ends with 1 when the verdicts of a line differ. OUTPUT=FILE: the
# table goes there too.
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
        "$COURSE_BUILD/grader" report --format tsv --results "$scratch/results.json" >>"$scratch/all"
    status=$?
    if [ $status != 0 ]; then
        cat "$scratch/log" >&2
        exit $status
    fi
    done=$((done + 1))
    echo "grading $done of $times: $(($(date +%s) - start)) s so far" >&2
done

awk -F'\t' -v times="$times" -v seconds=$(($(date +%s) - start)) '
    /^# / { machine = $0; next }
    $1 == "exercise" { next }
    {
        line = $1 "\t" $2
        if (!(line in seen)) { order[++lines] = line; verdicts[line] = ""; wanted[line] = $5 }
        seen[line]++
        if (!((line, $3) in count)) verdicts[line] = verdicts[line] (verdicts[line] ? "|" : "") $3
        count[line, $3]++
        n = seen[line]
        for (i = n; i > 1 && number[line, i - 1] > $4 + 0; i--) number[line, i] = number[line, i - 1]
        number[line, i] = $4 + 0
    }
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
            printf "%s\t%s\t%g\t%g\t%g\t%s\n", line, text, number[line, 1],
                number[line, int((n + 1) / 2)], number[line, n], wanted[line]
        }
        exit differ > 0
    }' "$scratch/all" >"$scratch/table"
status=$?
cat "$scratch/table"
[ -z "${OUTPUT:-}" ] || cp "$scratch/table" "$OUTPUT" || exit 2
[ $status = 0 ] || echo 'the verdicts differ' >&2
exit $status
