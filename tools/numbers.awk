# numbers.awk -v id=206 GRADES TIMED COUNTED MISTAKES: the tables of an exercise's page, of grades.tsv and
# tests.tsv of a GPU, tests.tsv of softgpu, and mistakes.tsv.
BEGIN { FS = "\t" }

function code(metric, function_name) # reduce_sum: bytes -> `reduce_sum`: bytes
{
    if (index(metric, function_name ": ") != 1) return metric
    return "`" function_name "`" substr(metric, length(function_name) + 1)
}

function short(x)
{
    if (x == int(x)) return sprintf("%d", x)
    return sprintf(x < 10 ? "%.2f" : "%.1f", x)
}

function milliseconds(seconds) { return sprintf("%.3g ms", 1000 * seconds) }

# What a row of tests.tsv begins with in either table.
function test_cells()
{
    return "| " code($at["metric"], $at["function"]) " | " $at["bound"] " " short($at["wanted"]) " | " short($at["number"]) " | "
}

FNR == 1 { file++; split("", at) }
file == 1 && sub(/^# device /, "") { gpu = $0; sub(/,.*/, "", gpu); next }
/^#/ { next }
!("exercise" in at) { for (i = 1; i <= NF; i++) at[$i] = i; next }
$at["exercise"] "" != id "" { next }

file == 1 { on_cpu = $at["file"] ~ /\.c$/ }

file == 2 && $at["kind"] == "speed" && $at["number"] != "" {
    if (!speeds++) {
        print "\n**Speed**, measured on " (on_cpu ? "the CPU of a machine with an " : "an ") gpu ":\n"
        print "| Speed | Required | Reference | Its time | The yardstick's time |"
        print "|---|---|---|---|---|"
    }
    print test_cells() milliseconds($at["seconds"]) " | " milliseconds($at["baseline_seconds"]) " |"
}

file == 3 && $at["kind"] == "traffic" { row[++counts] = test_cells(); of[counts] = $at["metric"] }

file == 4 {
    counter = $at["counter"]
    wrong[counter] = wrong[counter] (wrong[counter] == "" ? "" : "<br>") short($at["counted"]) " (" $at["mistake"] ")"
}

END {
    if (counts) {
        print "\n**[Traffic](../../docs/glossary.md)**, counted by softgpu:\n"
        print "| Counter | Required | Reference | A usual mistake |"
        print "|---|---|---|---|"
    }
    for (i = 1; i <= counts; i++) print row[i] wrong[of[i]] " |"
    print ""
}
