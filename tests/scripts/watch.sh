#!/bin/sh
# watch.sh: make watch through everything that editors, version control and a closed terminal
# do to files: replaced, deleted and made again, a file and a folder that were not there at first,
# saved while it is graded, killed and started again; and its keys. The last line
# counts.
set -u
cd "$COURSE_ROOT" || exit 2
unset EX PHASE CASE SEED # of the make that runs this
work=$COURSE_BUILD/test/watch
rm -rf "$work"
mkdir -p "$work/submission/phase1_cpu"
submission=$work/submission history=$work/history.jsonl
first=phase1_cpu/103_matmul_cpu/103_matmul_cpu.c second=phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c
passed=0 failed=0
watcher=
trap '[ -z "$watcher" ] || kill -9 "$watcher" 2>/dev/null' EXIT

verdicts() { # how many there are
    grep -c '"entry"' "$history" 2>/dev/null
}

# The log names what was graded, the history has its verdict: N verdicts, five minutes at most.
expect() { # WHAT N WORDS
    for _ in $(seq 3000); do
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
    for _ in $(seq 3000); do grep -q '^watching' "$work/log" && break; sleep 0.1; done
}

next() { # forget what was said
    : >"$work/log"
}

save() { # FILE TEXT: another content each time, as an editor that writes into the file
    mkdir -p "$submission/${1%/*}"
    { cat "solutions/$1"; echo "/* $2 */"; } >"$submission/$1"
}

start
save "$first" new
expect 'a file that was not there at first' 1 '103 matmul_cpu.*passed'
next
{ cat "solutions/$first"; echo '/* renamed */'; } >"$submission/${first%/*}/.103.swp"
mv "$submission/${first%/*}/.103.swp" "$submission/$first"
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
echo '/* nobody looks */' >>"$submission/elsewhere/103_matmul_cpu/103_matmul_cpu.c"
touch "$submission/${second%/*}/notes.txt"
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
for _ in $(seq 3000); do tail -n 1 "$history" | grep -q "$sum" && break; sleep 0.1; done
if tail -n 1 "$history" | grep -q "$sum"; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo 'saved while it was graded: the last verdict is not that of the last content'
fi
kill "$watcher" && wait "$watcher" 2>/dev/null
watcher=

# --- keys: each is pressed when what the one before it asked for is there ---------------------------

said() { # WORDS: the log has them, in five minutes at most
    for _ in $(seq 3000); do grep -q -- "$1" "$work/log" && return; sleep 0.1; done
    return 1
}

press() { # KEY WORDS: what it brings
    printf %s "$1" >&3
    if said "$2"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not so: the key $1; looked for \"$2\" in"
        sed 's/^/    /' "$work/log"
    fi
}

rm -rf "$submission" "$history"
mkdir -p "$submission/phase1_cpu" "$work/bin"
for name in 103 104 105; do cp -r "$COURSE_BUILD"/skeletons/phase1_cpu/$name* "$submission/phase1_cpu"; done
printf '#!/bin/sh\necho "made: $*"\n' >"$work/bin/make"
chmod +x "$work/bin/make"
mkfifo "$work/keys"
exec 3<>"$work/keys"
: >"$work/log"
PATH=$work/bin:$PATH "$COURSE_BUILD/grader" watch --backend cpu --submission "$submission" --exercise '103 104 105' \
    --history "$history" --results "$work/results.json" >"$work/log" 2>&1 <"$work/keys" 3>&- &
watcher=$!
press h '^([123] of 3; .*: make hint EX=103'
save "$first" right
expect 'an exercise that passes' 1 '104 matmul_cpu_ikj: not started'
press n '105 matmul_cpu_blocked: not started'
press l '1 of 3 exercises, 10.0 of'
press s '105 is not started'
echo '/* begun */' >>"$submission/phase1_cpu/105_matmul_cpu_blocked/105_matmul_cpu_blocked.c"
expect 'an exercise that fails' 2 '105 matmul_cpu_blocked .*failed'
press s 'made: .* see EX=105 SUBMISSION=/.*/submission BUILD=/'
next
press '?' 'h hint, n next, l list, s see, q quit'
printf q >&3
wait "$watcher"
echo "ended with $?" >>"$work/log"
watcher=
expect 'the key q' 2 'ended with 0'
exec 3>&-

# A terminal is afterwards as it was.
cat >"$work/session" <<EOF
stty -a >'$work/before'
'$COURSE_BUILD/grader' watch --backend cpu --submission '$submission' --history '$history' --results '$work/results.json'
stty -a >'$work/after'
EOF
if command -v script >/dev/null; then
    printf q | script -qec "sh '$work/session'" /dev/null >"$work/log" 2>&1
    cmp "$work/before" "$work/after" >>"$work/log" 2>&1 && echo 'as it was' >>"$work/log"
    expect 'a terminal after q' 2 'as it was'
else
    echo 'skipped: a terminal after make watch, which needs script'
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
