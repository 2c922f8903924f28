#!/bin/sh
# compare.sh --history FILE [FLAG OF grader ...]: grade one exercise, and the reference solution of
# it where there is one, then show both beside what was graded before. What has not changed since
# its last grading is not graded again. EX names the exercise.
set -u
case ${EX:-} in
'' | *' '*)
    echo "compare: which exercise? e.g. make compare EX=211" >&2
    exit 2
    ;;
esac
cd "$COURSE_ROOT" || exit 2
grader=$COURSE_BUILD/grader
"$grader" grade "$@" --results "$COURSE_BUILD/compare.json" >"$COURSE_BUILD/compare.log" ||
    { cat "$COURSE_BUILD/compare.log"; exit 2; }
if [ -d "$COURSE_ROOT/solutions" ]; then
    "$grader" grade "$@" --submission "$COURSE_ROOT/solutions" \
        --results "$COURSE_BUILD/compare_reference.json" >"$COURSE_BUILD/compare_reference.log" ||
        echo "compare: the reference could not be graded: $COURSE_BUILD/compare_reference.log" >&2
fi
"$grader" compare "$@"
