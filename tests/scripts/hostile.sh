#!/bin/sh
# hostile.sh: the hostile submissions that isolation stops are stopped by nothing else: with
# ISOLATION=off each of them passes, or ends its grader. Else its claim in the corpus would hold
# whatever isolation did. The last line printed counts them.
#
# What the machine itself forbids, or cannot spare, is skipped, and said.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

grade() { # NAME COMMAND...
    mkdir -p "$scratch/$1/phase1_cpu"
    cp -r solutions/phase1_cpu/103_matmul_cpu "$scratch/$1/phase1_cpu"
    file=grader/exercises/103_matmul_cpu/hostile/$1
    if [ -e "$file.patch" ]; then
        (cd "$scratch/$1" && GIT_CEILING_DIRECTORIES=$scratch git apply "$COURSE_ROOT/$file.patch")
    else
        cp "$file.c" "$scratch/$1/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c"
    fi
    rm -f "$scratch/results.json"
    submission=$scratch/$1
    shift
    ISOLATION=off "$@" "$COURSE_BUILD/grader" grade --submission "$submission" --exercise 103 \
        --fresh --results "$scratch/results.json" >"$scratch/log" 2>&1
}

count() { # STATUS NAME WHAT
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
        echo "ok $2 $3"
    else
        failed=$((failed + 1))
        echo "FAILED $2: with nothing to stop it, it should be one that $3"
        sed 's/^/    /' "$scratch/log"
    fi
}

passes() { # NAME
    grade "$1" env && grep -q '"status": *"passed"' "$scratch/results.json" &&
        ! grep -qE '"status": *"(failed|build_failed|not_started|not_run)"' "$scratch/results.json"
    count $? "$1" 'passes'
}

# In a session of its own, so that its group is not ours; in a build folder of its own, since a
# grader that was ended leaves its worker's folder behind.
ends_grader() { # NAME
    grade "$1" env COURSE_BUILD="$scratch/build" setsid -w
    [ $? = 143 ]
    count $? "$1" 'ends its grader'
}

skip() { # NAMES WHY
    echo "skipped $1: $2"
}

free_kilobytes() {
    df -Pk "$COURSE_BUILD" | awk 'NR == 2 { print $4 }'
}

value_of() { # FILE
    cat "$1" 2>/dev/null || echo 0
}

if [ "$COURSE_BUILD" != "$COURSE_ROOT/build" ]; then
    skip 'hostile submissions without isolation' "they look for build/ in the course's folder"
    exit
fi

for name in asks_environment assembles_cases fork_bomb forges_results includes_solution \
    path_of_its_own preloads reads_cases reads_solutions solution_by_syscall writes_build_folder; do
    passes $name
done

if sh -c 'exec 3<>/proc/$PPID/mem' 2>/dev/null; then
    passes reads_parent_memory
    passes ptraces_parent
else
    skip 'reads_parent_memory, ptraces_parent' 'this machine keeps a process from its parent'
fi

if [ $(($(value_of /sys/class/net/lo/flags) & 1)) = 1 ]; then
    passes talks_over_loopback
else
    skip talks_over_loopback 'this machine has no loopback'
fi

if [ "$(value_of /proc/sys/vm/overcommit_memory)" != 2 ] && [ "$(ulimit -v)" = unlimited ]; then
    passes 100_gigabytes
else
    skip 100_gigabytes 'this machine gives nobody so many addresses'
fi

if [ "$(free_kilobytes)" -gt 2000000 ]; then
    passes fills_disk
else
    skip fills_disk 'less than 2 GB are free'
fi

mkdir "$scratch/build"
ln -s "$COURSE_BUILD"/* "$scratch/build"
rm "$scratch/build/scratch"
if command -v setsid >/dev/null; then
    ends_grader kills_parent
    ends_grader kills_group
else
    skip 'kills_parent, kills_group' 'needs setsid'
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
