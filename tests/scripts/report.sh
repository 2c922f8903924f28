#!/bin/sh
# report.sh: what tools/report.awk makes of bindings that fit and of those that do not, in a course of three
# exercises; and it says of a table how old it is. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
. tests/scripts/tally.sh

course=$scratch/course
as_git() {
    git -C "$course" -c user.name=test -c user.email=test@localhost "$@"
}
table() { # FILE, its lines on stdin with , for tabs
    tr , '\t' >"$course/docs/results/h200/$1"
}

mkdir -p "$course/docs/results/h200" "$course/docs/results/softgpu" "$course/tools" "$course/phase1_cpu/101_relu" \
    "$course/solutions/phase1_cpu/101_relu" "$course/solutions/phase1_cpu/102_net"
cp tools/report.awk tools/changed.sh "$course/tools"
echo 'void relu_forward(void); void relu_backward(void);' >"$course/phase1_cpu/101_relu/relu.h"
printf 'int relu(void)\n{\n    return 1; /* one\n    more */\n}\n' >"$course/solutions/phase1_cpu/101_relu/101_relu.c"
echo 'int net;' >"$course/solutions/phase1_cpu/102_net/102_net.c"
printf 'phase1_cpu/101_relu\trelu\t\t\t\t\t101_relu.c\nphase1_cpu/102_net\tnet\t\t\t\t101\t102_net.c\n' >"$course/facts"
printf 'exercise\tstatus\n101\tpassed\n102\tfailed\n' >"$course/docs/results/softgpu/grades.tsv"
as_git init -q && as_git add -A && as_git commit -q -m course
commit=$(as_git rev-parse --short=12 HEAD)
table tests.tsv <<TABLE
# device NVIDIA T1, commit $commit
exercise,kind,function,metric,quantity,relative_to,over,shape,number,seconds,verdict
101,speed,relu_forward,speedup over a loop,speedup,,a loop,9 floats,1.5,0.002,passed
101,speed,relu_backward,speedup over a loop,speedup,,a loop,9 floats,2.5,0.004,failed
TABLE
table net.tsv <<TABLE
# commit $commit
what,batch,measured_at,milliseconds,GB,GFLOP/s,GB/s
102 net,1,1,8,0.5,7,63
102 net,2,1,16,1,7,63
cuBLAS,1,1,2,2,28,1000
TABLE
table study.tsv <<TABLE
# commit $commit
implementation,batch,measure,median
102,1,device,2
102,1,% of lanes,96
102,1,bytes,5
TABLE

id=S0-1
table net.txt <<TABLE
on NVIDIA T1; commit $commit
accuracy of net: 95.0 % after 1 s
accuracy of net: 97.5 % after 2 s
It is small: refuted.
TABLE

document='# Report
| cuBLAS | NVIDIA |'
report() { # PROMISE WHERE FIGURES [REMARK]
    echo "$document" >"$course/report.md"
    printf 'id\tpromise\twhere\tfigures\tremark\n%s\t%s\t%s\t%s\t%s\n' $id "$1" "$2" "$3" "${4:-}" >"$course/report.tsv"
    (cd "$course" && awk -v document=report.md -f tools/report.awk facts report.tsv)
}

says() { # WORDS PROMISE WHERE FIGURES [REMARK]
    words=$1
    shift
    report "$@" >"$scratch/out" || return 1
    cat "$scratch/out"
    grep -qF -- "$words" "$scratch/out"
}

refuses() { # WORDS PROMISE WHERE FIGURES [REMARK]: exit status 1, and nothing on stdout
    words=$1
    shift
    report "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
    cat "$scratch/out" "$scratch/err"
    [ $status = 1 ] && [ ! -s "$scratch/out" ] && grep -qF -- "$words" "$scratch/err"
}

is_not_old() {
    says '| [net.tsv] |' net 102 'net.tsv: milliseconds where what 102 net and batch 1'
}
is_old() {
    says "| [net.tsv], measured at $(echo "$commit" | cut -c 1-8); the code has changed since |" net 102 \
        'net.tsv: milliseconds where what 102 net and batch 1'
}
lacks_its_commit() {
    sed -i 's/^# commit .*/# commit 123456789abc/' "$course/docs/results/h200/net.tsv"
    report net 102 'net.tsv: milliseconds where what 102 net and batch 1'
    [ $? = 3 ]
}

relu='tests.tsv: seconds where function relu_forward'
net='where what 102 net and batch 1'
check 'a figure has its unit and its row' says '| 2 ms (relu_forward, 9 floats) |' 'ReLU: 1 ms' 101:relu_forward "$relu"
check 'a metric is named' says '| 1.5: speedup over a loop |' 'ReLU 2 times' 101:relu_forward 'tests.tsv: number where function relu_forward'
check 'a number is found in a text' says '| 97.5 % (accuracy of net) |' 'more than 97 %' 102 'net.txt: % where line accuracy of net'
check 'and a verdict' says '| “It is small”: refuted |' 'it is small' 102 'net.txt: verdict where line It is small'
check 'a text without the words' refuses 'nothing there' 'net' 102 'net.txt: % where line speed of net'
check 'a ratio has both' says '| 4 times: 8 ms (102 net, batch 1) against 2 ms (cuBLAS) |' '3 times' 102 \
    "net.tsv: milliseconds $net over what cuBLAS"
