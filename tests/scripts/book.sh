#!/bin/sh
# book.sh: the book is built, of the course as it is and of results with failures of each kind; its pages have
# what it promises, no link is dead, and a browser opens every page at the width of a phone
# without an error. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
work=$COURSE_BUILD/test/book
book=$work/html
results=tests/grader/views/results.json
. tests/scripts/tally.sh
mkdir -p "$work"

make_book() { # RESULTS
    make BUILD="$COURSE_BUILD" book RESULTS="$1" OUTPUT="$book"
}

made_without_a_warning() { # Sphinx fails at one
    cat "$scratch/made"
    [ $status = 0 ]
}

has() { # PAGE WORDS
    grep -qF -- "$2" "$book/$1.html" || { echo "$1 has no $2"; false; }
}

refuses() { # WORDS NAME=VALUE...: exit status 2, and nothing is written
    words=$1
    shift
    env "$@" tools/book.sh "$scratch/build"
    [ $? = 2 ] && grep -q "$words" "$scratch/log" && [ ! -e "$scratch/build/book" ]
}

refuses_other_json() {
    echo '{"schema": 1}' >"$scratch/other.json"
    ! make_book "$scratch/other.json" && grep -q 'no results.json' "$scratch/log"
}

# Phase by phase, challenges last, and 200, which only a page is.
side_bar_has_the_order() {
    ls -d phase?_*/[0-9]*_* | sed 's|.*/||; s|_.*||' >"$scratch/wanted"
    sed -n '/class="sidebar-tree"/,/<\/aside>/p' "$book/README.html" | grep -o '>[0-9][^ <]* · ' | tr -d '>· ' |
        diff "$scratch/wanted" -
}

leads_on() { # the last challenge of phase 2
    set -- $(ls -d phase2_cuda_basics/2[a-z]_* | sort -r)
    sed -n '/class="related-pages"/,/<\/article>/p' "$book/$1/README.html" | tr -d '\n' |
        grep -q 'class="next-page" href="../../phase3_layers/README.html".*class="prev-page" href="../'"${2##*/}"'/README.html"'
}

# Three a page, the first one shown: css does the rest.
hints_are_folded() {
    for page in $(grep -l '^### Hint 1' phase?_*/*/README.md); do
        [ "$(grep -c '<details class="hint"><summary>Hint [1-3]</summary>' "$book/${page%.md}.html")" = 3 ] ||
            { echo "$page"; return 1; }
    done
}

contracts_are_there() {
    has phase2_cuda_basics/212_matmul_transposed/README 'memory between two of them stays as it is' &&
        has phase2_cuda_basics/212_matmul_transposed/README 'Nothing is transposed in memory' &&
        has phase1_cpu/101_compare/README 'id="c.approx_equal"' &&
        has phase5_full_network/505_resnet18/README 'id="c.resnet18_forward"'
}

words_are_linked() {
    has docs/glossary 'id="word-bank-conflict"' &&
        [ "$(grep -o 'href="../../docs/glossary.html#word-warp"' "$book/phase2_cuda_basics/211_matmul_tiled/README.html" | wc -l)" = 1 ]
}

own_results_are_there() {
    has phase2_cuda_basics/211_matmul_tiled/README 'class="own failed"' &&
        has phase3_layers/304_softmax/README 'class="yours"' && has README 'class="own-mark passed"'
}

links_lead_somewhere() {
    (cd "$book" && find . -type f | sed 's|^\./||' >"$scratch/files" &&
        grep '\.html$' "$scratch/files" | xargs awk -f "$COURSE_ROOT/tests/scripts/links.awk" "$scratch/files")
}

# Every page in a frame of its own, as wide as a phone; the page around them says what it saw.
frames() {
    cd "$book" || return
    echo '<!doctype html><meta charset="utf-8"><style>iframe { width: 390px; height: 800px }</style>'
    find . -name '*.html' ! -name index.html ! -name frames.html | sed 's|.*|<iframe src="&"></iframe>|'
    cat <<'END'
<iframe src="search.html?q=barrier" id="search"></iframe>
<script>
addEventListener('load', () => setTimeout(() => {
    const pages = [...document.querySelectorAll('iframe')].map(frame => frame.contentDocument);
    const wide = pages.filter(page => [page.documentElement, page.querySelector('.content')].some(
        part => part && part.scrollWidth > part.clientWidth));
    const broken = pages.flatMap(page => [...page.images].filter(image => !image.naturalWidth));
    const found = document.getElementById('search').contentDocument.querySelectorAll('#search-results li');
    const hints = document.querySelector('[src*="211_"]').contentDocument.querySelectorAll('.hint');
    const before = hints[1].offsetHeight;
    hints[0].open = true;
    const buttons = pages.filter(page => page.querySelector('button.copybtn'));
    document.title = `seen: ${pages.length} pages, ${wide.length} too wide, ${broken.length} pictures broken, ` +
        `${Math.min(found.length, 20)} found, ${Math.min(buttons.length, 40)} with buttons, ` +
        (before === 0 && hints[1].offsetHeight > 0 && hints[2].offsetHeight === 0 ? 'hints one by one' : 'hints not');
    wide.forEach(page => console.error('too wide: ' + page.URL));
}, 3000));
</script>
END
}

opens_in_a_browser() {
    (frames) >"$book/frames.html"
    pages=$(find "$book" -name '*.html' | wc -l)
    timeout 900 "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
        --user-data-dir="$scratch/profile" --enable-logging=stderr --virtual-time-budget=20000 \
        --dump-dom "file://$book/frames.html" >"$scratch/dom" 2>"$scratch/console"
    rm "$book/frames.html"
    grep -o '<title>seen[^<]*' "$scratch/dom"
    ! grep CONSOLE "$scratch/console" &&
        grep -q "seen: $((pages - 1)) pages, 0 too wide, 0 pictures broken, 20 found, 40 with buttons, hints one by one" \
            "$scratch/dom"
}

make_book $results >"$scratch/made" 2>&1
status=$?
if [ $status != 0 ] && grep -qE 'cannot be fetched|is missing|NO_INSTALL' "$scratch/made"; then
    echo "skipped: the book, which needs Doxygen, pip and PyPI: $(tail -n 1 "$scratch/made")"
    exit 0
fi
check 'without Sphinx, and forbidden to fetch it, a line says so' refuses 'NO_INSTALL forbids' NO_INSTALL=1
check 'so does one without a network' refuses 'cannot be fetched' NO_INSTALL= PIP_NO_CACHE_DIR=1 \
    PIP_INDEX_URL=http://127.0.0.1:9
check 'the book is built without a warning' made_without_a_warning
check 'the side bar has the order of the course' side_bar_has_the_order
check 'a challenge leads on to the next phase' leads_on
check 'hints are folded' hints_are_folded
check 'contracts come from the headers' contracts_are_there
check 'words of the glossary are linked once a page' words_are_linked
check "the student's own results are there" own_results_are_there
check 'formulas are' has phase3_layers/304_softmax/README '<math'
check 'numbers have a picture' has phase2_cuda_basics/211_matmul_tiled/README '<svg viewBox'
check 'CUDA is highlighted' has phase2_cuda_basics/208_reduce/README '<span class="kt">__shared__'
check 'every link leads somewhere' links_lead_somewhere
check 'another JSON is refused' refuses_other_json
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then
    check 'a browser opens every page without an error' opens_in_a_browser
else
    echo 'skipped: the book in a browser, which needs chromium'
fi
tally
