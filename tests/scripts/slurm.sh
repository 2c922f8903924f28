#!/bin/sh
# slurm.sh: `make class SCHEDULER=slurm` with Slurm's own daemons, started on loopback with a
# configuration of their own in a scratch folder: 20 submissions, one of them broken on the way, and
# a run that is killed while its tasks are at work. Needs root, as slurmd does. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset EX PHASE CASE SEED MAKEFLAGS MFLAGS MAKELEVEL
scratch=$(mktemp -d /tmp/course-slurm.XXXXXX)
pids=
run=
passed=0 failed=0

# Tasks first: they outlive their slurmd.
clean_up() {
    [ -z "$run" ] || kill -9 "$run" 2>/dev/null
    [ -z "$pids" ] || scancel --quiet --partition=teaching 2>/dev/null
    for _ in $(seq 100); do [ -n "$(squeue --noheader 2>/dev/null)" ] || break; sleep 0.1; done
    for pid in $pids; do kill "$pid" 2>/dev/null; done
    for pid in $pids; do
        for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        kill -9 "$pid" 2>/dev/null
    done
    rm -rf "$scratch"
}

skip() {
    echo "skipped: grading through Slurm, which needs $*"
    echo '0 passed, 0 failed'
    rm -rf "$scratch"
    exit 0
}

check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" >"$scratch/check.log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not so: $what"
        tail -n 8 "$scratch/check.log" "$scratch/class.log" 2>/dev/null | sed 's/^/    /'
    fi
}

[ "$(id -u)" = 0 ] || skip 'root'
for need in 'slurmctld slurmctld' 'slurmd slurmd' 'sbatch slurm-client' 'munged munge'; do
    command -v "${need% *}" >/dev/null || skip "Slurm and munge (${need#* })"
done

# --- the daemons --------------------------------------------------------------------------------

free_port() { # FROM: the first that nobody listens on
    port=$1
    while ss -ltnH "sport = :$port" 2>/dev/null | grep -q . ||
        grep -qi ":$(printf '%04X' "$port") 00000000:0000 0A" /proc/net/tcp; do port=$((port + 1)); done
    echo "$port"
}

start_daemons() {
    chmod 755 "$scratch"
    mkdir "$scratch/munge" "$scratch/state" "$scratch/spool"
    chmod 755 "$scratch/munge"
    dd if=/dev/urandom of="$scratch/munge.key" bs=1024 count=1 2>/dev/null
    chmod 600 "$scratch/munge.key"
    munged --foreground --force --key-file="$scratch/munge.key" --socket="$scratch/munge/socket" \
        --pid-file="$scratch/munge/pid" --log-file="$scratch/munge/log" \
        --seed-file="$scratch/munge/seed" 2>"$scratch/munged.err" &
    pids=$!
    host=$(hostname -s)
    control=$(free_port 16817) node=$(free_port 16917)
    cat >"$scratch/slurm.conf" <<END
ClusterName=course
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$control
SlurmdPort=$node
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$scratch/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
ReturnToService=2
SchedulerParameters=sched_interval=1,sched_min_interval=100000,batch_sched_delay=0
NodeName=$host NodeAddr=127.0.0.1 Port=$node CPUs=$(nproc) State=UNKNOWN
PartitionName=teaching Nodes=$host Default=YES OverSubscribe=FORCE:2 MaxTime=INFINITE State=UP
END
    export SLURM_CONF="$scratch/slurm.conf"
    for _ in $(seq 600); do [ -S "$scratch/munge/socket" ] && break; sleep 0.1; done
    slurmctld -D -c 2>"$scratch/slurmctld.err" &
    pids="$! $pids"
    slurmd -D 2>"$scratch/slurmd.err" &
    pids="$! $pids"
    for _ in $(seq 3000); do
        [ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ] && return
        sleep 0.1
    done
    tail -n 5 "$scratch"/*.err "$scratch"/*.log
    return 1
}

# --- the class ----------------------------------------------------------------------------------

# Twenty distinct files, each a right 103 with a comment of its own; one student's is empty.
hand_in() {
    for number in $(seq 20); do
        folder=$scratch/in/student$number/phase1_cpu/103_matmul_cpu
        mkdir -p "$folder"
        { cat solutions/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c; echo "/* $number */"; } >"$folder/103_matmul_cpu.c"
    done
    echo 'not C' >"$scratch/in/student7/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c"
    printf '[slurm]\npartition = teaching\npoll = 1\nlimit = 20\n' >"$scratch/class.ini"
}

