#!/bin/sh
# repeat.sh: repeat_grading.sh finds verdicts that differ, and only those. The grader it repeats
# is a script with verdicts of its own, then the real one. And a submission that is fast every
# other time is too noisy, earns a part of the points, and is not remembered. The last line counts.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

cat >"$scratch/grader" <<'END'
#!/bin/sh
[ ! -e "$COURSE_BUILD/broken" ] || { echo 'no device' && exit 2; }
[ "$1" = report ] || { echo graded >>"$COURSE_BUILD/count" && exit; }
n=$(wc -l <"$COURSE_BUILD/count")
echo "# device of the test, commit 0, started at $n"
[ "$3" = grades ] && printf 'exercise\tpoints\n' && exit
printf 'exercise\tmetric\tkind\tverdict\tnumber\twanted\n'
printf '105\ttimes 104\tspeed\t%s\t%s\t1.2\n' "$(sed -n "${n}p" "$COURSE_BUILD/verdicts")" 2.$((7 * n % 5))
END
chmod +x "$scratch/grader"

repeat() { # STATUS WORDS VERDICT...
    wanted=$1 words=$2
    shift 2
    printf '%s\n' "$@" >"$scratch/verdicts"
    rm -f "$scratch/count"
    COURSE_BUILD=$scratch OUTPUT=$scratch/table tools/repeat_grading.sh $# >"$scratch/log" 2>&1
    [ $? = "$wanted" ] && grep -q "$words" "$scratch/log"
}

check() { # NAME COMMAND...
    name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok $name"
    else
        failed=$((failed + 1))
        echo "FAILED $name"
        sed 's/^/    /' "$scratch/log"
    fi
}

real_gradings_agree() {
    tools/repeat_grading.sh 2 --submission solutions --exercise 103 >"$scratch/log" 2>&1 &&
        grep -q '^103	points	passed \([0-9]*\)/\1 x2	10	10	10	10$' "$scratch/log"
}

# Once it passes, eight times over it fails.
write_wavering() {
    mkdir -p "$scratch/wavering/phase1_cpu/104_matmul_cpu_ikj"
    cat >"$scratch/wavering/phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c" <<'END'
#include "104_matmul_cpu_ikj/matmul_cpu_ikj.h"
#include <string.h>

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    static int calls;
    for (int times = calls++ % 2 ? 8 : 1; times > 0; times--) {
        memset(c, 0, sizeof(float) * (size_t)m * n);
        for (int i = 0; i < m; i++) {
            for (int p = 0; p < k; p++) {
                const float x = a[i * k + p];
                for (int j = 0; j < n; j++) c[i * n + j] += x * b[p * n + j];
            }
        }
    }
}
END
}

wavering_is_too_noisy() { # PAIRS FLAG...
    pairs=$1
    shift
    "$COURSE_BUILD/grader" grade --submission "$scratch/wavering" --exercise 104 "$@" \
        --results "$scratch/wavering.json" >"$scratch/log" 2>&1
    [ $? = 1 ] && grep -q "too noisy: .*after $pairs pairs; the threshold is 4.00" "$scratch/log" &&
        grep -q '^  104 .*passed \([0-9]*\)/\1 .* too noisy  *1[0-4]\.[0-9] / 15.0' "$scratch/log"
}

cd "$COURSE_ROOT" || exit 2
check 'the same verdicts' repeat 0 '	passed x4	2.1	2.2	2.4	1.2$' passed passed passed passed
check 'its table is written' grep -q 'commit 0, 4 gradings in' "$scratch/table"
check 'another verdict' repeat 1 '	passed x2, too_noisy x1	' passed too_noisy passed
check 'it says so' repeat 1 'the verdicts differ' passed failed
touch "$scratch/broken"
check 'a grading that cannot be done' repeat 2 '^no device$' passed
rm "$scratch/broken"
check 'no number of times' eval '! tools/repeat_grading.sh many 2>/dev/null'
check 'real gradings agree' real_gradings_agree
write_wavering
check 'what wavers is too noisy' wavering_is_too_noisy 60 --strict
check 'and is measured again the next time' wavering_is_too_noisy 60 --strict
check 'in as many rounds as are asked for' wavering_is_too_noisy 15 --strict --rounds 1

echo "$passed passed, $failed failed"
[ $failed = 0 ]
