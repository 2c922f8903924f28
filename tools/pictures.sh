#!/bin/sh
# pictures.sh: draw the pictures of the exercises' pages, docs/pictures/*.svg. Those of kernels on
# softgpu are one view each of make see; they need Chromium, which runs the page's own code. How data
# lies is drawn by layouts.awk.
#
#   pictures.sh [EX ...]     draw all of them, or those of these exercises
#   pictures.sh --check      draw nothing; name a picture that is stale, and fail
set -eu
cd "$(dirname "$0")/.."
build=${COURSE_BUILD:-$PWD/build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# exercise, picture, what is drawn (a solution; a patch on it; another file) with the reference beside
# it if the look says so, look, which may begin with another case than the exercise's .see: see grader/student/see/page.js
pictures() {
    cat <<'END'
203|203_lanes|solution|picture=lanes;nth=1;title=c[i] = a[i] + b[i]: the load of a
206|206_lanes|slow/x_down_the_rows.patch|picture=lanes;beside;nth=2;nth2=1;title=x down the rows;title2=x along the columns
207|207_halo|solution|case=stencil n=2001, radius 17;picture=shared;phase=1;title=A block of 256 loads 256 + 2 * 17 elements, then waits
207|207_shuffle|solution|case=sums n=1001;picture=time;title=Five shuffles, no barrier
208|208_time|right/shared_memory_tree.cu|picture=time;beside;title=A tree in shared memory;title2=Shuffles within warps
209|209_banks|slow/column_in_one_bank.patch|picture=banks;beside;nth=5;nth2=5;title=tile[32][32]: a column is read;title2=tile[32][33]: a column is read
211|211_time|solution|picture=time;title=Two barriers a tile
211|211_race|wrong/missing_second_barrier.patch|picture=shared;phase=2;title=Without the second barrier
211|211_shared|solution|picture=shared;phase=1;title=Each warp writes a row of both tiles, then waits
416|416_tile|slow/no_swizzle.patch|picture=banks;beside;nth=1;nth2=1;title=As it is in memory;title2=With a swizzle of 128 bytes
417|417_blocks|solution|picture=banks;nth=5;title=The maximum of the row: each block has written its own[0]
END
}

layouts='212_strides 307_window 402_fragments 410_pages 411_permutation 412_tiles 507_taps 508_heads'

layout() { # NAME
    awk -v picture="$1" -f tools/layouts.awk
}

file_of() { # EX
    (cd solutions && ls phase?_*/"$1"_*/*.cu)
}

patched() { # FILE PATCH: the text of the solution with that patch
    mkdir -p "$scratch/patched/$(dirname "$1")"
    cp "solutions/$1" "$scratch/patched/$1"
    git -C "$scratch/patched" apply "$2"
    cat "$scratch/patched/$1"
}

version() { # EX WHAT: the text of that version
    solution=solutions/$(file_of "$1") folder=$(ls -d grader/exercises/"$1"_*)
    case $2 in
    solution) cat "$solution" ;;
    *.patch) patched "$(file_of "$1")" "$PWD/$folder/$2" ;;
    *) cat "$folder/$2" ;;
    esac
}

seal() { # EX WHAT
    { version "$1" "$2"; version "$1" solution; } | sha256sum | cut -c 1-64
}

check() {
    pictures | {
        stale=0
        while IFS='|' read -r ex name what look; do
            grep -q "$(seal "$ex" "$what")" "docs/pictures/$name.svg" && continue
            echo "docs/pictures/$name.svg is stale: tools/pictures.sh $ex"
            stale=1
        done
        for name in $layouts; do
            layout "$name" | cmp -s - "docs/pictures/$name.svg" && continue
            echo "docs/pictures/$name.svg is stale: tools/pictures.sh ${name%%_*}"
            stale=1
        done
        return $stale
    }
}

browser() {
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" && return
    done
    echo 'pictures.sh: needs Chromium' >&2
    return 1
}

# What the page writes as text is a document of its own.
draw() { # EX NAME WHAT LOOK
    file=$(file_of "$1")
    mkdir -p "$scratch/own/$(dirname "$file")"
    version "$1" "$3" >"$scratch/own/$file"
    case=$(echo "$4" | sed -n 's/^case=\([^;]*\);.*/\1/p')
    "$build/grader" see --exercise "$1" --submission "$scratch/own" --results "$scratch/results.json" \
        ${case:+--case "$case"} >"$scratch/said"
    "$chromium" --headless --no-sandbox --disable-gpu --dump-dom "file://$scratch/see/$1.html#${4#case=*;}" 2>"$scratch/log" |
        sed -n 's|.*<pre id="picture">\(.*\)|\1|; /^&lt;svg/,/&lt;\/svg&gt;/p' |
        sed 's|</pre>.*||; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >"$scratch/$2.svg"
    grep -q '</svg>' "$scratch/$2.svg" || { cat "$scratch/said" "$scratch/log" >&2; return 1; }
    echo "<!-- $(seal "$1" "$3") -->" >>"$scratch/$2.svg"
    mkdir -p docs/pictures
    cp "$scratch/$2.svg" docs/pictures/
    echo "docs/pictures/$2.svg"
}

if [ "${1:-}" = --check ]; then
    check
    exit
fi
for name in $layouts; do
    case " ${*:-${name%%_*}} " in *" ${name%%_*} "*) layout "$name" >"docs/pictures/$name.svg" ;; esac
done
chromium=$(browser)
export COURSE_ROOT="$PWD" COURSE_BUILD="$build"
pictures | while IFS='|' read -r ex name what look; do
    case " ${*:-$ex} " in *" $ex "*) draw "$ex" "$name" "$what" "$look" ;; esac
done
