#!/bin/bash
# see.sh: make see: pages of kernels whose lanes, banks, cells and barriers are known. What they show
# is read in Chromium; without one that is skipped, and said. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
. tests/scripts/tally.sh

see() { # EX SUBMISSION [FLAG...]: the page is $scratch/see/EX.html
    ex=$1 submission=$2
    shift 2
    "$COURSE_BUILD/grader" see --exercise "$ex" --submission "$submission" --results "$scratch/results.json" "$@"
}

# A submission of one file: a patch of the corpus on the solution. NAME EX PATCH
patched() {
    file=$(cd solutions && ls phase?_*/"$2"_*/*.cu)
    mkdir -p "$scratch/$1/$(dirname "$file")"
    cp "solutions/$file" "$scratch/$1/$file"
    git -C "$scratch/$1" apply "$PWD/$(ls grader/exercises/"$2"_*/"$3")"
}

refuses() { # WORDS COMMAND...
    words=$1
    shift
    ! "$@" >"$scratch/said" 2>&1 && grep -q "$words" "$scratch/said"
}

# --- what is made -------------------------------------------------------------------------------

page_is_made() {
    see 206 solutions && [ -s "$scratch/see/206.html" ] && ! grep -qE '^@(data|.*\.(js|css))$' "$scratch/see/206.html" &&
        ! grep -oE '(src|href)="[^"]*"' "$scratch/see/206.html" # it needs nothing else
}

wrong_wishes_are_refused() {
    refuses 'has a block 9,9,9' see 206 solutions --block 9,9,9 &&
        refuses 'takes three numbers' see 206 solutions --block nine &&
        refuses 'no kernels to look at' see 103 solutions &&
        refuses "has no case 'nine'" see 206 solutions --case nine &&
        refuses '206 is not started: its file is phase2' see 206 "$COURSE_BUILD/skeletons" &&
        [ -s "$scratch/see/206.html" ] # as it was
}

report_links_to_it() {
    sed 's/"id": 203/"id": 206/' tests/grader/views/results.json >"$scratch/stored.json"
    "$COURSE_BUILD/grader" report --format html --results "$scratch/stored.json" --output "$scratch/report.html" &&
        grep -q '<code>make see EX=[0-9]*</code>' "$scratch/report.html" &&
        grep -q 'make see EX=206</code> (<a href="see/206.html">' "$scratch/report.html"
}

failures_name_it() {
    patched race 211 wrong/missing_second_barrier.patch && patched twin 206 slow/x_down_the_rows.patch &&
        "$COURSE_BUILD/grader" grade --submission "$scratch/race" --exercise 211 --case 17x33x65 --results "$scratch/r.json" >"$scratch/words"
    grep -q "see it: make see EX=211 CASE='17x33x65' SEED=[0-9]* SUBMISSION=" "$scratch/words" &&
        "$COURSE_BUILD/grader" grade --submission "$scratch/twin" --exercise 206 --results "$scratch/r.json" >"$scratch/words"
    grep -A 3 'FAILED traffic' "$scratch/words" | grep -q 'see it: make see EX=206$'
}

failed_counts_are_known() {
    patched turned 211 slow/tile_turned.patch &&
        "$COURSE_BUILD/grader" grade --submission "$scratch/turned" --exercise 211 --history "$scratch/history" --results "$scratch/r.json" &&
        see 211 "$scratch/turned" --history "$scratch/history" && grep -q '"failed":\["bank conflicts' "$scratch/see/211.html"
}

check 'a page is made, and needs nothing else' page_is_made
check 'wrong wishes are refused' wrong_wishes_are_refused
check 'the report links to the page' report_links_to_it
check 'a race and a failed count name the command' failures_name_it
check 'a page knows the counts that failed' failed_counts_are_known
check "the pages' pictures are of these kernels" tools/pictures.sh --check

# --- what is shown ------------------------------------------------------------------------------

find_browser() {
    for name in chromium chromium-browser google-chrome chrome; do
        command -v $name && return
    done
}

browse() { # PAGE: its text, once its script has run; no word of it on the console
    timeout 900 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" ${size:-} \
        --enable-logging=stderr --dump-dom "file://$1" >"$scratch/dom" 2>"$scratch/browser.log" &&
        ! grep CONSOLE "$scratch/browser.log"
}

shows() { # EX VIEW WORDS
    browse "$scratch/see/$1.html#$2" && grep -qF "<p class=\"sentence\">$3" "$scratch/dom" && return
    grep -o '<p class="sentence">[^<]*' "$scratch/dom"
    return 1
}

line_of() { # WORDS FILE: of the first line with them
    grep -nF "$1" "$2" | head -n 1 | cut -d : -f 1
}

lanes_lie_where_they_lie() {
    see 206 "$scratch/twin" &&
        shows 206 lanes '32 lanes, 128 bytes wanted, 32 sectors (1,024 bytes) moved: 13 % used. Neighbouring lanes lie 268 bytes apart' &&
        see 203 solutions &&
        shows 203 lanes '32 lanes, 128 bytes wanted, 4 sectors (128 bytes) moved: 100 % used. Neighbouring lanes want neighbouring elements: coalesced.'
}

