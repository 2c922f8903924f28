#!/bin/sh
# readme.sh: put what was measured into README.md and docs/softgpu.md, between the two markers of
# each table:
#   <!-- grades: FILE -->  ...  <!-- end -->    a results.json, as the grader's own table
#   <!-- tsv: FILE -->     ...  <!-- end -->    a TSV file; its # lines become the caption
#   <!-- resnet18: FILE --> ... <!-- end -->    the sweep of bench/resnet18.sh, in short; FILE need not be there
set -eu
cd "$COURSE_ROOT"

tsv_table() {
    awk -F'\t' '/^# / { sub(/^# /, ""); print "Measured on " $0 ":\n"; next }
                { line = "|"; for (i = 1; i <= NF; i++) line = line " " $i " |"; print line }
                !headed++ { line = "|"; for (i = 1; i <= NF; i++) line = line "---|"; print line }' "$1"
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
            print "| Implementation | Precision | one image, host to host, ms | times the CPU | images/s, batch 1 | 8 | 64 |"
            print "|---|---|---|---|---|---|---|"
            for (i = 1; i <= count; i++) {
                k = key[i]
                print "| " k " | " ms[k] " | " speedup[k] " | " of(1) " | " of(8) " | " of(64) " |"
            }
        }' "$1"
}

new=$(mktemp)
trap 'rm -f "$new"' EXIT
fill() { # DOCUMENT
    inside=
    while IFS= read -r line; do
        case $line in
        '<!-- end -->') inside= ;;
        esac
        [ -n "$inside" ] || printf '%s\n' "$line"
        file=${line#*: } file=${file% -->}
        case $line in
        '<!-- grades: '*) inside=1; "$COURSE_BUILD/grader" report --format markdown --results "$file" ;;
        '<!-- tsv: '*) inside=1; tsv_table "$file" ;;
        '<!-- resnet18: '*) inside=1; resnet18_table "$file" ;;
        esac
    done <"$1" >"$new"
    cat "$new" >"$1"
}

fill README.md
fill docs/softgpu.md
