#!/bin/sh
# views.sh: reports from end to end: the command line, Gradescope's zip as Gradescope would run
# it, and the page in a browser of the size of a phone. What a machine has no program for is skipped,
# and says so. The last line counts.
set -u
unset SUBMISSION # of the make that runs this
cd "$COURSE_ROOT" || exit 2
stored=tests/grader/views/results.json
. tests/scripts/tally.sh

report() { # FORMAT OUTPUT [FLAG...]
    format=$1 output=$2
    shift 2
    "$COURSE_BUILD/grader" report --format "$format" --output "$output" --results "$stored" "$@"
}

# --- the command line ---------------------------------------------------------------------------

every_format() {
    for format in junit gradescope github summary csv html markdown grades tests; do
        report $format "$scratch/new/$format" && [ -s "$scratch/new/$format" ] || return 1
    done
}

refused() { # RESULTS FORMAT: exit status 2, and the report of yesterday is still there
    echo yesterday >"$scratch/kept"
    "$COURSE_BUILD/grader" report --format "$2" --output "$scratch/kept" --results "$1"
    [ $? = 2 ] && [ "$(cat "$scratch/kept")" = yesterday ] && [ "$(ls "$scratch"/kept*)" = "$scratch/kept" ]
}

page_lies_beside_the_results() {
    mkdir -p "$scratch/beside" && cp $stored "$scratch/beside/results.json" &&
        "$COURSE_BUILD/grader" report --format html --results "$scratch/beside/results.json" | grep "written: $scratch/beside/report.html" &&
        [ -s "$scratch/beside/report.html" ]
}

# What make grade writes into OUTPUT is what the results make; and a folder of it can be reported of.
tables_of_a_grading() {
    make BUILD="$COURSE_BUILD" grade SUBMISSION=solutions EX=104 RESULTS="$scratch/104.json" OUTPUT="$scratch/tables" || return 1
    for table in grades tests; do
        for results in "$scratch/104.json" "$scratch/tables"; do
            "$COURSE_BUILD/grader" report --format $table --results "$results" | cmp - "$scratch/tables/$table.tsv" || return 1
        done
    done
}

check 'every format is written' every_format
check 'tables of a grading' tables_of_a_grading
check 'a folder without tables is refused' refused "$scratch" markdown
check 'a page without OUTPUT goes beside the results' page_lies_beside_the_results
check 'an unknown format is refused' refused $stored pdf
check 'a missing file is refused' refused "$scratch/none.json" csv
head -c 700 $stored >"$scratch/cut.json"
check 'a file cut short is refused' refused "$scratch/cut.json" html
echo '{"schema": 1}' >"$scratch/other.json"
check 'another JSON is refused' refused "$scratch/other.json" junit

# --- signed results -----------------------------------------------------------------------------

verified() { # STATUS RESULTS [NAME=VALUE...]: make verify holds, or (STATUS 2, as make has it) not
    status=$1 file=$2
    shift 2
    make BUILD="$COURSE_BUILD" verify RESULTS="$file" "$@"
    [ $? = "$status" ]
}

signed_results_are_verified() {
    head -c 32 /dev/urandom >"$scratch/key" && chmod 600 "$scratch/key" &&
        make BUILD="$COURSE_BUILD" grade SUBMISSION=solutions EX=103 RESULTS="$scratch/signed.json" \
            KEY="$scratch/key" >"$scratch/words" &&
        sed 's/"points": 10.0/"points": 9.0/' "$scratch/signed.json" >"$scratch/altered.json" &&
        verified 0 "$scratch/signed.json" KEY="$scratch/key" SUBMISSION=solutions &&
        verified 0 "$scratch/signed.json" ALLOW_UNSIGNED=1 &&
        verified 2 "$scratch/signed.json" &&
        verified 2 "$scratch/signed.json" KEY="$scratch/key" SUBMISSION=grader &&
        verified 2 "$scratch/altered.json" KEY="$scratch/key"
}

no_grading_without_its_key() {
    ! make BUILD="$COURSE_BUILD" grade EX=103 RESULTS="$scratch/none.json" KEY="$scratch/no.key" &&
        [ ! -e "$scratch/none.json" ]
}

check 'signed results are verified' signed_results_are_verified
check 'no grading without its key' no_grading_without_its_key

# --- JUnit --------------------------------------------------------------------------------------

keeps_schema() { # RESULTS
    "$COURSE_BUILD/grader" report --format junit --results "$1" --output "$scratch/junit.xml" &&
        xmllint --noout --schema tests/grader/views/junit.xsd "$scratch/junit.xml"
}

if command -v xmllint >/dev/null; then
    check "JUnit's schema" keeps_schema $stored
else
    echo "skipped: JUnit's schema, which needs xmllint"
fi

# --- Gradescope ---------------------------------------------------------------------------------

zip_takes_hidden_cases() { # and only when they are given
    echo 'seed = 1' >"$scratch/private.ini"
    HIDDEN=$scratch/private.ini tools/gradescope/zip.sh "$scratch/h.zip" &&
        unzip -p "$scratch/h.zip" hidden.ini | cmp - "$scratch/private.ini" &&
        ! unzip -l "$scratch/g.zip" hidden.ini
}

zip_has_all() {
    tools/gradescope/zip.sh "$scratch/g.zip" && mkdir "$scratch/source" &&
        unzip -q "$scratch/g.zip" -d "$scratch/source" &&
        [ -x "$scratch/source/setup.sh" ] && [ -x "$scratch/source/run_autograder" ] &&
        [ "$(cat "$scratch/source/COMMIT")" = "$(git rev-parse --short=12 HEAD)" ] &&
        (cd "$scratch/source" && find . ! -type d | sed 's|^\./||' | sort) >"$scratch/there" &&
        { git ls-tree -r --name-only HEAD && printf '%s\n' COMMIT setup.sh run_autograder; } |
        sort | diff - "$scratch/there"
}

