# course.awk: a table of the exercises, from the lines of facts.awk: -v table=phase -v of=FOLDER, those of a phase;
# table=path, those on the path; table=hours, how long it is; table=own, those that use one's own exercises;
# table=page -v of=FOLDER, the first line of a page.
BEGIN { FS = "\t" }
NF == 2 { phase[++phases] = $1; phase_title[phases] = $2; next }
{
    i = ++count
    folder[i] = $1; title[i] = $2; core[i] = $3; lines[i] = $4; hours[i] = $5; needs[i] = $6; files[i] = $7; own[i] = $8
    name[i] = $1
    sub(/.*\//, "", name[i])
    id[i] = name[i]
    sub(/_.*/, "", id[i])
    at[id[i]] = i
}
function link(words, i, up) { return "[" words "](" up folder[i] "/README.md)" }
function rounded(number) { return number == "" ? "–" : sprintf("%.1f", number) }
function called(i, up,   number, n, k, text) {
    n = split(needs[i], number, " ")
    for (k = 1; k <= n; k++) text = text (k > 1 ? ", " : "") link(number[k], at[number[k]], up)
    return text
}
function print_phase(   i) {
    print "| Exercise | Path | Lines to write | Hours | Needs |\n|---|---|---|---|---|"
    for (i = 1; i <= count; i++)
        if (index(folder[i], of "/") == 1)
            print "| [" title[i] "](" name[i] "/README.md) | " (core[i] ? "●" : "") " | " (lines[i] ? lines[i] : "–") \
                " | " rounded(hours[i]) " | " (needs[i] == "" ? "–" : called(i, "../")) " |"
}
function print_hours(   i, number, sum) {
    for (i = 1; i <= count; i++)
        if (core[i]) {
            number++
            sum += hours[i]
        }
    printf "**Hours.** The [path](#the-path) has %d exercises and takes about %.0f hours. That is an estimate, not a\n" \
        "measurement: half an hour for each exercise, and an hour for every 40 lines to write.\n", number, sum
}
function print_path(   p, i, row, sum) {
    print "| Phase | On the path, in this order | Hours |\n|---|---|---|"
    for (p = 1; p <= phases; p++) {
        row = ""
        sum = 0
        for (i = 1; i <= count; i++) {
            if (!core[i] || index(folder[i], phase[p] "/") != 1) continue
            row = row (row == "" ? "" : ", ") link(id[i], i, "") " " substr(name[i], length(id[i]) + 2)
            sum += hours[i]
        }
        print "| [" phase_title[p] "](" phase[p] "/README.md) | " row " | " rounded(sum) " |"
    }
}
function print_own(   i, text) {
    for (i = 1; i <= count; i++)
        if (own[i]) text = text (text == "" ? "" : ", ") id[i]
    print "These exercises use your own earlier ones as soon as those pass:\n" text ".\n" \
        "So the tile that you write in 212 is part of the finished network."
}
function print_page(   i, k, text, file, n) {
    for (i = 1; folder[i] != of; i++)
        if (i > count) exit 1
    n = split(files[i], file, " ")
    for (k = 1; k <= n; k++) text = text (k > 1 ? ", " : "") "`" file[k] "`"
    if (n == 0) text = "Nothing to write"
    if (needs[i] != "") text = text " · uses " called(i, "../../")
    if (lines[i]) text = text " · " lines[i] (lines[i] == 1 ? " line" : " lines") " · about " rounded(hours[i]) " hours"
    for (k = i + 1; k <= count && !core[k]; k++) {}
    print text " · " (k <= count ? "next on the path: " link(title[k], k, "../../") : "no more on the path: `make next ALL=1` goes on")
}
END {
    if (table == "phase") print_phase()
    if (table == "path") print_path()
    if (table == "hours") print_hours()
    if (table == "own") print_own()
    if (table == "page") print_page()
}
