# phase.awk: a row of a phase's table, of one exercise: -v folder=phase4_optimization/404_fusion, its page,
# its cases.c, its solution with parts. Lines are those that its TODOs ask for; hours follow from them.
FNR == 1 { inside = 0 }
FILENAME ~ /README\.md$/ {
    if (FNR == 1) title = substr($0, 3)
    next
}
FILENAME ~ /cases\.c$/ {
    if (sub(/.*\.prerequisites = \{/, "") && sub(/\}.*/, "")) {
        gsub(/CHALLENGE\(|, '|'\)/, "") # CHALLENGE(4, 'c') is 4c
        count = split($0, needed, ", ")
    }
    next
}
/SOLUTION: / { inside = 1; text = "" }
inside { text = text " " $0 }
inside && (/\*\// || FILENAME ~ /\.py$/) {
    inside = 0
    gsub(/[* #\/]+/, " ", text)
    while (match(text, /[0-9]+ lines?\)/)) {
        lines += substr(text, RSTART)
        text = substr(text, RSTART + RLENGTH)
    }
}
END {
    for (i = 1; i <= count; i++) {
        ("ls -d phase?_*/" needed[i] "_*") | getline page
        needs = needs (i > 1 ? ", " : "") "[" needed[i] "](../" page "/README.md)"
    }
    name = folder
    sub(/.*\//, "", name)
    printf "| [%s](%s/README.md) | %s | %s | %s |\n", title, name, lines ? lines : "–",
        lines ? sprintf("%.1f", 0.5 + lines / 40) : "–", count ? needs : "–"
}
