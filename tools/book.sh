#!/bin/sh
# book.sh BUILD [OUTPUT]: the course's pages as a book for the browser, OUTPUT/index.html
# (BUILD/book), with the results of RESULTS next to the exercises.
#
# Sphinx comes from PyPI into BUILD/sphinx, in the versions of docs/book/requirements.txt.
# OUTPUT.made keeps the sources of the pages, so that only changed pages are made anew.
# Exit status: 2 where Sphinx or Doxygen is missing or RESULTS is another JSON, 1 where a page is
# wrong.
set -eu
cd "$(dirname "$0")/.."
build=$(realpath -m "$1")
RESULTS=${RESULTS:-results/results.json}
output=$(realpath -m "${2:-$build/book}")

die() {
    echo "book: $*" >&2
    exit 2
}

# Fetched once, and again where versions or the Python are others.
need_sphinx() {
    wanted=$(python3 --version; cat docs/book/requirements.txt)
    [ "$(cat "$build/sphinx/wanted" 2>/dev/null)" != "$wanted" ] || return 0
    [ -z "${NO_INSTALL:-}" ] || die "no Sphinx in $build/sphinx, and NO_INSTALL forbids fetching it"
    python3 -m pip --version >/dev/null 2>&1 || tools/setup.sh --need pip3 python3-pip || exit 2
    echo "book: fetching Sphinx into $build/sphinx" >&2
    rm -rf "$build/sphinx" "$build/sphinx.new"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --require-hashes --no-deps --only-binary :all: \
        --disable-pip-version-check --retries 2 --target "$build/sphinx.new" -r docs/book/requirements.txt ||
        die "Sphinx cannot be fetched from PyPI: is there a network? Python must be 3.10 or newer"
    echo "$wanted" >"$build/sphinx.new/wanted"
    mv "$build/sphinx.new" "$build/sphinx"
}

tools/setup.sh --need python3 python3
tools/setup.sh --need doxygen doxygen
mkdir -p "$output.made"
need_sphinx
{ cat docs/Doxyfile; printf '%s\n' "INPUT = $(echo phase?_* phase?_*/*/)" "OUTPUT_DIRECTORY = \"$output.made\"" \
    'JAVADOC_AUTOBRIEF = NO' 'GENERATE_HTML = NO' 'GENERATE_XML = YES'; } | doxygen -
COURSE_XML=$output.made/xml PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$build/sphinx \
    python3 -m sphinx -b html -c docs/book \
    -d "$output.made/doctrees" -j auto -W --keep-going -q . "$output"
[ -f "$RESULTS" ] || echo "book: no results beside the exercises, since there is no $RESULTS"
echo "$output/index.html: open it in a browser"
