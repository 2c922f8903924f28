# facts.awk: facts about the exercises for tables, a line each: folder, title, 1 if it is on the
# path, lines to write, hours, numbers of those that it calls, files, 1 if it takes the student's
# own; and a line of folder and title for each phase. Of the pages, in the order of the course, then
# of cases.c and solutions with parts. Lines are those that the TODOs ask for, or where
# a file has none, those of the page's line budget; hours follow from them.
FNR == 1 {
    inside = 0
    levels = split(FILENAME, part, "/")
    name = part[levels - 1]
}
FILENAME ~ /README\.md$/ {
    if (/^## Line budget/) inside = 1
    if (inside && /^About [0-9]+ lines/) budget[name] = $2
    if (/^About /) inside = 0
    if (FNR > 1) next
    title[name] = substr($0, 3)
    order[++count] = name
    folder[name] = levels > 2 ? part[1] "/" name : name
    next
}
FILENAME ~ /cases\.c$/ {
    if (/^    \.core = true,/) core[name] = 1
    if (/^    \.own_prerequisites = true,/) own[name] = 1
    if (sub(/^    \.prerequisites = \{/, "") && sub(/\}.*/, "")) {
        gsub(/CHALLENGE\(|, '|'\)|,/, "") # CHALLENGE(4, 'c') is 4c
        needs[name] = $0
    }
    next
}
FNR == 1 && part[levels] ~ "^" name "\\.(c|cu|py)$" { files[name] = part[levels] " " files[name] }
FNR == 1 && part[levels] !~ "^" name "\\.(c|cu|py)$" { files[name] = files[name] part[levels] " " }
/SOLUTION: / { inside = 1; text = "" }
inside { text = text " " $0 }
inside && (/\*\// || FILENAME ~ /\.py$/) {
    inside = 0
    gsub(/[* #\/]+/, " ", text)
    sub(/lines? ?$/, "&)", text) # "SOLUTION: about 2 lines" alone
    sub(/ \)$/, ")", text)
    while (match(text, /[0-9]+ lines?\)/)) {
        lines[name] += substr(text, RSTART)
        text = substr(text, RSTART + RLENGTH)
    }
}
END {
    for (i = 1; i <= count; i++) {
        name = order[i]
        if (!lines[name]) lines[name] = budget[name]
        printf "%s\t%s", folder[name], title[name]
        if (folder[name] ~ /\//)
            printf "\t%s\t%s\t%s\t%s\t%s\t%s", core[name], lines[name], lines[name] ? 0.5 + lines[name] / 40 : "",
                needs[name], files[name], own[name]
        print ""
    }
}
