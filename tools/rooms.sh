#!/bin/sh
# rooms.sh: does the code of the course keep to its rooms? It prints a line for each violation, then
# how many rooms and violations there are. A file ROOMS lists the rooms of its folder, with paths from
# there; that of the top level says what the trees may include of each other. In it:
#
#   device/memory: device/base   files of this folder (or this file) may include those of that, and
#                                their own; `.` is the folder of ROOMS
#   exercises/*: shared call     `*` is any text and `?` a letter: all below is one room, but for the
#                                files that a longer name fits
#   except PATH: REASON          a folder or header that is too large today; the list only shrinks
#
# The rules: each file of code is in a room; includes follow its line; the lines make no circle; no
# folder holds more than 20 files, no header more than 200 lines. The corpus of submissions is left out.
cd "${COURSE_ROOT:-.}" || exit 2
find * -regex 'build\|results\|data\|grader/exercises/.*/\(wrong\|right\|slow\|fast\|hostile\)' -prune -o \
    -type f -regex 'ROOMS\|.*\(/ROOMS\|\.\([ch]\|cuh?\|cpp\|py\|js\|sh\|awk\)\)' -print |
sort | awk '
    function say(path, what) { print path ": " what; failed++ }
    function too_large(path, what) {
        if (path in excepted) needed[path] = 1
        else say(path, what)
    }
    function folder_of(path) { return sub(/\/[^\/]*$/, "", path) ? path : "." }
    function tree_of(path) { sub(/\/.*/, "", path); return path }
    function from_top(book, name) { return book == "" ? name : name == "." ? book : book "/" name }
    function read_room(book,   name, part, i, n) {
        name = $0
        sub(/:.*/, "", name)
        if (sub(/^except /, "", name)) { excepted[from_top(book, name)] = 1; return }
        n = split(substr($0, length(name) + 2), part, " ")
        name = from_top(book, name)
        rooms[book] = rooms[book] name " "
        allowed[book, name, name] = 1
        for (i = 1; i <= n; i++) allowed[book, name, from_top(book, part[i])] = 1
    }
    function fits(path, name) {
        if (name !~ /[*?]/) return name == path || name == folder_of(path)
        gsub(/\./, "\\.", name); gsub(/\*/, ".*", name); gsub(/\?/, ".", name)
        return path ~ "^" name "$"
    }
    function room(path, book,   name, i, n) { # the longest name that fits, "" if none
        if ((book, path) in room_of) return room_of[book, path]
        room_of[book, path] = ""
        n = split(rooms[book], name, " ")
        for (i = 1; i <= n; i++)
            if (length(name[i]) > length(room_of[book, path]) && fits(path, name[i]))
                room_of[book, path] = name[i]
        used[book, room_of[book, path]] = 1
        return room_of[book, path]
    }
    function included(file, path,   folder, t) { # the file that is meant, "" if none
        for (folder = folder_of(file); sub(/^\.\.\//, "", path); ) folder = folder_of(folder)
        folder = folder == "." ? path : folder "/" path
        if (folder in lines) return folder
        if ((tree_of(file) "/" path) in lines) return tree_of(file) "/" path
        for (t in trees) if ((t "/" path) in lines) return t "/" path
        if ((tree_of(file), path) in named) return named[tree_of(file), path]
        for (t in trees) if (t ~ /^phase/ && (t, path) in named) return named[t, path]
        return ""
    }
    function check_include(file, path,   to, book, r) {
        to = included(file, path)
        if (to == "") { if (path ~ /\.(h|cuh|c)$/) say(file, "includes " path ", which is nowhere"); return }
        book = tree_of(file)
        if (book != tree_of(to) || !(book in rooms)) book = ""
        if (!((book, room(file, book), room(to, book)) in allowed))
            say(file, "includes " to ", but " room(file, book) " may not know " room(to, book))
    }
    /(^|\/)ROOMS$/ {
        file = $0; book = file == "ROOMS" ? "" : folder_of(file)
        while ((getline < file) > 0) if (!/^(#|$)/) read_room(book)
        next
    }
    {
        file = $0; lines[file] = 0; trees[tree_of(file)]
        files[folder_of(file)]++
        name = file; sub(/.*\//, "", name)
        named[tree_of(file), name] = file
        for (code = file ~ /\.(c|h|cuh?|cpp)$/; (getline < file) > 0; lines[file]++)
            if (code && /^ *# *include "/) { split($0, part, "\""); where[++includes] = file; what[includes] = part[2] }
        close(file)
    }
    END {
        for (f in lines) {
            if (f ~ /\.h$/ && lines[f] > 200) too_large(f, "has " lines[f] " lines, more than 200")
            book = tree_of(f) in rooms ? tree_of(f) : ""
            if (room(f, book) == "" || room(f, "") == "") say(f, "is in no room of " from_top(book, "ROOMS"))
        }
        for (f in files) if (files[f] > 20) too_large(f, "holds " files[f] " files of code, more than 20")
        for (i = 1; i <= includes; i++) check_include(where[i], what[i])
        for (a in allowed) {
            split(a, end, SUBSEP)
            if (end[2] == end[3]) { count++; if (!((end[1], end[2]) in used)) say(end[2], "is a room without a file") }
            else if ((end[1], end[3], end[3]) in allowed) arrow[a]
            else say(end[2], "names " end[3] ", which is no room")
        }
        do { # take away arrows to rooms that know no other, and from rooms that no other knows
            split("", knows); split("", known); gone = 0
            for (a in arrow) { split(a, end, SUBSEP); knows[end[1], end[2]] = known[end[1], end[3]] = 1 }
            for (a in arrow) {
                split(a, end, SUBSEP)
                if (!((end[1], end[3]) in knows) || !((end[1], end[2]) in known)) { delete arrow[a]; gone = 1 }
            }
        } while (gone)
        for (a in arrow) { split(a, end, SUBSEP); say(end[2], "is in a circle: it knows " end[3]) }
        for (e in excepted) if (!(e in needed)) say(e, "breaks no rule: take its exception away")
        print count + 0 " passed, " failed + 0 " failed"
        exit failed || !count
    }'