check 'a share is a percentage' says '| 25 %: 0.5 GB' 'half the memory, 50 %' 102 "net.tsv: GB $net over what cuBLAS"
check 'GB/s are bandwidth' says '| 63 GB/s (102 net, batch 1) |' '850 GB/s' 102 "net.tsv: GB/s $net"
median='study.tsv: median where implementation 102 and batch 1 and measure'
check 'a median of times' says '| 2 ms (implementation 102, batch 1, device) |' 'it takes 4 ms' 102 "$median device"
check 'a median of counts has their unit' says '| 96 % of lanes (implementation 102, batch 1) |' 'divergence' 102 "$median % of lanes"
check 'what has no figure has a verdict' says 'S0-1 (101)' 'a kernel' 101 ''
check 'a reason stands in the row' says '| needs two GPUs |' 'many GPUs' 101 '' 'needs two GPUs'
check 'machine and commit are named' says "| [tests.tsv] | NVIDIA T1 | $commit |" 'ReLU' 101:relu_forward "$relu"

check 'milliseconds are not memory' refuses 'promises memory and is shown time' 'it takes 4 MB' 102 "net.tsv: milliseconds $net"
check 'nor is their ratio' refuses 'promises memory ratio and is shown time' '2 times less memory' 102 "net.tsv: milliseconds $net over what cuBLAS"
check 'GFLOP/s are not milliseconds' refuses 'promises time and is shown rate' 'it takes 4 ms' 102 "net.tsv: GFLOP/s $net"
check 'nor GB/s' refuses 'promises bandwidth and is shown time' '850 GB/s' 102 "net.tsv: milliseconds $net"
check 'a median of counts is no time' refuses 'no unit is known of bytes' 'it takes 4 ms' 102 "$median bytes"
check 'a ratio is of one unit' refuses 'a ratio of GB to ms' '4 times' 102 "net.tsv: GB $net over milliseconds where what cuBLAS"
check 'forward is not backward' refuses 'does not name the function relu_forward' 'ReLU backward' 101:relu_backward "$relu"
check 'a function is in its contract' refuses '101 has no function relu_sideways' 'ReLU' 101:relu_sideways "$relu"
check 'another exercise is refused' refuses 'kept in 101 and is shown 102' 'ReLU' 101 "net.tsv: milliseconds $net"
check 'a failed row is refused' refuses 'the verdict is failed' 'ReLU backward' 101:relu_backward 'tests.tsv: number where function relu_backward'
check 'a scaled row is refused' refuses 'scaled from another batch' 'net' 102 'net.tsv: milliseconds where what 102 net and batch 2'
check 'a row that is not there' refuses 'nothing there' 'net' 102 'net.tsv: milliseconds where what 102 net and batch 3'
check 'one of several rows' refuses 'several rows' 'net' 102 'net.tsv: milliseconds where what 102 net'
check 'a column of which no unit is known' refuses 'no unit is known of batch' 'net' 102 "net.tsv: batch $net"
check 'a number typed in a remark' refuses 'a number that was typed: 3.5' 'ReLU' 101 '' 'about 3.5 times'
check 'a reference to a promise without a figure' refuses 'S0-7 has no figure' 'ReLU' 101 '' 'as S0-7'
check 'an exercise that did not pass' refuses '102 did not pass' 'net' 102 ''
id=S0-2
check 'a promise that is left out' refuses 'S0-2 follows' 'net' 101 ''
id=S0-1 document='<!-- report: S0, 2 -->'
check 'promises at the end' refuses '1 promises, wanted 2' 'net' 101 ''
document='It takes 3 ms.'
check 'a number typed in the document' refuses 'report.md: a number that was typed: 3' 'net' 101 ''
document='# Report'
check 'a peer without a source' refuses 'no source for cuBLAS' '2 times' 102 "net.tsv: milliseconds $net over what cuBLAS"

check 'a table of the code as it is' is_not_old
sed -i 's|/\* one|/* another\n|; s|^{| {|' "$course/solutions/phase1_cpu/101_relu/101_relu.c"
check 'comments and blanks are no code' is_not_old
sed -i 's/return 1/return 2/' "$course/solutions/phase1_cpu/101_relu/101_relu.c"
check 'a table older than a kernel that is called' is_old
as_git checkout -q solutions
echo 'int more;' >>"$course/solutions/phase1_cpu/102_net/102_net.c"
as_git commit -q -a -m changed
check 'a table older than its kernel' is_old
check 'git lacks its commit' lacks_its_commit
tally
