# report.awk -v document=docs/report.md FACTS docs/report.tsv: what stands below the document's markers, each line
# behind the name of its marker and a tab: of S0 to S4, the five documents, the promises; of `tables`, which
# tables the figures come from; of `used`, which exercises call those of phases 2 and 4. FACTS is of facts.awk.
#
# A line of the TSV: id, promise, where it is kept, figures with "; " between them, remark. `where` names exercises
# and other places; 301:relu_backward names a function of a contract. A figure names a file of docs/results (of
# its folder h200 where it names none) and one row:
#
#   FILE.tsv: COLUMN where KEY VALUE and KEY VALUE ...   one row has each VALUE in its column KEY
#   FIGURE over KEY VALUE ...                 its ratio to a row with other keys; [[FILE: ]COLUMN where ]
#                                             before the keys: in another column, of another file
#   FILE.txt: UNIT where line WORDS           the number before UNIT in the last line with WORDS; the unit
#                                             `verdict`: the word behind its colon
#
# It is an error, and nothing is printed, where a figure's row is not there or is not the only one, where it is
# of another function or exercise than `where`, or not of a kind of which the promise speaks; where a remark
# or the document's own text has a number that was typed, where the document has no source for a peer, or where
# promises are not as many as its marker says. Exit status 1; 3 where git lacks a commit that a table names.
BEGIN { FS = "\t" }

function fail(why)
{
    print (id == "" ? document : "docs/report.tsv: " id) ": " why > "/dev/stderr"
    failed = 1
}

# --- the course -----------------------------------------------------------------------------------

# By a reference: print_links has the targets. An exercise that is not there is to come.
function link(name)
{
    if (name in folder) target[name] = "../" folder[name] "/README.md"
    if (name == "README") target[name] = "../README.md"
    if (name == "cuda_demo") target[name] = "cuda_demo.md"
    return name in target ? "[" name "]" : name (name ~ /^[0-9]/ ? " (to come)" : "")
}

# With all that they call. `ids` begins and ends with a blank.
function closure(ids,    list, n, i, more, called, m, k)
{
    n = split(ids, list, " ")
    for (i = 1; i <= n; i++) {
        m = split(needs[list[i]], called, " ")
        for (k = 1; k <= m; k++)
            if (!index(ids, " " called[k] " ")) { ids = ids called[k] " "; list[++n] = called[k] }
    }
    return ids
}

function has_function(name, function_name,    header, line, found)
{
    header = folder[name]
    sub(/\/[0-9a-z]+_/, "&\t", header)
    sub(/.*\t/, "", header)
    header = folder[name] "/" header ".h"
    while ((getline line < header) > 0)
        if (index(line, " " function_name "(") || index(line, "*" function_name "(")) found = 1
    close(header)
    return found
}

# Sets where_ids and where_functions.
function places(text,    n, name, part, i, shown)
{
    where_ids = where_functions = " "
    n = split(text, name, " ")
    for (i = 1; i <= n; i++) {
        split(name[i], part, ":")
        if (part[1] in folder) where_ids = where_ids part[1] " "
        if (part[2] != "" && !has_function(part[1], part[2])) fail(part[1] " has no function " part[2])
        if (part[2] != "") where_functions = where_functions part[2] " "
        shown = shown (i > 1 ? ", " : "") link(part[1])
        if (part[2] != "") shown = shown " `" part[2] "`"
    }
    return shown
}

# --- tables, and how old they are -----------------------------------------------------------------

