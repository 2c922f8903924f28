# numbers.awk: the tables of an exercise's page, of what tests_of.awk prints for it and of its lines
# in mistakes.tsv, which come with "mistake" in column 2. `gpu` names the GPU.
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

$2 == "speed" {
    if (!speeds++) {
        print "\n**Speed**, measured on " ($11 ~ /\.c$/ ? "the CPU of a machine with an " : "an ") gpu ":\n"
        print "| Speed | Required | Reference | Its time | The yardstick's time |"
        print "|---|---|---|---|---|"
    }
    print "| " code($4, $3) " | " $5 " " short($6) " | " short($7) " | " milliseconds($9) " | " milliseconds($10) " |"
}

$2 == "traffic" { row[++counts] = "| " code($4, $3) " | " $5 " " short($6) " | " short($7) " | "; of[counts] = $4 }

$2 == "mistake" { wrong[$5] = wrong[$5] (wrong[$5] == "" ? "" : "<br>") short($6) " (" $4 ")" }

END {
    if (counts) {
        print "\n**[Traffic](../../docs/glossary.md)**, counted by softgpu:\n"
        print "| Counter | Required | Reference | A usual mistake |"
        print "|---|---|---|---|"
    }
    for (i = 1; i <= counts; i++) print row[i] wrong[of[i]] " |"
    print ""
}
