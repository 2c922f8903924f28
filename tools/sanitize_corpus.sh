#!/bin/sh
# sanitize_corpus.sh: wrong submissions that a GPU may compute rightly by luck (marked "race"), under
# compute-sanitizer: racecheck must find something in the case that the file names.
# The last line counts.
set -u
cd "$COURSE_ROOT"
work=$COURSE_BUILD/sanitize/submission
passed=0 failed=0
for file in grader/exercises/*/wrong/*; do
    line=$(head -n 1 "$file")
    case $line in *'| race') ;; *) continue ;; esac
    name=$(echo "${line#*WRONG: }" | sed 's/ *|.*//')
    id=${file#grader/exercises/}
    id=${id%%_*}
    rm -rf "$work"
    mkdir -p "$work"
    cp -r solutions/phase* "$work"
    case $file in
    *.patch) (cd "$work" && GIT_CEILING_DIRECTORIES=$COURSE_BUILD git apply "$COURSE_ROOT/$file") ;;
    *) cp "$file" "$(ls "$work"/*/"${id}"_*.cu)" ;;
    esac || exit 1
    tools/sanitize.sh racecheck grade --backend cuda --submission "$work" --exercise "$id" \
        --case "$name" --fresh --results "$COURSE_BUILD/sanitize/results.json" >/dev/null
    case $? in 1) verdict=found ;; *) verdict=missed ;; esac
    echo "  ${file#grader/exercises/}, case $name: $verdict"
    if [ $verdict = missed ]; then failed=$((failed + 1)); else passed=$((passed + 1)); fi
done
echo "race corpus: $passed passed, $failed failed"
[ $failed = 0 ]
