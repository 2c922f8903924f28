#!/bin/sh
# sanitize_student.sh [FLAG OF grader ...]: look for mistakes in an exercise (EX) that a right
# result may hide. On a GPU by compute-sanitizer's four tools, one after the other; else by softgpu,
# which always checks: here its findings are listed in full, each once. Exit status 1 if there are
# any and STRICT is set.
set -u
if [ -z "${EX:-}" ]; then
    echo "sanitize: which exercise? e.g. make sanitize EX=211" >&2
    exit 2
fi
cd "$COURSE_ROOT" || exit 2
folder=$COURSE_BUILD/sanitize
results=$folder/student.json
mkdir -p "$folder"
if [ "${BACKEND:-cpu}" = cuda ]; then
    status=0
    for tool in memcheck racecheck initcheck synccheck; do
        echo "== $tool"
        tools/sanitize.sh "$tool" grade "$@" --fresh --results "$results" || status=1
    done
    [ -z "${STRICT:-}" ] || exit $status
    exit 0
fi
"$COURSE_BUILD/grader" grade "$@" --fresh --slow 1 --results "$results" >"$folder/student.log"
[ $? -le 1 ] || { cat "$folder/student.log"; exit 2; } # 1: STRICT, and not all points
"$COURSE_BUILD/grader" findings --results "$results" ${STRICT:+--strict}
