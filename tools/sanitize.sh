#!/bin/sh
# sanitize.sh: grade under one of compute-sanitizer's tools, on a GPU.
#
#   sanitize.sh memcheck|racecheck|initcheck|synccheck [ARGUMENT OF grader ...]
#
# Every worker runs under the tool. The last line counts what it found: exit status 1 if anything, 2
# where the grading did not finish.
set -u
tool=$1
shift
command -v compute-sanitizer >/dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer >/dev/null || { echo "sanitize: needs compute-sanitizer"; exit 2; }

logs=$COURSE_BUILD/sanitize/$tool
rm -rf "$logs"
mkdir -p "$logs"
"$COURSE_BUILD/grader" "$@" --slow 6 >/dev/null # builds: under the tool compilers hang, or the tool crashes
compute-sanitizer --tool "$tool" --target-processes all --report-api-errors no \
    --log-file "$logs/%p.log" "$COURSE_BUILD/grader" "$@" --slow 6
status=$?
[ $status -le 1 ] || { echo "sanitize: $tool ended with status $status, before all was looked at"; exit 2; } # 1: not all points

found=$(cat "$logs"/*.log | awk '/ERROR SUMMARY: / { n += $4 }
                                  /RACECHECK SUMMARY: / { n += $4 } END { print n + 0 }')
[ "$found" = 0 ] || cat "$logs"/*.log | grep -B 2 -A 12 '=========.*\(Invalid\|Error\|hazard\|Uninitialized\|Barrier\)' | head -80
echo "sanitize: $tool found $found errors"
[ "$found" = 0 ]