# The grader, which notes each start of itself.
write_grader() {
    cat >"$scratch/grader" <<END
#!/bin/sh
echo "\$SLURM_ARRAY_JOB_ID" >>"$scratch/starts"
[ ! -e "$scratch/broken" ] || exit 2
exec "$COURSE_BUILD/grader" "\$@"
END
    chmod +x "$scratch/grader"
}

begin_class() { # never comes back: for a shell of its own
    exec "$COURSE_BUILD/class" --submissions "$scratch/in" --out "$scratch/out" \
        --settings "$scratch/class.ini" --scheduler slurm -- \
        "$scratch/grader" grade --backend cpu --exercise 103 >"$scratch/class.log" 2>&1
}

class() (
    begin_class
)

results() {
    find "$scratch/out/graded" -name '*.json' 2>/dev/null | wc -l
}

killed_on_the_way() {
    begin_class &
    run=$!
    for _ in $(seq 3000); do
        [ "$(results)" -ge 3 ] && break
        sleep 0.1
    done
    kill -9 $run
    wait $run 2>/dev/null
    run=
    echo "$(results) results"
    [ "$(results)" -ge 3 ] && [ "$(results)" -lt 20 ]
}

starts_are() { # NUMBER
    [ "$(wc -l <"$scratch/starts")" = "$1" ]
}

graded_are() { # NUMBER
    [ "$(grep -c ',graded,' "$scratch/out/gradebook.csv")" = "$1" ]
}

a_task_that_fails() {
    echo '/* once more */' >>"$scratch/in/student3/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c"
    touch "$scratch/broken"
    class
    status=$?
    rm "$scratch/broken"
    [ $status = 1 ] && grep -q 'student3 .*the grader failed' "$scratch/class.log" &&
        log=$(sed -n 's/^ *and \(.*\.log\)$/\1/p' "$scratch/class.log") && grep -q 'the grader failed' "$log"
}

no_slurm_is_said() {
    mkdir -p "$scratch/empty"
    (PATH=$scratch/empty "$COURSE_BUILD/class" --submissions "$scratch/in" --out "$scratch/none" \
        --scheduler slurm -- "$COURSE_BUILD/grader" grade) >"$scratch/check.log" 2>&1
    [ $? = 2 ] && grep -q 'SCHEDULER=slurm needs sbatch' "$scratch/check.log"
}

trap clean_up EXIT
start_daemons || { echo "Slurm's daemons do not start here"; exit 1; }
hand_in
write_grader
check 'a run is killed while tasks are at work'   killed_on_the_way
check 'the next one waits for them, and collects' class
check 'everybody is graded'                       graded_are 20
check 'and nobody twice'                          starts_are 20
check 'right is right'                            grep -q '^student1,graded,10.00,10.00' "$scratch/out/gradebook.csv"
check 'wrong is wrong'                            grep -q '^student7,graded,0.00,10.00' "$scratch/out/gradebook.csv"
check 'graded by tasks of a job'                  grep -q '^[0-9]' "$scratch/starts"
check 'a task that fails is named with its log'   a_task_that_fails
check 'and tried again'                           class
check 'with success'                              graded_are 20
check 'of the one alone'                          starts_are 22
check 'without Slurm it is said what is missing'  no_slurm_is_said
echo "$passed passed, $failed failed"
[ $failed = 0 ]