function path(file) { return "docs/results/" (file ~ /\// ? "" : "h200/") file }

function run(command,    line)
{
    line = ""
    command | getline line
    close(command)
    return line
}

# What the first lines say: commit_of and machine_of; else the commit of the file's last change.
function look_at(file,    line, n)
{
    if (file in commit_of) return
    commit_of[file] = ""
    machine_of[file] = "not named"
    while (n++ < 6 && (getline line < path(file)) > 0) {
        if (match(line, /commit [0-9a-f]+/)) commit_of[file] = substr(line, RSTART + 7, RLENGTH - 7)
        if (match(line, /NVIDIA [A-Z]+[0-9]+|softgpu on [A-Z]+ [A-Z]+/)) machine_of[file] = substr(line, RSTART, RLENGTH)
    }
    close(path(file))
    if (commit_of[file] == "") commit_of[file] = run("git log -1 --format=%h -- " path(file))
    order[++tables] = file
    target[file] = substr(path(file), 6)
}

# Exercises whose code is no more what it was when the file was measured.
function changed_since(commit,    command, line)
{
    if (commit in changed) return changed[commit]
    changed[commit] = " "
    command = "tools/changed.sh " commit " || echo unknown"
    while ((command | getline line) > 0) changed[commit] = changed[commit] line " "
    close(command)
    if (changed[commit] ~ / unknown /) unknown = 1
    return changed[commit]
}

function is_old(file, ids,    list, n, i, now)
{
    now = changed_since(commit_of[file])
    n = split(closure(ids), list, " ")
    for (i = 1; i <= n; i++)
        if (index(now, " " list[i] " ")) return 1
    return 0
}

# The rows that have each value of `want`; the cells of the last one.
function find_rows(file, want, cell,    line, part, name, at, n, i, key, rows, headed)
{
    while ((getline line < path(file)) > 0) {
        if (line ~ /^#/) continue
        n = split(line, part, "\t")
        if (n == 0) { headed = 0; continue }
        if (!headed) {
            split("", at)
            for (i = 1; i <= n; i++) at[part[i]] = i
            headed = 1
            continue
        }
        for (key in want) if (!(key in at) || part[at[key]] != want[key]) n = 0
        if (n == 0) continue
        rows++
        split("", cell)
        for (name in at) cell[name] = part[at[name]]
    }
    close(path(file))
    return rows + 0
}

# The number before `unit` in the last line with `words`.
function find_text(file, words, unit,    line, found)
{
    while ((getline line < path(file)) > 0) if (index(line, words)) found = line
    close(path(file))
    if (unit == "verdict") return match(found, /: [a-z]+/) ? substr(found, RSTART + 2, RLENGTH - 2) : ""
    while (match(found, /[0-9.]+ [^ ,;)]+/)) {
        line = substr(found, RSTART, RLENGTH)
        if (substr(line, index(line, " ") + 1) == unit) return line + 0
        found = substr(found, RSTART + RLENGTH)
    }
    return ""
}

# --- units ----------------------------------------------------------------------------------------

# Sets unit, kind, scale, and is_ratio. A metric of the grader says what its number is.
function measure_of(column, cell)
{
    unit = column
    scale = 1
    is_ratio = 0
    kind = ""
    if (column == "number" && ("quantity" in cell)) {
        unit = ""
        is_ratio = cell["relative_to"] cell["over"] != ""
        kind = cell["quantity"] ~ /touched|stored/ ? "memory" : is_ratio ? "time" : "count"
    } else if (column ~ /(^|_)ms$|^milliseconds$|^median$/) { unit = "ms"; kind = "time" }
    else if (column ~ /^us( |$)/) { unit = "µs" substr(column, 3); kind = "time" }
    else if (column ~ /seconds$/) { unit = "ms"; kind = "time"; scale = 1000 }
    else if (column == "s") kind = "time"
    else if (column ~ /^[GT]FLOP\/s$/) kind = "rate"
    else if (column ~ /[_ ]per[_ ]second$|^tokens\/s$/) { gsub(/_/, " ", unit); kind = "throughput" }
    else if (column ~ /_bytes$/) { unit = "MB"; kind = "memory"; scale = 1e-6 }
    else if (column ~ /^Gi?B$/) kind = "memory"
    else if (column ~ /^%/) kind = "share"
    else if (column ~ /^times|^speedup$/) { kind = "time"; is_ratio = 1; if (column == "speedup") unit = "times the CPU" }
    else if (column ~ /^(copies|images|same_top1)$/) { kind = "count"; sub(/same_top1/, "images", unit) }
    else if (column ~ /error$/) { kind = "error"; sub(/_/, " ", unit) }
    else if (column == "verdict") { unit = ""; kind = "verdict" }
    if (kind == "") fail("of the column " column " nobody knows the unit")
}

# The kinds of numbers of which a promise speaks.
function promised_kinds(text,    kinds)
{
    gsub(/shared memory/, "", text)
    kinds = " "
    if (text ~ /[0-9] (ms|us|s|seconds|minutes|hours)([^a-z]|$)/) kinds = kinds "time "
    if (text ~ /FLOP\/s/) kinds = kinds "rate "
    if (text ~ /GB\/s/) kinds = kinds "bandwidth "
    if (text ~ /[Mm]emory|[0-9] [MG]B([^\/]|$)/) kinds = kinds "memory "
    if (text ~ /per second/) kinds = kinds "throughput "
    if (text ~ /%/) kinds = kinds "share ratio "
    if (text ~ /[0-9] times|twice|as fast/) kinds = kinds "ratio "
    if (text ~ /two copies/) kinds = kinds "count "
    if (text ~ /within [0-9]/) kinds = kinds "error "
    return kinds
}

function is_promised(kinds)
{
    if (kinds == " " || kind == "verdict" || index(kinds, " " kind " ")) return 1
    return is_ratio && index(kinds, " ratio ") && !index(kinds, " memory ")
}

function number(x)
{
    if (x + 0 == int(x) && x < 1e15) return sprintf("%d", x)
    if (x >= 1000) return sprintf("%.0f", x)
    return sprintf(x < 0.0001 ? "%.1e" : "%.3g", x)
}

# --- figures --------------------------------------------------------------------------------------

# FILE: COLUMN where KEY VALUE and ... into want and its file and column, beside what is there already. Returns the values.
function parse(text, want,    n, pair, i, label, key, value)
{
    if ((n = index(text, ": ")) && substr(text, 1, n) ~ /^[a-z0-9_\/]+\.(tsv|txt):/) { file = substr(text, 1, n - 1); text = substr(text, n + 2); split("", want) }
    if (n = index(text, " where ")) { column = substr(text, 1, n - 1); text = substr(text, n + 7) }
    n = split(text, pair, " and ")
    for (i = 1; i <= n; i++) {
        key = substr(pair[i], 1, index(pair[i], " ") - 1)
        value = substr(pair[i], length(key) + 2)
        if (key == "") { key = pair[i]; value = "" }
        want[key] = value
        label = label (i > 1 ? ", " : "") (value ~ /^[0-9.]+$/ && key !~ /^(what|variant)$/ ? key " " : "") value
    }
    return label
}

# The exercises of whose code a row speaks, and in `peer` the name of another's.
function measured_ids(cell,    name, n, i, ids, token, of)
{
    of["cpu"] = of["transfer"] = 504
    of["conv_bn"] = "306 309"
    of["resident"] = 505
    of["optimized"] = 507
    ids = " "
    peer = ""
    if ("network" in cell) name = cell["network"] ~ /^nn\./ ? cell["network"] : "512"
    else if ("mode" in cell) name = "512"
    else if ("implementation" in cell) name = cell["implementation"] in of ? of[cell["implementation"]] : \
        cell["implementation"] ~ /^(fused|layers)/ ? "511" : cell["implementation"]
    else if ("stage" in cell) name = cell["by"]
    else if ("exercise" in cell) name = cell["exercise"]
    else if ("rung" in cell) name = cell["rung"]
    else if ("variant" in cell) name = cell["variant"]
    else if ("what" in cell) name = cell["what"]
    else return where_ids
    n = split(name, token, /[ ']/)
    for (i = 1; i <= n; i++) if (token[i] in folder) ids = ids token[i] " "
    if (ids == " ") peer = name cell["stage"]
    return ids
}

function check_row(cell, ids,    list, n, i, fits)
{
    n = split(ids, list, " ")
    for (i = 1; i <= n; i++) if (index(where_ids, " " list[i] " ")) fits = 1
    if (n && !fits) fail("a figure is of" ids "and the promise of" where_ids)
    if (("function" in cell) && column != "baseline_seconds" && !index(where_functions, " " cell["function"] " "))
        fail("a figure is of the function " cell["function"] ", which the promise does not name")
    if (("verdict" in cell) && cell["verdict"] !~ /^(right|passed)$/) fail("a figure's row is " cell["verdict"])
    if (("measured_at" in cell) && cell["measured_at"] != cell["batch"]) fail("a figure is scaled from another batch")
    if (peer != "") check_peer()
}

function check_peer()
{
    sub(/^(torch_|nn\.).*/, "PyTorch", peer)
    sub(/ .*/, "", peer)
    if (!index(own_text, "\n| " peer)) fail(document " has no source for " peer)
}

# Of the row that `want` names in `file` and `column`: the value; sets unit and the like, and `is_old_row`.
function value_of(want,    cell, rows, value, ids)
{
    look_at(file)
    if (file ~ /\.txt$/) {
        value = find_text(file, want["line"], column)
        ids = where_ids
    } else {
        rows = find_rows(file, want, cell)
        if (rows != 1) { fail(file " has " rows " such rows: " figure); return "" }
        value = cell[column]
        ids = measured_ids(cell)
        check_row(cell, ids)
    }
    if (value == "") { fail(file " has no such " column ": " figure); return "" }
    measure_of(column, cell)
    if (is_old(file, ids)) is_old_row[file] = 1
    of_file[file] = 1
    uses[file, id] = 1
    described = column == "number" ? cell["metric"] : column == "seconds" ? cell["function"] ", " cell["shape"] : \
        column == "baseline_seconds" ? cell["relative_to"] cell["over"] ", " cell["shape"] : ""
    scaled = ("measured" in cell) && cell["measured"] != "all" ? cell["measured"] : ""
    return kind == "verdict" ? value : value * scale
}

function in_words(value, label,    name)
{
    if (described != "") label = described
    if (scaled != "") label = label ", " scaled
    if (kind == "verdict") return "“" label "”: " value
    name = column
    if (!sub(/_(ms|bytes)$/, "", name)) name = ""
    gsub(/_/, " ", name)
    return number(value) (unit == "" ? "" : " " unit) (label == "" ? "" : unit == "" ? ": " label : " (" (name == "" ? "" : name ", ") label ")")
}

function figure_text(text, kinds,    n, want, label, a, b, first, first_unit, first_kind)
{
    figure = text
    n = index(text, " over ")
    label = parse(n ? substr(text, 1, n - 1) : text, want)
    a = value_of(want)
    first = in_words(a, label)
    if (!n) {
        if (!failed && !is_promised(kinds)) fail("a promise of" kinds "and a figure of " kind ": " text)
        return first
    }
    first_unit = unit
    first_kind = kind
    label = parse(substr(text, n + 6), want)
    b = value_of(want)
    if (unit != first_unit || kind != first_kind) fail("a ratio of " first_unit " and " unit)
    is_ratio = 1
    if (!failed && !is_promised(kinds)) fail("a promise of" kinds "and a ratio of " kind ": " text)
    if (failed) return ""
    return (kinds ~ / share / && kinds !~ / ratio ratio / ? number(100 * a / b) " %" : number(a / b) " times") ": " first " against " in_words(b, label)
}

# The files of a row's figures, with what their age means.
function sources(    file, i, text)
{
    for (i = 1; i <= tables; i++) {
        file = order[i]
        if (!(file in of_file)) continue
        text = text (text == "" ? "" : "<br>") "[" file "]"
        if (file in is_old_row) text = text ", measured at " substr(commit_of[file], 1, 8) ", the code changed since"
    }
    return text
}

# --- what is typed --------------------------------------------------------------------------------

# A number is one of a table, but for names (fp32, S4, GPT-2) and exercises.
function check_typed(text,    n, word, i)
{
    gsub(/\]\([^)]*\)|<!--.*-->/, "", text)
    n = split(text, word, /[^-A-Za-z0-9_.]+/)
    for (i = 1; i <= n; i++) {
        sub(/[.]+$/, "", word[i])
        if (word[i] ~ /[0-9]/ && word[i] !~ /^[A-Za-z]/ && !(word[i] in folder)) fail("a number that was typed: " word[i])
    }
}

function read_document(    line, word, inside, n_lines, own_line, i)
{
    while ((getline line < document) > 0) {
        if (line == "<!-- end -->") inside = 0
        if (!inside) own_text = own_text "\n" line
        if (line !~ /^<!-- report: /) continue
        inside = 1
        split(line, word, /[ ,]+/)
        wanted[word[3]] = word[4]
    }
    close(document)
    n_lines = split(own_text, own_line, "\n")
    for (i = 1; i <= n_lines; i++) check_typed(own_line[i])
}

# --- a line of facts, and a promise ---------------------------------------------------------------

NR == FNR && NF > 2 {
    name = $1
    sub(/.*\//, "", name)
    sub(/_.*/, "", name)
    folder[name] = $1
    needs[name] = $6
    exercise[++exercises] = name
}
NR == FNR { next }

FNR == 1 {
    read_document()
    next
}

{
    of = substr($1, 1, 2)
    if ($1 != id && $1 != of "-" (promises[of] + 1)) fail($1 " follows")
    if ($1 != id) promises[of]++
    id = $1
    kinds = promised_kinds($2)
    shown = places($3)
    check_typed($5)
    split("", of_file)
    split("", is_old_row)
    n = split($4, one, "; ")
    measured = ""
    for (j = 1; j <= n; j++) measured = measured (j > 1 ? "<br>" : "") figure_text(one[j], kinds)
    if ($5 != "") measured = measured (measured == "" ? "" : "<br>") $5
    if (measured == "") kept[of] = kept[of] (kept[of] == "" ? "" : ", ") id " " plain($3)
    else rows[of] = rows[of] "\n" of "\t| " id " | " $2 " | " shown " | " measured " | " sources() " |"
}

# Of what has no figure its verdict, that of softgpu.
function plain(where,    n, name, i, want, cell, text)
{
    gsub(/:[^ ]*/, "", where)
    n = split(where, name, " ")
    for (i = 1; i <= n; i++) {
        split("", want)
        want["exercise"] = name[i]
        if (name[i] in folder && (find_rows("softgpu/grades.tsv", want, cell) != 1 || cell["status"] != "passed"))
            fail("has no figure, and " name[i] " did not pass")
        text = text (i > 1 ? " " : "") name[i]
    }
    return "(" text ")"
}

function print_promises(of)
{
    print of "\t| Id | The document promises | Where | Measured | Table |\n" of "\t|---|---|---|---|---|" rows[of]
    print of "\t\n" of "\tNothing to measure, and the exercises pass on softgpu: " kept[of] "."
}

function print_tables(    i, file)
{
    print "tables\t| Table | Machine | Commit |\ntables\t|---|---|---|"
    for (i = 1; i <= tables; i++)
        print "tables\t| [" order[i] "] | " machine_of[order[i]] " | " commit_of[order[i]] " |"
}

function print_used(    i, k, n, called, by)
{
    for (i = 1; i <= exercises; i++) {
        n = split(needs[exercise[i]], called, " ")
        for (k = 1; k <= n; k++) by[called[k]] = by[called[k]] (by[called[k]] == "" ? "" : ", ") link(exercise[i])
    }
    print "used\t| Exercise | is called by |\nused\t|---|---|"
    for (i = 1; i <= exercises; i++)
        if (exercise[i] ~ /^[24]/ && by[exercise[i]] != "") print "used\t| " link(exercise[i]) " | " by[exercise[i]] " |"
}

function print_links(    name)
{
    for (name in target) print "[" name "]: " target[name] | "sort | sed \"s/^/links\t/\""
}

END {
    for (of in wanted) {
        id = of
        if (of ~ /^S/ && promises[of] != wanted[of]) fail("there are " promises[of] + 0 " promises, wanted " wanted[of])
    }
    if (failed || unknown) exit failed ? 1 : 3
    for (of in promises) print_promises(of)
    print_tables()
    print_used()
    print_links()
}
