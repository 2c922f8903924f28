#!/bin/sh
# zip.sh FILE: the autograder that an instructor uploads to Gradescope: the course as it is committed,
# with setup.sh and run_autograder at the top, where Gradescope looks for them, and HIDDEN, if it is
# given, as hidden.ini.
set -eu
cd "$(dirname "$0")/../.."
zip=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if ! commit=$(git rev-parse --short=12 HEAD 2>/dev/null); then
    echo "gradescope: this is no clone of the course, and what is committed is what is uploaded" >&2
    exit 2
fi
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
    echo "gradescope: what is not committed is left out: $(git diff --name-only HEAD | tr '\n' ' ')" >&2
fi

echo "$commit" >"$scratch/COMMIT"
for file in setup.sh run_autograder; do # as committed, like the rest
    git show "HEAD:tools/gradescope/$file" >"$scratch/$file"
    chmod 755 "$scratch/$file"
done
if [ -n "${HIDDEN:-}" ]; then cp "$HIDDEN" "$scratch/hidden.ini"; fi
set --
for file in "$scratch"/*; do set -- "$@" --add-file="$file"; done
mkdir -p "$(dirname "$zip")"
git archive --format=zip "$@" -o "$zip.tmp" HEAD
mv "$zip.tmp" "$zip"
echo "$zip: $(du -k "$zip" | cut -f 1) KiB, the course at $commit"
