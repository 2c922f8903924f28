#!/usr/bin/awk -f
# seeds.awk -v text=S0 -v count=46 -v pages="..." docs/seeds.tsv: the promises of one of the five texts,
# as a table. `pages` has the path of each exercise's page.
#
# A line of the TSV: id, promise, where it is kept (exercises, or other names, between spaces), figures
# with "; " between them, remark. A figure names a file of docs/results and what is taken from it:
#
#   FILE.tsv: COLUMN where COLUMN VALUE and ...   of the first line that has each VALUE in its COLUMN
#   MACHINE/tests.tsv: ID METRIC   what the reference reaches in the speed test whose metric begins so;
#                           with ", time" behind it, the reference's time
#   FILE.txt: WORDS         the last line with these words
#
# What is not there is an error: no number stands in the document without its file.
BEGIN { FS = "\t" }

function fail(why)
{
    print "docs/seeds.tsv: " id ": " why > "/dev/stderr"
    failed = 1
    return "?"
}

function link(file,    name) { name = file; sub(/.*\//, "", name); return " ([" name "](results/" file "))" }

# The value of `column` in the first line of the TSV that fits all of `wanted`.
function of_tsv(file, column, wanted,    line, cell, at, n, i, pair, pairs, space, value)
{
    pairs = split(wanted, pair, / and /)
    value = ""
    while (value == "" && (getline line < ("docs/results/" file)) > 0) {
        if (line ~ /^#/) continue
        n = split(line, cell, "\t")
        if (!(column in at)) { # the line of names
            for (i = 1; i <= n; i++) at[cell[i]] = i
            if (!(column in at)) break
            continue
        }
        value = cell[at[column]]
        for (i = 1; i <= pairs; i++) {
            space = index(pair[i], " ")
            if (cell[at[substr(pair[i], 1, space - 1)]] != substr(pair[i], space + 1)) value = ""
        }
    }
    close("docs/results/" file)
    if (value == "") return fail(file " has no " column " where " wanted)
    gsub(/_/, " ", column)
    gsub(/ and /, ", ", wanted)
    return value " " column ", " wanted link(file)
}

function of_test(file, metric,    line, cell, at, n, i, number, found, time)
{
    time = sub(/, time$/, "", metric)
    number = substr(metric, 1, index(metric, " ") - 1)
    metric = substr(metric, length(number) + 2)
    found = ""
    while (found == "" && (getline line < ("docs/results/" file)) > 0) {
        n = split(line, cell, "\t")
        if (!("metric" in at)) for (i = 1; i <= n; i++) at[cell[i]] = i
        if (cell[at["exercise"]] != number || cell[at["kind"]] != "speed" || index(cell[at["metric"]], metric) != 1) continue
        found = time ? sprintf("%.3g ms: %s", 1000 * cell[at["seconds"]], cell[at["function"]]) \
                     : sprintf("%.3g %s", cell[at["number"]], cell[at["metric"]])
    }
    close("docs/results/" file)
    return found == "" ? fail(file " has no " number " " metric) : found link(file)
}

function of_text(file, wanted,    line, found)
{
    while ((getline line < ("docs/results/" file)) > 0)
        if (index(line, wanted)) found = line
    close("docs/results/" file)
    return found == "" ? fail(file " does not say " wanted) : found link(file)
}

function figure(text,    file, what, n)
{
    n = index(text, ": ")
    file = substr(text, 1, n - 1)
    what = substr(text, n + 2)
    if (file ~ /\.txt$/) return of_text(file, what)
    if (file ~ /\/tests\.tsv$/) return of_test(file, what)
    n = index(what, " where ")
    return of_tsv(file, substr(what, 1, n - 1), substr(what, n + 7))
}

# An exercise with its page; one without a page is not there yet.
function place(name,    page, i)
{
    if (name == "cuda_demo") return "[cuda_demo](cuda_demo.md)"
    if (name == "README") return "[README](../README.md)"
    if (name !~ /^[0-9]/) return name
    for (i = 1; i <= exercises && !index(page_of[i], "/" name "_");) i++
    if (i > exercises) return name " (to come)"
    page = page_of[i]
    if (!sub(/^docs\//, "", page)) page = "../" page
    return "[" name "](" page ")"
}

BEGIN {
    exercises = split(pages, page_of, " ")
    print "| Id | Promise | Where | Measured | Remark |"
    print "|---|---|---|---|---|"
}

index($1, text "-") == 1 {
    id = $1
    if (id != text "-" (++rows)) fail("wanted " text "-" rows)
    wheres = split($3, name_of, " ")
    places = measured = ""
    for (i = 1; i <= wheres; i++) places = places (i > 1 ? ", " : "") place(name_of[i])
    figures = split($4, one, "; ")
    for (j = 1; j <= figures; j++) measured = measured (j > 1 ? "<br>" : "") figure(one[j])
    print "| " id " | " $2 " | " places " | " (measured == "" ? "–" : measured) " | " $5 " |"
}

END {
    id = text
    if (rows != count) fail("there are " rows " promises, wanted " count)
    exit failed
}