# One file, handed in without its folder: full points; the rest of the phase is not started.
autograder_grades() {
    mkdir -p "$scratch/autograder/submission" &&
        cp solutions/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c "$scratch/autograder/submission" &&
        env -u EX -u RESULTS -u SUBMISSION BUILD="$COURSE_BUILD" AUTOGRADER="$scratch/autograder" \
            COURSE="$COURSE_ROOT" EX='103 104' VISIBILITY=after_due_date tools/gradescope/run_autograder &&
        grep -q '"score": 10.0' "$scratch/autograder/results/results.json" &&
        grep -q 'not started' "$scratch/autograder/results/results.json" &&
        grep -q '"visibility": "after_due_date"' "$scratch/autograder/results/results.json"
}

autograder_tells_where_a_file_belongs() {
    rm -r "$scratch/autograder" && mkdir -p "$scratch/autograder/submission/phase1_cpu" &&
        cp solutions/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c "$scratch/autograder/submission/phase1_cpu" &&
        env -u EX -u RESULTS -u SUBMISSION BUILD="$COURSE_BUILD" AUTOGRADER="$scratch/autograder" \
            COURSE="$COURSE_ROOT" EX=103 tools/gradescope/run_autograder &&
        grep -q '103_matmul_cpu.c belongs in phase1_cpu/103_matmul_cpu' "$scratch/autograder/results/results.json"
}

# A link that was handed in, to a file or to a folder, hands in nothing.
autograder_follows_no_link() {
    rm -r "$scratch/autograder" && mkdir -p "$scratch/autograder/submission/mine" &&
        ln -s "$COURSE_ROOT/solutions/phase1_cpu" "$scratch/autograder/submission" &&
        ln -s "$COURSE_ROOT/solutions/phase1_cpu" "$scratch/autograder/submission/mine" &&
        ln -s "$COURSE_ROOT/solutions" "$scratch/autograder/submission/theirs" &&
        ln -s "$COURSE_ROOT/solutions/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c" "$scratch/autograder/submission" &&
        env -u EX -u RESULTS -u SUBMISSION BUILD="$COURSE_BUILD" AUTOGRADER="$scratch/autograder" \
            COURSE="$COURSE_ROOT" EX='103 104' tools/gradescope/run_autograder &&
        grep -q '"score": 0.0' "$scratch/autograder/results/results.json"
}

if git rev-parse HEAD >/dev/null 2>&1 && command -v unzip >/dev/null; then
    check "Gradescope's zip holds the course" zip_has_all
    check "and hidden cases, if there are any" zip_takes_hidden_cases
else
    echo "skipped: Gradescope's zip, which needs git and unzip"
fi
check "Gradescope's autograder grades" autograder_grades
check "and tells where a misplaced file belongs" autograder_tells_where_a_file_belongs
check "Gradescope's autograder follows no link" autograder_follows_no_link

# --- the page -----------------------------------------------------------------------------------

find_browser() {
    for name in chromium chromium-browser google-chrome chrome; do
        command -v $name && return
    done
}

browse() { # FLAG... PAGE
    timeout 900 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$scratch/profile" --window-size=390,1600 "$@" 2>"$scratch/browser.log"
}

# A copy of the page with a script (and without the policy that forbids it) measures itself: nothing
# is wider than the window, every picture was drawn, and letters have a size that can be read.
page_fits() {
    sed -e '/Content-Security-Policy/d' "$scratch/page.html" >"$scratch/measured.html"
    cat >>"$scratch/measured.html" <<'END'
<script>
document.querySelectorAll('details').forEach(d => d.open = true);
addEventListener('load', () => {
    const root = document.documentElement, images = [...document.images];
    document.title = 'measured: ' + (root.scrollWidth <= innerWidth ? 'fits' : 'too wide') +
        ', ' + images.filter(i => i.naturalWidth > 0).length + ' of ' + images.length + ' pictures, ' +
        (images.every(i => i.width / i.naturalWidth * 14 >= 9) ? 'readable' : 'too small');
});
</script>
END
    browse --dump-dom "file://$scratch/measured.html" >"$scratch/dom"
    grep -o '<title>measured[^<]*' "$scratch/dom"
    grep -q 'measured: fits, 4 of 4 pictures, readable' "$scratch/dom"
}

page_loads_nothing() {
    browse --screenshot="$COURSE_BUILD/test/page.png" --log-net-log="$scratch/net.json" \
        "file://$scratch/page.html" && [ -s "$COURSE_BUILD/test/page.png" ] || return 1
    ! grep -oE '"url":"(https?|ws|ftp)://[^"]*' "$scratch/net.json" | grep -v 'google\|gvt1\|chrome'
}

browser=$(find_browser)
if [ -n "$browser" ] && command -v gnuplot >/dev/null; then
    verdict='{"time":"%d","submission":"'$COURSE_ROOT'","entry":{"id":103,"points":%d,"max_points":10}}\n'
    # shellcheck disable=SC2059
    printf "$verdict" 1 3 2 7 3 5 4 10 >"$scratch/history"
    report html "$scratch/page.html" --history "$scratch/history"
    mkdir -p "$COURSE_BUILD/test"
    check 'the page fits a phone' page_fits
    check 'the page loads nothing' page_loads_nothing
else
    echo 'skipped: the page on a phone, which needs chromium and gnuplot'
fi

tally
