#!/bin/sh
# measure_class.sh NUMBER [FILE]: `make class` on two processors, killed three times on the way: is
# each of NUMBER mixed submissions graded, and none twice? Prints the counts and the seconds, as a
# table in Markdown, and writes the same to FILE.
#
# Mixed: folders, zips and tarballs; solutions, skeletons, wrong and wasteful files of the corpus in
# place of one exercise; late ones; broken archives. But for the skeletons each has a comment of its
# own, so that it is really graded. A program in the grader's place notes when it begins and ends.
set -u
number=${1:?measure_class.sh NUMBER [FILE]} file=${2:-/dev/null}
cd "$(dirname "$0")/.." || exit 2
root=$PWD build=${COURSE_BUILD:-$PWD/build}
unset EX PHASE CASE SEED MAKEFLAGS MFLAGS MAKELEVEL
export BACKEND=cpu
scratch=$(mktemp -d /tmp/course-class.XXXXXX)
in=$scratch/in out=$scratch/out
run=
trap '[ -z "$run" ] || kill -s KILL -- "-$run" 2>/dev/null; rm -rf "$scratch"' EXIT
exercises='103 109 201 203'

# --- the class ----------------------------------------------------------------------------------

place_of() { # ID: its file, below the folder of a submission
    (cd solutions && echo phase?_*/"$1"_*/*)
}

put() { # SUBMISSION ID SOURCE: as this student's file, or a patch of the solution; with a comment
    to=$scratch/one/$(place_of "$2")
    mkdir -p "$(dirname "$to")"
    case $3 in
    *.patch) cp "solutions/$(place_of "$2")" "$to"; (cd "$scratch/one" && git apply "$root/$3") ;;
    *) cp "$3" "$to" ;;
    esac || exit 2
    echo "/* student $1 of $stamp */" >>"$to"
}

# corpus_of KIND ID N: one of the corpus's files, another for each N
corpus_of() {
    set -- "$3" grader/exercises/"$2"_*/"$1"/*
    shift $((1 + $1 % ($# - 1)))
    echo "$1"
}

fill() { # N
    solution() { echo "solutions/$(place_of "$1")"; }
    case $(($1 % 10)) in
    0) for id in 103 203; do
           mkdir -p "$scratch/one/$(dirname "$(place_of $id)")"
           awk -f tools/skeleton.awk "$(solution $id)" >"$scratch/one/$(place_of $id)"
       done ;;
    1 | 2) put "$1" 103 "$(solution 103)"; put "$1" 109 "$(solution 109)" ;;
    3) put "$1" 103 "$(solution 103)"; put "$1" 203 "$(solution 203)" ;;
    4 | 5) put "$1" 103 "$(corpus_of wrong 103 "$1")"; put "$1" 109 "$(solution 109)" ;;
    6) put "$1" 203 "$(corpus_of wrong 203 "$1")" ;;
    7) put "$1" 203 "$(corpus_of slow 203 "$1")" ;;
    8) put "$1" 109 "$(corpus_of wrong 109 "$1")"; put "$1" 103 "$(corpus_of right 103 "$1")" ;;
    9) put "$1" 201 "$(solution 201)" ;;
    esac
}

# One in fifty archives is cut short; one in five was handed in after the hour that was due.
pack() { # N NAME
    case $(($1 % 3)) in
    0) to=$in/$2 && mv "$scratch/one" "$to" ;;
    1) to=$in/$2.zip && (cd "$scratch/one" && zip -qr "$to" .) ;;
    2) to=$in/$2.tar.gz && tar -C "$scratch/one" -czf "$to" . ;;
    esac
    [ $(($1 % 50)) != 49 ] || [ -d "$to" ] || truncate -s 200 "$to"
    [ $(($1 % 5)) = 0 ] || find "$to" -type f -exec touch -d '-2 hours' {} +
    rm -rf "$scratch/one"
}

hand_in_all() {
    mkdir "$in"
    for n in $(seq "$number"); do
        mkdir "$scratch/one"
        fill "$n"
        pack "$n" "student$n"
    done
    printf '[weights]\n203 = 2\n[late]\ndue = %s\nper_day = 10\n' \
        "$(date -u -d '-1 hour' +%Y-%m-%dT%H:%M:%SZ)" >"$scratch/class.ini"
}

# --- grading ------------------------------------------------------------------------------------

# Notes what it grades, by the hash of the files, when it begins and when it has come to its end.
write_grader() {
    cat >"$scratch/grader" <<END
#!/bin/sh
for word; do
    [ "\$last" != --submission ] || key=\$(cd "\$word" && find . -type f -exec sha256sum {} + | sort | sha256sum)
    last=\$word
done
echo "begin \$key" >>"$scratch/log"
"$build/grader" "\$@" || exit
echo "end \$key" >>"$scratch/log"
END
    printf '#!/bin/sh\nexec "%s/grader" "$@" --fresh\n' "$build" >"$scratch/grader_without_memory"
    chmod +x "$scratch"/grader*
}

start_class() { # OUT IN: in a process group of its own
    setsid make BUILD="$build" class SUBMISSIONS="$2" OUT="$1" CLASS="$scratch/class.ini" JOBS=2 \
        EX="$exercises" GRADER="$scratch/grader" >>"$scratch/class.log" 2>&1 &
    run=$!
}

results() {
    find "$out/graded" -name '*.json' 2>/dev/null | wc -l
}

random_below() { # LIMIT
    od -An -N4 -tu4 /dev/urandom | awk -v limit="$1" '{ print $1 % limit }'
}

# Somewhere in the first, the second and the third quarter of the class.
kill_on_the_way() {
    for quarter in 0 1 2; do
        until=$((quarter * number / 4 + $(random_below $((number / 4))) + 1))
        start_class "$out" "$in"
        while [ "$(results)" -lt "$until" ] && kill -0 "$run" 2>/dev/null; do sleep 0.2; done
        kill -s KILL -- "-$run" && kills=$((kills + 1))
        wait "$run" 2>/dev/null
        killed_at="$killed_at $(results)"
        sleep 1 # the kernel ends workers in groups of their own
    done
}

# --- what is proved -----------------------------------------------------------------------------

expect() { # WHAT COMMAND...
    what=$1
    shift
    if "$@"; then echo "- $what" >>"$scratch/proved"; return; fi
    echo "NOT SO: $what" >>"$scratch/proved"
    failed=1
}

count() { # WORDS: rows of the gradebook
    grep -c "$1" "$out/gradebook.csv"
}

twice_ended() {
    sort "$scratch/log" | uniq -c | awk '$2 == "end" && $1 > 1' | wc -l
}

# Without kills, remembering nothing: the same points for one in eleven.
sample_agrees() {
    mkdir "$scratch/sample"
    for n in $(seq 4 11 "$number"); do cp -a "$in/student$n" "$in/student$n".* "$scratch/sample" 2>/dev/null; done
    make BUILD="$build" class SUBMISSIONS="$scratch/sample" OUT="$scratch/again" JOBS=2 EX="$exercises" \
        CLASS="$scratch/class.ini" GRADER="$scratch/grader_without_memory" >>"$scratch/class.log" 2>&1
    cut -d, -f1-3 "$scratch/again/gradebook.csv" >"$scratch/again.csv"
    cut -d, -f1-3 "$out/gradebook.csv" | grep -Fxf - "$scratch/again.csv" | diff - "$scratch/again.csv" &&
        [ "$(wc -l <"$scratch/again.csv")" -gt $((number / 11)) ]
}

export COURSE_ROOT="$root"
make BUILD="$build" all "$build/class" >/dev/null || exit 2
failed=0 kills=0 killed_at='' stamp=$(date +%s)
commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
load=$(cut -d' ' -f1 /proc/loadavg)
hand_in_all
write_grader
began=$(date +%s.%N)
kill_on_the_way
start_class "$out" "$in"
wait "$run"
status=$?
run=
seconds=$(echo "$(date +%s.%N) $began" | awk '{ printf "%.0f", $1 - $2 }')
distinct=$(results)
begun=$(grep -c begin "$scratch/log") ended=$(grep -c end "$scratch/log")

expect 'the last run ends with 0' [ "$status" = 0 ]
expect "killed with all its processes $kills times, when $killed_at results were there" [ "$kills" = 3 ]
expect "$number rows in the gradebook, one per student" \
    [ "$(cut -d, -f1 "$out/gradebook.csv" | sort -u | wc -l)" = $((number + 1)) ]
expect "$(count ',graded,') graded and $(count ',refused,') refused are all" \
    [ $(($(count ',graded,') + $(count ',refused,'))) = "$number" ]
expect "$distinct results, all distinct: one for each grading that finished ($ended)" \
    [ "$distinct" = "$ended" ]
expect 'no submission was graded to the end twice' [ "$(twice_ended)" = 0 ]
expect "$begun gradings were begun: those that a kill interrupted were begun again, at most two per kill" \
    [ $((begun - ended)) -le $((2 * kills)) ]
expect "$(seq 4 11 "$number" | wc -l) of them, graded once more without kills and without cached results, get the same points" sample_agrees

{
    echo '# A class, killed three times'
    echo
    echo "\`tools/measure_class.sh $number\`: $number mixed submissions, each with some of $exercises, graded by"
    echo "\`make class JOBS=2\`, which was killed three times on the way."
    echo
    echo '| | |'
    echo '|---|---|'
    echo "| machine | $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, load $load before, $(cut -d' ' -f1 /proc/loadavg) after |"
    echo "| commit | $commit, $(date -u +%Y-%m-%dT%H:%M:%SZ) |"
    echo "| seconds, all four runs | $seconds |"
    echo "| seconds per result | $(echo "$seconds $distinct" | awk '{ printf "%.2f", $1 / $2 }') |"
    echo "| handed in late | $(awk -F, '$5 > 0' "$out/gradebook.csv" | wc -l) |"
    echo
    cat "$scratch/proved"
    echo
    echo 'Archives that are cut short are refused. Untouched skeletons are equal files, which are graded once. All'
    echo 'others have a comment of their own, so each of them is graded.'
} | tee "$file"
[ $failed = 0 ] || tail -n 20 "$scratch/class.log" >&2
exit $failed
