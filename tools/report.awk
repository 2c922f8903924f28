# report.awk -v document=docs/report.md FACTS docs/report.tsv: what stands below the document's markers, each line
# behind the name of its marker: the promises of S0 to S4; `tables`, from which the figures come; `used`, which
# exercises call those of phases 2 and 4; `links`. FACTS is of facts.awk.
#
# A line of the TSV: id, promise, where it is kept, figures with "; " between them, remark. `Where` names exercises;
# 301:relu_backward also a function of its contract. A figure names a file of docs/results (h200/ is left out)
# and a row of it:
#
#   FILE.tsv: COLUMN where KEY VALUE and KEY VALUE ...   the one row with each VALUE in its column KEY
#   FIGURE over KEY VALUE ...         its ratio to the row with these keys and its others; [[FILE: ]COLUMN where ]
#                                     before them; a second figure says no more either than what is other in it
#   FILE.txt: UNIT where line WORDS   the number before UNIT in the last line with WORDS; of the UNIT
#                                     `verdict` the word behind its colon
#
# An error, and nothing is printed: a row that is not there, or is one of several; one of a function or an exercise that
# `where` does not name; a kind of figure of which the promise does not speak; a number that was typed, in a
# remark or in the document; a remark `as S0-7` of a promise that has no figure; a peer without a source in the
# document; fewer promises than its marker says. Exit status 1; 3 where git lacks a commit that a table names.
BEGIN {
    FS = "\t"
    # Columns, unit (-: the column's own name), kind, and what a cell is multiplied by.
    units = split("(^|_)ms$|^milliseconds$|^median$ ms time 1;^us - time 1;seconds$ ms time 1000;^s$ s time 1;^[GT]FLOP/s$ - rate 1;" \
        "^GB/s$ - bandwidth 1;per.second$|^tokens/s$ - throughput 1;_bytes$ MB memory 0.000001;^Gi?B$ - memory 1;^% - share 1;^times - ratio 1;" \
        "^copies$ - count 1;images$|^same_top1$ images count 1;error$ - error 1;^verdict$ - verdict 1", unit_of, ";")
    split("cpu 504 transfer 504 conv_bn 306,309 resident 505 optimized 507 layers 511 fused 511", word, " ")
    for (i = 1; i in word; i += 2) implementation[word[i]] = word[i + 1]
}

function fail(why)
{
    print (id == "" ? document : "docs/report.tsv: " id) ": " why > "/dev/stderr"
    failed = 1
}

function has(list, item) { return index(list, " " item " ") }

# --- the course -----------------------------------------------------------------------------------

# By reference: print_links has the targets. An exercise that is not there is to come.
function link(name)
{
    if (name in folder) target[name] = "../" folder[name] "/README.md"
    if (name == "README") target[name] = "../README.md"
    if (name == "cuda_demo") target[name] = "cuda_demo.md"
    return name in target ? "[" name "]" : name (name ~ /^[0-9]/ ? " (to come)" : "")
}

# With all exercises that these call. The list begins and ends with a blank.
function closure(ids,    list, n, i, called, m, k)
{
    n = split(ids, list, " ")
    for (i = 1; i <= n; i++) {
        m = split(needs[list[i]], called, " ")
        for (k = 1; k <= m; k++)
            if (!has(ids, called[k])) { ids = ids called[k] " "; list[++n] = called[k] }
    }
    return ids
}

# Sets where_ids and where_functions.
function places(text,    n, name, part, i, shown)
{
    where_ids = where_functions = " "
    n = split(text, name, " ")
    for (i = 1; i <= n; i++) {
        split(name[i], part, ":")
        if (part[1] in folder) where_ids = where_ids part[1] " "
        shown = shown (i > 1 ? ", " : "") link(part[1])
        if (part[2] == "") continue
        if (system("grep -qw " part[2] " " folder[part[1]] "/*.h")) fail(part[1] " has no function " part[2])
        where_functions = where_functions part[2] " "
        shown = shown " `" part[2] "`"
    }
    return shown
}

# --- tables, and how old they are -----------------------------------------------------------------

