# resnet18_report.awk: the template of a report, with its numbers.
#   awk -v pictures='a.svg b.svg' -v layers=FOLDER/resnet18_layers.tsv \
#       -f resnet18_report.awk FOLDER/resnet18.tsv resnet18_report.md
#
# {machine}, {size}, {pictures}, {rows}, {layers} stand for what their names say.
BEGIN { FS = "\t"; read_layers() }

FNR == 1 { files++ }

files == 1 && /^# roofline/ { next }
files == 1 && /^# / { machine = machine (machine == "" ? "Measured on " : "; ") substr($0, 3); next }
files == 1 && $1 == "implementation" { for (i = 1; i <= NF; i++) name[i] = $i; next }
files == 1 {
    order[++count] = $1 ":" $2 ":" $4
    size = $3
    for (i = 1; i <= NF; i++) value[$1 ":" $2 ":" $4 ":" name[i]] = $i
    next
}

function filled(text) {
    if (text == "machine") return machine "."
    if (text == "size") return size
    if (text == "pictures") return pictures_lines()
    if (text == "rows") return rows_table()
    if (text == "layers") return layers_table()
    print "no such word: " text > "/dev/stderr"
    exit 1
}

function pictures_lines(    n, i, file, lines) {
    n = split(pictures, file, " ")
    for (i = 1; i <= n; i++) lines = lines (i > 1 ? "\n" : "") "![" file[i] "](" file[i] ")"
    return n ? lines : "(No pictures: gnuplot is not installed.)"
}

# What 507 chooses for each layer: columns by name.
function read_layers(    line, field, at, i, n) {
    while (layers != "" && (getline line < layers) > 0) {
        n = split(line, field, "\t")
        if (line ~ /^#/) { layers_from = layers_from (layers_from == "" ? "" : "; ") substr(line, 3) ; continue }
        if (field[1] == "precision") { for (i = 1; i <= n; i++) at[field[i]] = i; continue }
        if (field[at["rule"]] != 1) continue
        if (!(field[3] in layer_known)) { layer_known[field[3]]; layer[++layer_count] = field[3] }
        layer_cell[field[3], field[1], field[2]] = sprintf("%.1f | %.3g | %.0f %% of %s", field[at["microseconds"]], \
            field[at["TFLOP/s"]], 100 * field[at["share"]], field[at["bound"]])
    }
    sub(/; fp32, batch.*/, "", layers_from)
}

function layers_table(    text, i, j, n, which) {
    if (!layer_count) return "(Not measured here: `make bench-layers`.)"
    n = split("fp32 1,fp32 64,fp16 1,fp16 64", which, ",")
    text = "Measured on " layers_from ".\n\n| Layer |"
    for (j = 1; j <= n; j++) text = text " " which[j] ", µs | TFLOP/s | of its roof |"
    text = text "\n|---|"
    for (j = 1; j <= n; j++) text = text "---|---|---|"
    for (i = 1; i <= layer_count; i++) {
        text = text "\n| " layer[i] " |"
        for (j = 1; j <= n; j++) text = text " " layer_of(layer[i], which[j]) " |"
    }
    return text
}

function layer_of(name, which,    part) {
    split(which, part, " ")
    return (name, part[1], part[2]) in layer_cell ? layer_cell[name, part[1], part[2]] : "– | – | –"
}

function cell(key, what, format) {
    return (key ":" what) in value && value[key ":" what] != "" ? sprintf(format, value[key ":" what]) : "–"
}

function rows_table(    text, i, k, part, ms) {
    text = "| Implementation | Precision | Batch | ms | images/s | on the device, ms | images/s | in a queue, ms | Speedup | Copies | MiB at most | Error | Same class |\n"
    text = text "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
    for (i = 1; i <= count; i++) {
        k = order[i]
        split(k, part, ":")
        ms = value[k ":error"] != "" ? value[k ":error"] : cell(k, "ms", "%.4g")
        if (value[k ":measured_at"] != "" && value[k ":measured_at"] != part[3]) ms = ms " (scaled from " value[k ":measured_at"] ")"
        text = text "| " part[1] " | " part[2] " | " part[3] " | " ms " | " cell(k, "images_per_second", "%.4g") \
            " | " cell(k, "device_ms", "%.4g") " | " cell(k, "device_images_per_second", "%.5g") \
            " | " cell(k, "queued_ms", "%.4g") " | " cell(k, "speedup", "%.3gx") " | " cell(k, "copies", "%d") \
            " | " ((k ":peak_bytes") in value && value[k ":peak_bytes"] > 0 ? sprintf("%.1f", value[k ":peak_bytes"] / 1048576) : "–") \
            " | " cell(k, "logit_error", "%.2g") " | " (cell(k, "images", "%d") == "–" ? "–" : cell(k, "same_top1", "%d") " of " cell(k, "images", "%d")) " |" (i < count ? "\n" : "")
    }
    return text
}

{
    out = ""
    while (match($0, /\{[^{}]*\}/)) {
        out = out substr($0, 1, RSTART - 1)
        inside = substr($0, RSTART + 1, RLENGTH - 2)
        rest = substr($0, RSTART + RLENGTH)
        out = out filled(inside)
        $0 = rest
    }
    print out $0
}
