#!/bin/sh
# documents.sh: write the tables of documents, each between its marker and the next <!-- end -->.
#
#   documents.sh [--check] [DOCUMENT...]  all where none is named. --check: write nothing; name what
#                                         is stale, fail, and count
#
#   <!-- numbers -->          of an exercise's page: what its tests require, what the reference
#                             reaches, what a usual mistake costs
#   <!-- facts -->            of an exercise's page: its file, what it calls, lines to write, hours, and
#                             what comes next on the path
#   <!-- path -->             the exercises on the path (.core in cases.c), phase by phase, with hours
#   <!-- hours -->            how many these are, and how long they take
#   <!-- own -->              the exercises that take a student's own earlier ones (.own_prerequisites)
#   <!-- phase: FOLDER -->    its exercises: are they on the path, lines to write, hours, what each calls
#   <!-- messages: KIND -->   what the grader says of mistakes: of KIND pattern, finding or formula.
#                             The middle column stays as it is in the document
#   <!-- grades: FOLDER -->   grades.tsv and tests.tsv there, as the grader's own table
#   <!-- code: FILE -->       a program
#   <!-- tsv: FILE -->        a TSV file; its # lines become the caption
#   <!-- tsv: FILE, COLUMN VALUE, ... -->   only the lines that have each VALUE in its COLUMN, where
#                             there is such a column
#   <!-- softgpu: FILE -->    a program, and what softgpu says of it
#   <!-- lacks -->            what the tests of softgpu see refused
#   <!-- report: S0, COUNT --> the promises of one of the five documents in docs/report.tsv, which are COUNT
#   <!-- report: tables -->   the tables that the report's figures come from; <!-- report: used -->: which
#                             exercises call those of phases 2 and 4. All stay as they are where git lacks
#                             a commit that a table names
#   <!-- resnet18: FILE -->   the sweep of bench/resnet18.sh, in short; FILE need not be there
set -eu
cd "$(dirname "$0")/.."

results=docs/results

pages() { # PREFIX: the pages of the exercises whose number begins so
    ls phase?_*/"$1"*/README.md
}