function path(file) { return "docs/results/" (file ~ /\// ? "" : "h200/") file }

# What its first lines say of commit and machine; without a commit that of the file's last change.
function look_at(file,    line, n, command)
{
    if (file in commit_of) return
    commit_of[file] = ""
    machine_of[file] = "not named"
    while (n++ < 6 && (getline line < path(file)) > 0) {
        if (match(line, /commit [0-9a-f]+/)) commit_of[file] = substr(line, RSTART + 7, RLENGTH - 7)
        if (match(line, /NVIDIA [A-Z]+[0-9]+|softgpu( on [A-Z]+ [A-Z]+)?/)) machine_of[file] = substr(line, RSTART, RLENGTH)
    }
    close(path(file))
    command = "git log -1 --format=%H -- " path(file)
    if (commit_of[file] == "" && (command | getline line) > 0) commit_of[file] = substr(line, 1, 8)
    close(command)
    order[++tables] = file
    target[file] = substr(path(file), 6)
}

# Whether the code of these exercises, or of one that they call, is no more what it was at the file's commit.
function is_old(file, ids,    commit, command, line, list, n, i)
{
    commit = commit_of[file]
    command = "tools/changed.sh " commit " || echo unknown"
    if (!(commit in changed)) {
        changed[commit] = " "
        while ((command | getline line) > 0) changed[commit] = changed[commit] line " "
        close(command)
    }
    if (has(changed[commit], "unknown")) unknown = 1
    n = split(closure(ids), list, " ")
    for (i = 1; i <= n && !has(changed[commit], list[i]); i++) {}
    return i <= n
}

# How many rows have each value of `want` and something in `column`; the cells of the last of them.
function find_rows(file, column, want, cell,    line, part, name, at, n, i, key, rows, headed)
{
    while ((getline line < path(file)) > 0) {
        if (line ~ /^#/) continue
        n = split(line, part, "\t")
        if (n && !headed++) {
            split("", at)
            for (i = 1; i <= n; i++) at[part[i]] = i
            n = -1
        }
        if (n == 0) headed = 0
        if (file == "tests.tsv" && n > 0 && part[at["kind"]] == "traffic") n = 0 # that is softgpu's, and stands there
        for (key in want) if (!(key in at) || part[at[key]] != want[key]) n = 0
        if (n <= 0 || !(column in at) || part[at[column]] == "") continue
        rows++
        split("", cell)
        for (name in at) cell[name] = part[at[name]]
    }
    close(path(file))
    return rows + 0
}

function find_text(file, unit, words,    line, found)
{
    while ((getline line < path(file)) > 0) if (index(line, words)) found = line
    close(path(file))
    if (unit == "verdict" && match(found, /: [a-z]+/)) return substr(found, RSTART + 2, RLENGTH - 2)
    while (match(found, /[0-9.]+ [^ ,;)]+/)) {
        line = substr(found, RSTART, RLENGTH)
        if (substr(line, index(line, " ") + 1) == unit) return line + 0
        found = substr(found, RSTART + RLENGTH)
    }
    return ""
}

# --- units ----------------------------------------------------------------------------------------

# Sets unit, kind, scale and is_ratio. The metric of a test says what its number is, and the measure of a median what it
# counts.
function measure_of(column, cell,    i, part)
{
    unit = ""
    scale = 1
    is_ratio = cell["relative_to"] cell["over"] != ""
    kind = cell["quantity"] ~ /touched|stored/ ? "memory" : is_ratio ? "time" : "count"
    if (column == "number") return
    if (column == "median" && cell["measure"] !~ /^(call|replay|stream|device)$/) column = cell["measure"]
    for (i = 1; i <= units; i++) {
        split(unit_of[i], part, " ")
        if (column ~ part[1]) break
    }
    if (i > units) fail("no unit is known of " column)
    unit = part[2] == "-" ? column : part[2]
    gsub(/_/, " ", unit)
    sub(/^us/, "µs", unit)
    kind = part[3]
    scale = part[4]
    is_ratio = kind == "ratio"
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
    if (text ~ /%/) kinds = kinds "share "
    if (text ~ /[0-9] times|twice|as fast/) kinds = kinds "ratio "
    if (text ~ /two copies/) kinds = kinds "count "
    if (text ~ /within [0-9]/) kinds = kinds "error "
    return kinds
}

function check_kind(kinds)
{
    if (failed || kinds == " " || kind == "verdict" || has(kinds, kind)) return
    if (is_ratio && kinds ~ / (ratio|share) / && !has(kinds, "memory")) return
    fail("it promises" kinds "and is shown " kind ": " figure)
}

function number(x)
{
    if (x == int(x)) return sprintf("%d", x)
    return sprintf(x >= 1000 ? "%.0f" : x < 0.0001 ? "%.1e" : "%.3g", x)
}

# --- figures --------------------------------------------------------------------------------------

# What is before the keys into file and column, the keys into `want`, beside what is there. Returns their values.
function parse(text, want,    n, pair, i, label, key, value)
{
    if (match(text, /^[a-z0-9_\/]+\.(tsv|txt): /)) {
        file = substr(text, 1, RLENGTH - 2)
        text = substr(text, RLENGTH + 1)
        split("", want)
    }
    if (n = index(text, " where ")) { column = substr(text, 1, n - 1); text = substr(text, n + 7) }
    n = split(text, pair, " and ")
    for (i = 1; i <= n; i++) {
        key = substr(pair[i], 1, index(pair[i] " ", " ") - 1)
        value = want[key] = substr(pair[i], length(key) + 2)
        label = label (i > 1 ? ", " : "") (value ~ /^[0-9]+$/ && key !~ /^(what|variant)$/ ? key " " : "") value
    }
    return label
}

# The exercises whose code a row measures; where it is none of the course's, `peer` is its name.
function measured_ids(cell,    name, n, i, ids, token)
{
    ids = " "
    peer = ""
    if ("implementation" in cell) { name = cell["implementation"]; sub(/-.*/, "", name); if (name in implementation) name = implementation[name] }
    else if ("network" in cell) name = cell["network"] ~ /^nn\./ ? cell["network"] : "512"
    else if ("mode" in cell) name = "512"
    else if ("stage" in cell) name = cell["by"]
    else if ("exercise" in cell) name = cell["exercise"]
    else if ("rung" in cell) name = cell["rung"]
    else if ("variant" in cell) name = cell["variant"]
    else if ("what" in cell) name = cell["what"]
    else return where_ids
    n = split(name, token, /[ ,':]/)
    for (i = 1; i <= n; i++) if (token[i] in folder) ids = ids token[i] " "
    if (ids == " ") peer = name == "" ? cell["stage"] : name
    return ids
}

function check_row(cell, ids,    list, n, i)
{
    n = split(ids, list, " ")
    for (i = 1; i <= n && !has(where_ids, list[i]); i++) {}
    if (n && i > n) fail("it is kept in" where_ids "and is shown" ids ": " figure)
    if (("function" in cell) && column != "baseline_seconds" && !has(where_functions, cell["function"]))
        fail("it does not name the function " cell["function"] ": " figure)
    if (("verdict" in cell) && cell["verdict"] !~ /^(right|passed)$/) fail("the verdict is " cell["verdict"] ": " figure)
    if (("measured_at" in cell) && cell["measured_at"] != cell["batch"]) fail("it is scaled from another batch: " figure)
    sub(/^(torch_|nn\.).*/, "PyTorch", peer)
    sub(/ .*/, "", peer)
    if (peer != "" && !index(own_text, "\n| " peer)) fail(document " has no source for " peer)
}

# The value of `column` in the row; sets what measure_of does, and `described` where keys say too little.
function value_of(want,    cell, n, value, ids)
{
    look_at(file)
    split("", cell)
    described = ""
    ids = where_ids
    if (file ~ /txt$/) value = find_text(file, column, want["line"])
    else if ((n = find_rows(file, column, want, cell)) == 1) value = cell[column]
    if (value == "") fail((n > 1 ? "several rows: " : "nothing there: ") figure)
    if (n == 1) check_row(cell, ids = measured_ids(cell))
    measure_of(column, cell)
    of_file[file] = 1
    if (is_old(file, ids)) old_file[file] = 1
    if (column == "number") described = cell["metric"]
    if (column == "seconds") described = cell["function"] ", " cell["shape"]
    if (column == "baseline_seconds") described = cell["relative_to"] cell["over"] ", " cell["shape"]
    if (cell["measured"] ~ /scaled/) described = cell["stage"] ", " cell["measured"]
    return kind == "verdict" ? value : value * scale
}

function in_words(value, label,    name)
{
    if (described != "") label = described
    if (kind == "verdict") return "“" label "”: " value
    if (unit == "") return number(value) ": " label
    if (unit ~ /^%/) sub(", " unit "$", "", label)
    name = column
    if (!sub(/_(ms|bytes)$/, "", name)) name = ""
    return number(value) " " unit " (" (name == "" ? "" : name ", ") label ")"
}

function figure_text(text, kinds, want,    n, first, a, b, first_unit, second)
{
    figure = text
    n = index(text " over ", " over ")
    first = parse(substr(text, 1, n - 1), want)
    a = value_of(want)
    first = in_words(a, first)
    first_unit = unit
    if (n <= length(text)) {
        second = parse(substr(text, n + 6), want)
        b = value_of(want)
        second = in_words(b, second)
        if (unit != first_unit) fail("a ratio of " first_unit " to " unit ": " figure)
        is_ratio = 1
    }
    check_kind(kinds)
    if (second == "" || failed) return first
    return (has(kinds, "share") && !has(kinds, "ratio") ? number(100 * a / b) " %" : number(a / b) " times") ": " first " against " second
}

# The files of a row's figures, and which are older than what they measure.
function sources(    i, text)
{
    for (i = 1; i <= tables; i++)
        if (order[i] in of_file)
            text = text (text == "" ? "" : "<br>") "[" order[i] "]" (order[i] in old_file ? \
                ", measured at " substr(commit_of[order[i]], 1, 8) "; the code has changed since" : "")
    return text
}

# --- what is typed --------------------------------------------------------------------------------

# Numbers come from tables, but for those of names (fp32, S4, GPT-2) and exercises.
function check_typed(text,    n, word, i)
{
    gsub(/\]\([^)]*\)|<!--.*-->/, "", text)
    n = split(text, word, /[^-A-Za-z0-9_.]+/)
    for (i = 1; i <= n; i++) {
        sub(/[.]+$/, "", word[i])
        if (word[i] ~ /[0-9]/ && word[i] !~ /^[A-Za-z]/ && !(word[i] in folder)) fail("a number that was typed: " word[i])
    }
}

function read_document(    line, word, inside)
{
    while ((getline line < document) > 0) {
        if (line == "<!-- end -->") inside = 0
        if (inside) continue
        check_typed(line)
        own_text = own_text "\n" line
        inside = line ~ /^<!-- report: /
        if (inside && split(line, word, /[ ,]+/) == 5) wanted[word[3]] = word[4]
    }
    close(document)
}

# --- facts, and promises --------------------------------------------------------------------------

NR == FNR && NF > 2 {
    name = $1
    sub(/.*\//, "", name)
    sub(/_.*/, "", name)
    folder[name] = $1
    needs[name] = $6
    exercise[++exercises] = name
}
NR == FNR { next }
FNR == 1 { read_document(); next }

{
    of = substr($1, 1, 2)
    if ($1 != id && $1 != of "-" ++promises[of]) fail($1 " follows")
    id = $1
    shown = places($3)
    check_typed($5)
    split("", of_file)
    split("", old_file)
    measured = ""
    n = split($4, one, "; ")
    for (j = 1; j <= n; j++) measured = measured (j > 1 ? "<br>" : "") figure_text(one[j], promised_kinds($2), want)
    if (n) has_figure[id] = 1
    if (match($5, /^as S[0-9]-[0-9]+/)) same[id] = substr($5, 4, RLENGTH - 3)
    if ($5 != "") measured = measured (n ? "<br>" : "") $5
    if (measured == "") kept[of] = kept[of] (kept[of] == "" ? "" : ", ") id verdict_of(where_ids)
    else rows[of] = rows[of] "\n" of "\t| " id " | " $2 " | " shown " | " measured " | " sources() " |"
}

# What has no figure has a verdict: its exercises pass on softgpu.
function verdict_of(ids,    n, name, i, want, cell)
{
    n = split(ids, name, " ")
    for (i = 1; i <= n; i++) {
        want["exercise"] = name[i]
        if (!find_rows("softgpu/grades.tsv", "status", want, cell) || cell["status"] != "passed") fail(name[i] " did not pass")
    }
    return n ? " (" substr(ids, 2, length(ids) - 2) ")" : ""
}

function print_promises(of)
{
    print of "\t| Id | The document promises | Where | Measured | Table |\n" of "\t|---|---|---|---|---|" rows[of]
    print of "\t\n" of "\tThese promises have nothing to measure; their exercises pass on softgpu: " kept[of] "."
}

function print_tables(    i)
{
    print "tables\t| Table | Machine | Commit |\ntables\t|---|---|---|"
    for (i = 1; i <= tables; i++) print "tables\t| [" order[i] "] | " machine_of[order[i]] " | " commit_of[order[i]] " |"
}

function print_used(    i, k, n, called, by)
{
    for (i = 1; i <= exercises; i++) {
        n = split(needs[exercise[i]], called, " ")
        for (k = 1; k <= n; k++) by[called[k]] = by[called[k]] (by[called[k]] == "" ? "" : ", ") link(exercise[i])
    }
    print "used\t| Exercise | Called by |\nused\t|---|---|"
    for (i = 1; i <= exercises; i++)
        if (exercise[i] ~ /^[24]/ && by[exercise[i]] != "") print "used\t| " link(exercise[i]) " | " by[exercise[i]] " |"
}

function print_links(    name)
{
    fflush() # before the sorted lines
    for (name in target) print "links\t[" name "]: " target[name] | "LC_ALL=C sort"
}

END {
    for (of in wanted) {
        id = of
        if (promises[of] != wanted[of]) fail(promises[of] + 0 " promises, wanted " wanted[of])
    }
    for (id in same) if (!(same[id] in has_figure)) fail(same[id] " has no figure")
    if (failed || unknown) exit failed ? 1 : 3
    for (of in promises) print_promises(of)
    print_tables()
    print_used()
    print_links()
}
