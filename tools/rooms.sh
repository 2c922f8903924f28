#!/bin/sh
# rooms.sh TREE...: does the code of each tree keep to the rooms that TREE/ROOMS lists? It prints a
# line for each violation, then how many rooms and violations there are. In ROOMS:
#
#   device/memory: device/base   files of this folder may include those of that one, and their own
#   exercises/*: shared call     this folder and all below are one room, but for those with a line
#   except PATH: REASON          a file or folder that breaks a rule today; the list only shrinks
#
# The rules: each folder with C files is a room (`.` is the tree's own); includes follow its line; the
# lines make no circle; submissions of the corpus do not count; no folder holds more than 20 C files, no header more than 200 lines.
cd "${COURSE_ROOT:-.}" || exit 2
for tree; do
    find "$tree" -regex '.*/\(wrong\|right\|slow\|fast\|hostile\)' -prune -o -name '*.[ch]' -print |
        sort | xargs awk -v tree="$tree" '
    function say(path, what) { print tree "/" path ": " what; failed++ }
    function broken(path, what) {
        if (path in excepted) needed[path] = 1
        else say(path, what)
    }
    function folder_of(path) { return sub(/\/[^\/]*$/, "", path) ? path : "." }
    function room(folder,   wide) {
        if (folder in line) return folder
        for (wide = folder; !((wide "/*") in line); )
            if (!sub(/\/[^\/]*$/, "", wide)) return folder
        return wide "/*"
    }
    function included(path, folder) { # the file that is meant, from the tree
        if (path !~ /\//) return (folder "/" path) in length_of ? folder "/" path : path
        if (path !~ /^\.\.\//) return path
        while (sub(/^\.\.\//, "", path)) folder = folder_of(folder)
        return folder == "." ? path : folder "/" path
    }
    function check_include(file, path,   from, to) {
        from = room(folder_of(file))
        to = room(folder_of(included(path, folder_of(file))))
        if (to == "." && !(path in length_of)) return # of no tree: common/, a phase
        if (to in line && to != from && !index(line[from], " " to " "))
            broken(file, "includes " path ", but " from " may not know " to)
    }
    FILENAME ~ /\/ROOMS$/ {
        if (sub(/^except /, "")) { sub(/:.*/, ""); excepted[$0] = 1 }
        else if (!/^(#|$)/) { name = $1; sub(/:$/, "", name); sub(/^[^:]*: */, ""); line[name] = " " $0 " " }
        next
    }
    { file = substr(FILENAME, length(tree) + 2); length_of[file] = FNR }
    /^ *# *include "/ { split($0, part, "\""); where[++includes] = file; what[includes] = part[2] }
    END {
        for (f in length_of) {
            files[folder_of(f)]++
            if (f ~ /h$/ && length_of[f] > 200) broken(f, "has " length_of[f] " lines, more than 200")
        }
        for (i = 1; i <= includes; i++) check_include(where[i], what[i])
        for (f in files) {
            if (!(room(f) in line)) broken(f, "is no room of " tree "/ROOMS")
            if (files[f] > 20) broken(f, "holds " files[f] " C files, more than 20")
            used[room(f)] = 1
        }
        for (r in line) {
            rooms++
            if (!(r in used)) broken(r, "is a room without a file")
            n = split(line[r], to, " ")
            for (i = 1; i <= n; i++)
                if (to[i] in line) arrow[r, to[i]] = 1
                else broken(r, "names " to[i] ", which is no room")
        }
        do { # take away arrows to rooms that know no other, and from rooms that no other knows
            split("", knows); split("", known); gone = 0
            for (a in arrow) { split(a, end, SUBSEP); knows[end[1]] = known[end[2]] = 1 }
            for (a in arrow) {
                split(a, end, SUBSEP)
                if (!(end[2] in knows) || !(end[1] in known)) { delete arrow[a]; gone = 1 }
            }
        } while (gone)
        for (a in arrow) { split(a, end, SUBSEP); broken(end[1], "is in a circle: it knows " end[2]) }
        for (e in excepted) if (!(e in needed)) say(e, "breaks no rule: take its exception away")
        print rooms " passed, " failed + 0 " failed"
    }' "$tree/ROOMS"
done | awk '/ passed, / { passed += $1; failed += $3; next } 1
            END { print passed + 0 " passed, " failed + 0 " failed"; exit failed || !passed }'