banks_are_counted() {
    patched turned 211 slow/tile_turned.patch && see 211 "$scratch/turned" &&
        shows 211 banks 'Bank 0 is wanted for 32 different words: 32 passes, 31 more than needed.' &&
        see 211 solutions &&
        shows 211 banks '32 lanes fall on 32 banks, no two on different words of one: 1 pass, no conflict.'
}

failed_count_opens_its_view() {
    see 211 "$scratch/turned" --history "$scratch/history" &&
        shows 211 '' 'Bank 0 is wanted for 32 different words: 32 passes, 31 more than needed.'
}

# On a phone nothing is wider than the window, and no line of the source is cut.
page_fits_a_phone() {
    sed -e '/Content-Security-Policy/d' "$scratch/see/211.html" >"$scratch/phone.html"
    cat >>"$scratch/phone.html" <<'END'
<script>
const wide = [...document.querySelectorAll('.source code')].filter(c => c.getBoundingClientRect().right > innerWidth);
const letters = document.querySelector('.picture svg').getBoundingClientRect().width / WIDTH * 12;
document.title = 'said: ' + (document.documentElement.scrollWidth <= innerWidth ? 'fits' : 'too wide') + ', ' +
    wide.length + ' cut, ' + (letters >= 9 ? 'readable' : 'too small');
</script>
END
    size=--window-size=500,900 browse "$scratch/phone.html"
    grep -o '<title>[^<]*' "$scratch/dom"
    grep -q '<title>said: fits, 0 cut, readable' "$scratch/dom"
}

# Of the solution: 2 tiles, of which 2 barriers each.
cells_and_barriers() {
    first=$(line_of '__syncthreads();' solutions/phase2_cuda_basics/211_matmul_tiled/211_matmul_tiled.cu)
    see 211 solutions &&
        shows 211 shared "From the start to barrier 1 (line $first): 2,048 cells of 2,048 written, none read." &&
        grep -qF 'phase 1 of 5' "$scratch/dom" && shows 211 time '32 warps, ' &&
        grep -q 'class="sentence">32 warps, [0-9]* steps to the end of the longest, 4 barriers;' "$scratch/dom"
}

race_is_red() {
    see 211 "$scratch/race" && browse "$scratch/see/211.html" &&
        grep -qF 'A race in 2,048 cells' "$scratch/dom" && grep -qF 'class="race"' "$scratch/dom" &&
        grep -q 'overwrites what other threads read at line [0-9]*' "$scratch/dom"
}

# A copy of the page, without the policy that forbids other scripts, presses keys.
keys_move() {
    see 211 "$scratch/turned" && sed -e '/Content-Security-Policy/d' "$scratch/see/211.html" >"$scratch/keys.html"
    cat >>"$scratch/keys.html" <<'END'
<script>
const press = key => document.dispatchEvent(new KeyboardEvent('keydown', {key}));
const read = what => document.querySelector(what).textContent;
const said = [];
const view = () => said.push(document.querySelector('[aria-pressed=true]').dataset.view);
for (const key of 'bstl') press(key), view();
press('b');
const before = read('.where');
press('ArrowRight');
said.push(before !== read('.where') ? 'moves' : 'stays');
press('ArrowDown');
said.push(read('.where').split(' of')[0]);
press('?');
said.push(document.getElementById('help').hidden ? 'hidden' : 'helps');
press('r');
said.push(document.querySelectorAll('section').length);
press('l');
document.querySelector('tr.costs td').click();
said.push(document.querySelectorAll('tr.now').length);
document.title = 'said: ' + said.join(' ');
</script>
END
    browse "$scratch/keys.html"
    grep -o '<title>[^<]*' "$scratch/dom"
    grep -q '<title>said: banks shared time lanes moves warp 1 helps 2 2<' "$scratch/dom"
}

opened() { # EX: milliseconds
    browse "$scratch/see/$1.html" && sed -n 's/.*data-opened="\([0-9]*\)".*/\1/p' "$scratch/dom"
}

least() { # NUMBER...
    printf '%s\n' "$@" | sort -n | head -n 1
}

# The page shows all of 211's threads, four times as many as 206's, and opens in less than six times
# the time of 206's page: the speed of the machine cancels out. Of several tries the quickest counts.
large_block_opens_at_once() {
    see 211 solutions && see 206 solutions || return 1
    small=999999 large=999999
    for try in 1 2 3 4 5; do
        small=$(least "$small" "$(opened 206)")
        large=$(least "$large" "$(opened 211)")
        ! grep -q 'class="note">Left out' "$scratch/dom" || return 1
        echo "try $try: $large ms, a small one $small"
        [ "$large" -lt $((6 * small)) ] && return
    done
    return 1
}

browser=$(find_browser)
if [ -n "$browser" ]; then
    check 'lanes lie where they lie' lanes_lie_where_they_lie
    check 'banks are counted' banks_are_counted
    check 'what failed is what is shown first' failed_count_opens_its_view
    check 'a phone shows the whole page' page_fits_a_phone
    check 'cells and barriers' cells_and_barriers
    check 'a race is red' race_is_red
    check 'keys move' keys_move
    check 'a block of 1,024 threads opens at once' large_block_opens_at_once
else
    echo 'skipped: what the pages of make see show, which needs Chromium'
fi

tally
