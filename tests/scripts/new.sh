#!/bin/sh
# new.sh: an exercise that make new lays out is complete, in C and in CUDA: its skeleton is not started,
# its solution gets full points, its first wrong submission is rejected. In a copy of what git tracks,
# with a copy of the build. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset SUBMISSION EX PHASE CASE SEED RESULTS # of the make that runs this
. tests/scripts/tally.sh
work=$COURSE_BUILD/test/new
rm -rf "$work"
mkdir -p "$work"
git ls-files -z | xargs -0 cp -a --parents -t "$work" || exit 2
mkdir "$work/build"
cp -a "$COURSE_BUILD"/config.mk "$COURSE_BUILD"/obj "$COURSE_BUILD"/emulator "$COURSE_BUILD"/remote \
    "$COURSE_BUILD"/*.so "$COURSE_BUILD"/grader "$COURSE_BUILD"/worker_* "$COURSE_BUILD"/softgpu_device "$work/build"
cd "$work" || exit 2
unset COURSE_ROOT COURSE_BUILD
export NO_INSTALL=1

says() { # WORDS COMMAND...
    words=$1
    shift
    "$@" >said 2>&1
    status=$?
    cat said
    grep -q -- "$words" said && return $status
}

refused() { # WORDS NAME=VALUE...
    words=$1
    shift
    ! make new "$@" >said 2>&1 && cat said && grep -q -- "$words" said
}

complete() { # ID NAME
    check "$2: the solution gets all points" make grade SUBMISSION=solutions EX="$1" STRICT=1
    check "$2: the skeleton is not started" says "$1 *$2 *not started" make grade EX="$1"
    check "$2: the wrong one is rejected" says '1 passed, 0 failed, 0 skipped' make corpus EX="$1"
    check "$2: has hints" make hint EX="$1"
}

check 'in C: is laid out' make new EX=199 NAME=doubled PHASE=1
[ -z "${CUCC_FRONTEND:-}" ] || check 'a challenge in CUDA: is laid out' make new EX=4z NAME=rope PHASE=4
check 'their skeletons and their lines in README' says "README.md" make update
complete 199 doubled
[ -z "${CUCC_FRONTEND:-}" ] || complete 4z rope
check 'nothing is left to write' make check-generated
# Files of other languages have skeletons too.
printf '# size?\nstudent = me\nsize = 12 ; bytes\n' >made.answers
printf 'def f(x):\n    # SOLUTION: twice x (1 line).\n    return 2 * x\n    # END SOLUTION\n' >made.py
check 'answers are left empty' [ "$(tools/skeletons.sh --print made.answers)" = '# size?
student =
size =' ]
check 'Python raises what is not there' [ "$(tools/skeletons.sh --print made.py)" = 'def f(x):
    # TODO: twice x (1 line).
    raise NotImplementedError' ]
printf '#ifdef BROKEN\nint x = 1;\n#else\nint x = 2;\n#endif\nint y;\n#ifndef BROKEN\nint z;\n#endif\n' >made.c
check 'what is broken is handed out' [ "$(tools/skeletons.sh --print made.c)" = 'int x = 1;
int y;' ]
check 'no exercise is laid out twice' refused 'there already' EX=199 NAME=other PHASE=1
check 'a number is of its phase' refused 'of phase 2' EX=399 NAME=other PHASE=2
check 'a name is one of C' refused 'function of C' EX=198 NAME=a-b PHASE=1
check 'and all three are needed' refused 'as in make new' EX=198

tally
