#!/bin/sh
# test_watch.sh: make watch through everything that editors, version control and a closed terminal
# do to files: replaced, deleted and made again, a file and a folder that were not there at first,
# saved while it is graded, killed and started again. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset EX PHASE CASE SEED # of the make that runs this
work=$COURSE_BUILD/test/watch
rm -rf "$work"
mkdir -p "$work/submission/phase1_cpu"
submission=$work/submission history=$work/history.jsonl
first=phase1_cpu/103_matmul_cpu.c second=phase1_cpu/104_matmul_cpu_ikj.c
passed=0 failed=0
watcher=
trap '[ -z "$watcher" ] || kill -9 "$watcher" 2>/dev/null' EXIT

verdicts() { # how many there are
    grep -c '"entry"' "$history" 2>/dev/null
}

# The log names what was graded, the history has its verdict: N verdicts, a minute at most.
expect() { # WHAT N WORDS
    for _ in $(seq 600); do
        [ "$(verdicts)" = "$2" ] && grep -q -- "$3" "$work/log" && break
        sleep 0.1
    done
    if [ "$(verdicts)" = "$2" ] && grep -q -- "$3" "$work/log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not so: $1; looked for $2 verdicts (there are $(verdicts)) and \"$3\" in"
        sed 's/^/    /' "$work/log"
    fi
}

start() {
    : >"$work/log"
    "$COURSE_BUILD/grader" watch --backend cpu --submission "$submission" --exercise '103 104' \
        --history "$history" --results "$work/results.json" >"$work/log" 2>&1 &
    watcher=$!
    for _ in $(seq 100); do grep -q '^watching' "$work/log" && break; sleep 0.1; done
}

next() { # forget what was said
    : >"$work/log"
}

save() { # FILE TEXT: another content each time, as an editor that writes into the file
    { cat "solutions/$1"; echo "/* $2 */"; } >"$submission/$1"
}

start
save "$first" new
expect 'a file that was not there at first' 1 '103 matmul_cpu.*passed'
next
{ cat "solutions/$first"; echo '/* renamed */'; } >"$submission/phase1_cpu/.103.swp"
mv "$submission/phase1_cpu/.103.swp" "$submission/$first"
expect 'an editor that replaces the file' 2 '103 matmul_cpu.*passed'
next
rm "$submission/$first"
sleep 0.3
save "$first" again
expect 'deleted and made again' 3 '103 matmul_cpu.*passed'
next
save "$second" new
expect 'another exercise' 4 '104 matmul_cpu_ikj.*passed'
next
mv "$submission/phase1_cpu" "$submission/elsewhere"
mkdir "$submission/phase1_cpu"
save "$first" 'in a new folder'
expect 'a folder that was replaced' 5 '103 matmul_cpu.*passed'
next
save "$second" late
expect 'and is watched' 6 '104 matmul_cpu_ikj.*passed'
next
echo '/* nobody looks */' >>"$submission/elsewhere/103_matmul_cpu.c"
touch "$submission/phase1_cpu/notes.txt"
kill -9 "$watcher"
wait "$watcher" 2>/dev/null
start
save "$first" 'after a restart'
expect 'killed and started again' 7 '103 matmul_cpu.*passed'
next
save "$first" half
sleep 0.3
save "$first" whole
sum=$(sha256sum <"$submission/$first" | cut -d ' ' -f 1)
for _ in $(seq 600); do tail -n 1 "$history" | grep -q "$sum" && break; sleep 0.1; done
if tail -n 1 "$history" | grep -q "$sum"; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo 'saved while it was graded: the last verdict is not that of the last content'
fi
kill "$watcher" && wait "$watcher" 2>/dev/null
watcher=

echo "$passed passed, $failed failed"
[ $failed = 0 ]
