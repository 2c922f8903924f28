#!/usr/bin/awk -f
# help.awk [-v all=1] MAKEFILE...: the list of make help: each target with a "## " comment, in the
# group that a line "#group NAME" above it names. Without all, only the names of two groups are
# shown.
BEGIN {
    groups = split("Student|Programs|See and measure|Instructor|Developer", title, "|")
}
/^#group / { group = substr($0, 8) }
/^[a-z][-a-z0-9_. ]*:.*## / {
    target = text = $0
    sub(/:.*/, "", target)
    sub(/phase1.*phase5/, "phase1 .. phase5", target)
    sub(/.*## /, "", text)
    names[group] = names[group] " " target
    lines[group] = lines[group] sprintf("  %-21s %s\n", target, text)
}
/^#   [A-Z_]+=/ || (/^#  +[a-z(]/ && variable) { variables = variables substr($0, 3) "\n"; variable = 1; next }
{ variable = 0 }
END {
    print "usage: make TARGET [NAME=VALUE ...]"
    for (i = 1; i <= groups; i++)
        if (all || i <= 3) printf "%s\n%s", title[i], lines[title[i]]
        else if (names[title[i]]) printf "%s:%s\n", title[i], names[title[i]]
    if (all) printf "Variables\n%s", variables
}
