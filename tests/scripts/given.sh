#!/bin/sh
# given.sh: what is given to make is taken as it is: neither make nor the shell of a recipe runs a
# command that stands in it. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

check() { # WHAT STATUS
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $1"
    fi
}

set --
for name in $(sed -n '/^GIVEN :=/,/[^\\]$/ { s/^GIVEN :=//; s/\\//; p; }' Makefile); do
    set -- "$@" "$name=x\$(shell touch $scratch/ran)"
done
for target in grade check run verify repeat phase1 hint watch progress next reset compare sanitize profile \
    mnist gpt sample bench-matmul bench-launch bench-layers validate report corpus gradescope new handout class install; do
    make -n BUILD="$COURSE_BUILD" "$target" "$@" >"$scratch/$target" 2>&1
    check "make ran a command of what $target was given" $([ ! -e "$scratch/ran" ]; echo $?)
    grep -v '^grader: ' "$scratch/$target" | grep -n 'shell touch' # in the words of a recipe
    check "the shell would run a command of what $target was given" $(($? != 1))
done
for target in resnet18 cuda_demo train_from_nvme; do
    make BUILD="$COURSE_BUILD" "$target" SUBMISSION="x\$(touch $scratch/ran)" >"$scratch/log" 2>&1
    check "$target takes no such name" $([ ! -e "$scratch/ran" ] && grep -q 'too odd' "$scratch/log"; echo $?)
done

# One part of the tests, in a build that has nothing.
only() { # PART
    mkdir -p "$scratch/build"
    ONLY=$1 COURSE_BUILD=$scratch/build tests/all.sh basics >"$scratch/log" 2>&1
}

only rooms
check 'a part of the tests cannot be run alone' $(($? != 0 || $(grep -c ' passed, 0 failed, 0 skipped' "$scratch/log") != 1))
only 'unit tests of the grader'
check 'a part that fails is not named with its command' \
    $(($? == 0 || $(tail -n 2 "$scratch/log" | grep -c '^FAILED .*: make test ONLY="unit tests of the grader"$') != 1))
only 'no such part'
check 'a part that is not there passes' $(($? == 0))

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