id_of() { # PAGE
    name=${1%/README.md} name=${name##*/}
    echo "${name%%_*}"
}

tsv_table() { # FILE ["COLUMN VALUE, ..."]
    awk -F '\t' -v conditions="${2:-}" '
        function fits(   i) {
            for (i = 1; i <= wanted; i++)
                if (column[i] in at && $at[column[i]] != value[i]) return 0
            return 1
        }
        BEGIN {
            wanted = split(conditions, part, ", ")
            for (i = 1; i <= wanted; i++) {
                column[i] = value[i] = part[i]
                sub(/ .*/, "", column[i])
                sub(/^[^ ]* /, "", value[i])
            }
        }
        /^# / { sub(/^# /, ""); caption = caption (caption == "" ? "Measured on " : "; ") $0; next }
        !headed { print caption ":\n" }
        headed && !fits() { next }
        { line = "|"; for (i = 1; i <= NF; i++) line = line " " $i " |"; print line }
        !headed++ {
            for (i = 1; i <= NF; i++) at[$i] = i
            line = "|"; for (i = 1; i <= NF; i++) line = line "---|"; print line
        }' "$1"
}

# A line for each implementation and precision: images a second where the images are on the device
# already, else from host to host. A scaled time is no measurement, and left out.
resnet18_table() {
    if ! [ -s "$1" ]; then
        echo 'Not measured on a GPU yet.'
        return
    fi
    awk -F'\t' 'function of(batch) { return (k ":" batch) in rate ? sprintf("%.4g", rate[k ":" batch]) : "–" }
        /^# (roofline|on softgpu)/ { next }
        /^# / { sub(/^# /, ""); machine = machine (machine == "" ? "Measured on " : "; ") $0; next }
        $1 == "implementation" || $4 != $5 { next }
        { k = $1 " | " $2 }
        !(k in seen) { seen[k] = ++count; key[count] = k }
        { rate[k ":" $4] = $11 != "" ? $11 : $9; size = $3 }
        $1 == "cpu" && $4 == 1 { cpu = sprintf("One image took the CPU %.0f to %.0f ms.", $7, $8) }
        $4 == 1 { ms[k] = sprintf("%.4g", $6); speedup[k] = $14 == "" ? "–" : sprintf("%.4gx", $14) }
        END {
            print machine "; images of " size " x " size ". " cpu "\n"
            print "| Implementation | Precision | one image, host to host, ms | speedup over the CPU | images/s, batch 1 | 8 | 64 |"
            print "|---|---|---|---|---|---|---|"
            for (i = 1; i <= count; i++) {
                k = key[i]
                print "| " k " | " ms[k] " | " speedup[k] " | " of(1) " | " of(8) " | " of(64) " |"
            }
        }' "$1"
}

numbers_table() { # PAGE
    awk -v id="$(id_of "$1")" -f tools/numbers.awk $results/h200/grades.tsv $results/h200/tests.tsv \
        $results/softgpu/tests.tsv $results/softgpu/mistakes.tsv
}

# What tables say of the exercises is gathered once, when the first of them is written.
facts=
gather_facts() {
    # shellcheck disable=SC2046
    [ -n "$facts" ] || facts=$(awk -f tools/facts.awk $(pages '') phase?_*/README.md grader/exercises/[0-9]*/cases.c \
        $(find solutions/phase?_* -type f))
}

course_table() { # -v table=WHAT [-v of=FOLDER]
    gather_facts
    printf '%s\n' "$facts" | awk "$@" -f tools/course.awk
}

# Gathered once, too. A wrong binding ends the whole; 3: git lacks a commit.
report=
report_table() { # PART DOCUMENT
    gather_facts
    [ -n "$report" ] || report=$(printf '%s\n' "$facts" | awk -v document="$2" -f tools/report.awk - docs/report.tsv) || {
        [ $? = 3 ] || exit 1
        return 1
    }
    printf '%s\n' "$report" | sed -n "s/^$1\t//p"
}

messages_table() { # KIND DOCUMENT
    printf '| The message says | Look at | Example |\n|---|---|---|\n'
    "${COURSE_BUILD:-build}/grader" messages | awk -v kind="$1" '
        NR == FNR { split($0, cell, / *\| */); look[cell[2]] = cell[3]; next }
        { split($0, field, "\t") }
        field[1] == kind { print "| " field[2] " | " look[field[2]] " | " field[3] " |" }' "$2" -
}

# Without a compiler of kernels nobody knows: what stands there stays.
softgpu_example() { # FILE
    emulator/cucc --front-end >/dev/null 2>&1 || return 1
    scratch=$(mktemp -d)
    cp "$1" "$scratch"
    CUCC_LIBRARY=$(realpath "${COURSE_BUILD:-build}")/libsoftgpu.so
    export CUCC_LIBRARY
    cucc=$PWD/emulator/cucc
    printf '```c\n' && cat "$1" && printf '```\n\n```\n'
    (cd "$scratch" && "$cucc" "${1##*/}" -o x && SOFTGPU_THREADS=1 ./x 2>&1) </dev/null || :
    printf '```\n'
    rm -rf "$scratch"
}

# Of a name with variants (_ptsz: with a default stream for each thread) the name alone.
missing_functions() {
    sed -n 's/^MISSING(\([A-Za-z0-9]*\).*/\1/p' emulator/runtime/claims/unsupported_table.h | sort -u
}

lacks_table() {
    tests=tests/emulator
    printf '| In a kernel | refused by its name and line |\n|---|---|\n'
    sed -n 's/^\/\/ STDERR \([a-z0-9_]*\): uses \(.*\)/\1 \2/p' $tests/runtime/unsupported.cu |
        while read -r what opcode; do echo "| $(echo "$what" | tr _ ' ') | \`$opcode\` |"; done
    printf '\n| Functions for | which return `cudaErrorNotSupported` |\n|---|---|\n'
    missing_functions | awk '
        function row(name, words) { what[++rows] = name; of[rows] = words }
        BEGIN {
            row("surfaces, mipmapped and other arrays", "Array|Surface|Texture|ChannelDesc")
            row("sharing with other programs", "External|Ipc|Import|Export(Pointer|To)|NvSci|RDMA")
            row("graphics", "Graphics")
            row("code loaded at run time", "Library|EntryPoint|ExportTable")
            row("clusters", "Cluster")
            row("logs and notifications", "Logs|Notification")
            row("pools, ranges and batches of memory", "Pool|Range|Batch|GraphMem")
            row("others", ".")
        }
        { for (i = 1; $0 !~ of[i];) i++; names[i] = names[i] (names[i] == "" ? "" : ", ") "`" $0 "`" }
        END { for (i = 1; i <= rows; i++) if (names[i] != "") print "| " what[i] " | " names[i] " |" }'
    printf '\n| Only with nvcc | test programs that need it |\n|---|---|\n'
    grep '^// NEEDS: nvcc, ' $tests/*/*.cu | sed 's|.*/\([^/]*\)\.cu:// NEEDS: nvcc, |\1\t|' | awk -F '\t' '
        !($2 in of) { reason[++rows] = $2 }
        { of[$2] = of[$2] (of[$2] == "" ? "" : ", ") "`" $1 "`" }
        END { for (i = 1; i <= rows; i++) print "| " reason[i] " | " of[reason[i]] " |" }'
}

# table WHAT DOCUMENT: what belongs below <!-- WHAT -->. Returns 1 where nothing is written there.
table() {
    file=${1#*: }
    case $1 in
    numbers) numbers_table "$2" ;;
    facts) course_table -v table=page -v of="${2%/README.md}" ;;
    path | hours | own) course_table -v table="$1" ;;
    'phase: '*) course_table -v table=phase -v of="$file" ;;
    'softgpu: '*) softgpu_example "$file" ;;
    lacks) lacks_table ;;
    'code: '*) printf '```c\n' && cat "$file" && printf '```\n' ;;
    'messages: '*) messages_table "$file" "$2" ;;
    'grades: '*) "${COURSE_BUILD:-build}/grader" report --format markdown --results "$file" ;;
    'tsv: '*', '*' '*) tsv_table "${file%%, *}" "${file#*, }" ;;
    'tsv: '*) tsv_table "$file" ;;
    'resnet18: '*) resnet18_table "$file" ;;
    'report: '*) report_table "${file%%, *}" "$2" ;;
    *) return 1 ;;
    esac
}

filled() { # DOCUMENT, as it should be
    inside=
    while IFS= read -r line; do
        [ "$line" != '<!-- end -->' ] || inside=
        [ -n "$inside" ] || printf '%s\n' "$line"
        case $line in
        '<!-- '*' -->')
            what=${line#<!-- }
            ! table "${what% -->}" "$1" || inside=1
            ;;
        esac
    done <"$1"
}

check=
[ "${1:-}" != --check ] || { check=1 && shift; }
new=$(mktemp)
trap 'rm -f "$new"' EXIT
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- README.md docs/*.md phase?_*/README.md $(pages '')
stale=0
for document; do
    filled "$document" >"$new"
    cmp -s "$new" "$document" && continue
    stale=$((stale + 1))
    [ -n "$check" ] || cat "$new" >"$document"
    echo "$document${check:+: stale, make update writes it}"
done
[ -z "$check" ] || { echo "documents: $(($# - stale)) passed, $stale failed" && [ $stale = 0 ]; }
