#!/bin/sh
# handout.sh DIR: the course as students get it: what git tracks, without solutions, baselines,
# corpus and what only instructors need, in DIR and in DIR.tar.gz. The solutions and baselines that
# exercises need are in prebuilt/, compiled.
#
# Lines between "instructor" and "end instructor" markers, and single lines with one, are cut from
# documents and rules; "handout" markers uncomment what only students read. HANDOUT_CUDA=no leaves
# out the libraries for GPUs, which take some minutes.
set -eu
cd "$(dirname "$0")/.."

die() {
    echo "handout: $*" >&2
    exit 2
}

handout=${1%/}
build=${COURSE_BUILD:-build}
[ -d solutions ] || die "this is a handout already: it has no solutions"
commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || die "this is no clone of the course: git says what belongs to it"
# What was made here may be made again; a folder that somebody chose may hold somebody's work.
if [ "$(realpath -m "$handout")" != "$(realpath -m "$build/handout")" ]; then
    for there in "$handout" "$handout.tar.gz"; do
        [ ! -e "$there" ] || die "$there is there already: remove it, or choose another HANDOUT=DIR"
    done
fi
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
    echo "handout: with what is changed and not committed: $(git diff --name-only HEAD | tr '\n' ' ')" >&2
    commit=$commit-changed
fi

mkdir -p "$(dirname "$handout")"
new=$(mktemp -d "$handout.XXXXXX")
chmod 755 "$new"
trap 'rm -rf "$new"' EXIT

is_for_students() { # FILE
    case $1 in
    tests/grader/views/junit.xsd) true ;;
    solutions/* | phase[0-9]_*/*/[0-9]*) false ;; # the skeletons come anew
    grader/exercises/shared/*) true ;;
    grader/exercises/*/*/*) false ;; # the corpus
    grader/exercises/*/cases.c | grader/exercises/*/worker.c | grader/exercises/*/worker.py | grader/exercises/*/*.h) true ;;
    grader/exercises/* | grader/class/* | tests/*) false ;;
    .github/workflows/test.yml | tools/github/* | tools/gradescope/* | tools/skeleton* | tools/new.sh | tools/prose.sh | tools/handout.sh) false ;;
    tools/class* | tools/measure* | tools/pictures.sh | tools/layouts.awk | tools/documents.sh | tools/changed.sh | tools/facts.awk | tools/course.awk | docs/report.* | tools/numbers.awk | tools/mutants/* | tools/mistakes.sh | tools/sanitize_corpus.sh) false ;;
    docs/class.md | docs/results/class.md | docs/handout.md | docs/cheating.md | CONTRIBUTING.md | .ci/*) false ;;
    programs/resnet18/layerwise.c | programs/resnet18/host_layers.c) false ;; # like 504's
    programs/gpt/cpu_network.c | programs/gpt/llama/*) false ;; # like 508's and 509's
    bench/* | tools/report*) false ;; # they hold kernels like those of the solutions
    esac
}

for_students() { # the text without what is marked for instructors, with what is marked for students
    awk '/^(#|<!--) end instructor( -->)?$/ { cut = 0; next }
         /^(#|<!--) instructor( -->)?$/     { cut = 1 }
         cut || /<!-- instructor -->/       { next }
         /^<!-- handout$/                   { unwrap = 1; next }
         unwrap && /^-->$/                  { unwrap = 0; next }
         { sub(/^#handout /, ""); print }'
}

git ls-files | while read -r file; do
    if ! [ -f "$file" ] || ! is_for_students "$file"; then continue; fi
    mkdir -p "$new/$(dirname "./$file")"
    cp -p "./$file" "$new/$file"
    case $file in
    *.md | Makefile) for_students <"$file" >"$new/$file" ;;
    esac
done
mkdir -p "$new/.github/workflows"
cp -p tools/github/grade.yml "$new/.github/workflows/"
echo "$commit" >"$new/COMMIT"
tools/skeletons.sh --into "$new"
tools/skeletons.sh --into "$new/skeletons"
cp solutions/skeletons.sha256 "$new/skeletons"

backend=cpu
if [ -n "${NVCC:-}" ] && [ "${HANDOUT_CUDA:-yes}" = yes ]; then
    backend=cuda
    export GPU_ARCHS='80 90' # 8.x runs the first, and what is newer compiles the first one's PTX
else
    echo "handout: without nvcc it grades on the software GPU only" >&2
fi
"$build/grader" prebuild --backend $backend --output "$(realpath "$new")/prebuilt" ||
    die "$([ $backend = cpu ] || echo 'HANDOUT_CUDA=no leaves out the libraries for GPUs: ')none was made"

rm -rf "$handout"
mv "$new" "$handout"
tar -C "$(dirname "$handout")" --sort=name --owner=0 --group=0 --numeric-owner \
    -czf "$handout.tar.gz" "$(basename "$handout")"
echo "$handout and $handout.tar.gz ($(du -k "$handout.tar.gz" | cut -f 1) KiB): the course at $commit, without solutions"
