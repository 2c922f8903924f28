#!/bin/sh
# copies.sh: has each whole file of the corpus enough lines of its own? It prints a line for each
# that has not, then counts. A file is held against the solution of its exercise and against the
# other whole files of its corpus. Those of hostile/ are many small deeds around the same few lines,
# and are not held against each other.
#
# More than 40 lines of code must be in no other; of a file that is shorter than 80, half. Otherwise
# it is to be a patch. Comments, includes and lines without a letter or digit do not count.
cd "${COURSE_ROOT:-.}" || exit 2
find solutions grader/exercises/*/*/ -type f \( -name '*.c' -o -name '*.cu*' \) | sort | xargs awk '
    FNR == 1 {
        path[++files] = name = FILENAME
        sub(name ~ /^solutions/ ? "^solutions/[^/]*/" : "^grader/exercises/", "", name)
        split(name, part, "/")
        exercise[files] = substr(name, 1, 3)
        kind[files] = part[2]
        inside = 0
    }
    inside { if (!sub(/^.*\*\//, "")) next; inside = 0 }
    {
        sub(/\/\/.*/, "")
        gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "")
        inside = sub(/\/\*.*/, "")
        gsub(/[ \t]/, "")
        if (/[A-Za-z0-9]/ && !/^#include/) line[files, ++lines[files]] = $0
    }
    function own(f, g,   i, n, left) { # how many lines of f are not in g
        for (i = 1; i <= lines[g]; i++) left[line[g, i]]++
        for (i = 1; i <= lines[f]; i++) n += left[line[f, i]]-- < 1
        return n + 0
    }
    function is_held_against(f, g) {
        return g != f && exercise[g] == exercise[f] && kind[f] kind[g] != "hostilehostile"
    }
    function is_copy(f,   g, n) {
        for (g = 1; g <= files; g++) {
            n = is_held_against(f, g) ? own(f, g) : 41
            if (n > 40 || 2 * n >= lines[f]) continue
            print path[f] ": only " n " of its " lines[f] " lines are not in " path[g]
            return 1
        }
        return 0
    }
    END {
        for (f = 1; f <= files; f++)
            if (kind[f] != "") is_copy(f) ? failed++ : passed++
        print passed + 0 " passed, " failed + 0 " failed"
        exit failed || !passed
    }'
