#!/bin/sh
# report_resnet18.sh: pictures and a page of what bench/resnet18.sh measured, in the same folder:
# resnet18_*.svg, where there is gnuplot, and resnet18.md.
#   tools/report_resnet18.sh FOLDER
set -eu
cd "$COURSE_ROOT"
folder=$1
table=$folder/resnet18.tsv
if ! [ -s "$table" ]; then
    echo "$table: there is none; make bench OUTPUT=$folder writes it" >&2
    exit 2
fi
pictures=
if command -v gnuplot >/dev/null; then
    rm -f "$folder"/resnet18_*.svg
    gnuplot -e "folder='$folder'" bench/resnet18.gp
    for name in throughput latency speedup memory kinds roofline layers; do
        picture=$folder/resnet18_$name.svg
        if [ -s "$picture" ]; then pictures="$pictures resnet18_$name.svg"; else rm -f "$picture"; fi
    done
fi
new=$(mktemp)
trap 'rm -f "$new"' EXIT
awk -v pictures="$pictures" -v layers="$folder/resnet18_layers.tsv" -f bench/resnet18_report.awk "$table" bench/resnet18_report.md >"$new"
cat "$new" >"$folder/resnet18.md"
echo "$folder/resnet18.md"
