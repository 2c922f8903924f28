# skeleton.awk: the skeleton of one solution.
#
#   /* SOLUTION: text. */ ... /* END SOLUTION */   becomes   /* TODO: text. */
#
# and, when that stands in the body of a host function and is the first such region there, the line
# NOT_IMPLEMENTED(parameters of the function); follows. A region that ends with a return leaves
# `return 0;`; of a cudaError_t `return cudaSuccess;`, of whatever type in device code `return {};`. The text
# may span several lines. Of
#
#   #ifdef BROKEN ... #else ... #endif, or #ifndef BROKEN ... #endif
#
# the broken side stays, which the solution does not compile. All other lines stay as they are: a part
# of an exercise, a .cuh, without a region is given whole.

function fail(text)
{
    printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
    failed = 1
    exit 1
}

# The line without comments and the contents of strings; `in_comment` carries over to the next line.
function code_of(line,    out, c, two, quote)
{
    out = ""
    while (line != "") {
        two = substr(line, 1, 2)
        c = substr(line, 1, 1)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; line = substr(line, 3) } else line = substr(line, 2)
        } else if (two == "/*") {
            in_comment = 1
            line = substr(line, 3)
        } else if (two == "//") {
            break
        } else if (c == "\"" || c == "'") {
            quote = c
            for (line = substr(line, 2); line != "" && substr(line, 1, 1) != quote;)
                line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
            line = substr(line, 2)
            out = out quote quote
        } else {
            out = out c
            line = substr(line, 2)
        }
    }
    return out
}

# Follow the braces; `signature` is the text before the one that opened the current outermost block.
function follow(text,    i, c)
{
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "{") {
            if (depth++ == 0) { signature = pending; stubbed = 0 }
        } else if (c == "}") {
            if (--depth == 0) pending = ""
        } else if (depth == 0) {
            pending = c == ";" ? "" : pending c
        }
    }
    pending = pending " "
}

function in_host_function()
{
    return depth > 0 && signature ~ /\)[ \t]*$/ && signature !~ /__(global|device)__/
}

# "double (*f)(const float *, void *)" -> "f", "const float *a" -> "a", "void" -> ""
function parameter_name(text)
{
    if (text ~ /\(/) {
        sub(/^[^(]*\([^(]*\*[ \t]*/, "", text)
        sub(/\).*$/, "", text)
    }
    sub(/\[.*$/, "", text)
    sub(/[ \t]+$/, "", text)
    if (text == "void") return ""
    sub(/^.*[^A-Za-z0-9_]/, "", text)
    return text
}

# The names of the parameters in `signature`, separated by commas.
function parameter_names(    i, c, level, text, names, name)
{
    names = text = ""
    level = 0
    for (i = length(signature); i > 0; i--) {
        c = substr(signature, i, 1)
        if (c == ")" && level++ == 0) continue
        if (c == "(" && --level == 0 || c == "," && level == 1) {
            name = parameter_name(text)
            if (name != "") names = names == "" ? name : name ", " names
            text = ""
            if (level == 0) break
        } else if (level > 0) {
            text = c text
        }
    }
    return names == "" ? "0" : names
}

# A call that is no wider than 100 columns, its arguments aligned.
function print_stub(left, names,    line, margin, n, i, word, part)
{
    line = left "NOT_IMPLEMENTED("
    margin = line
    gsub(/./, " ", margin)
    n = split(names, word, ", ")
    for (i = 1; i <= n; i++) {
        part = word[i] (i < n ? "," : ");")
        if (length(line) + length(part) + 1 > 100) { print line; line = margin }
        line = line (line ~ /[( ]$/ ? "" : " ") part
    }
    print line
}

/\/\* SOLUTION: / {
    if (in_region) fail("a SOLUTION inside a SOLUTION")
    in_region = in_marker = 1
    regions++
    indent = $0
    sub(/[^ ].*$/, "", indent)
    sub(/SOLUTION: /, "TODO: ")
}

/\/\* END SOLUTION \*\// {
    if (!in_region) fail("END SOLUTION without SOLUTION")
    in_region = 0
    if (depth > 0 && last ~ /^ *return /)
        print indent (signature ~ /^[^(]*cudaError_t/ ? "return cudaSuccess;" : signature ~ /__device__/ ? "return {};" : "return 0;")
    next
}

/^#ifn?def BROKEN$/ { side = $1 == "#ifdef" ? "broken" : "mended"; regions++; next }
side && /^#else$/ { side = "mended"; next }
side && /^#endif$/ { side = ""; next }
side == "mended" { next }

in_marker {
    print
    if (/\*\//) {
        in_marker = 0
        if (in_host_function() && !stubbed) {
            print_stub(indent, parameter_names())
            stubbed = 1
        }
    }
    next
}

{
    if (!in_region) print
    last = $0
    code = code_of($0)
    if (in_directive || code ~ /^[ \t]*#/) in_directive = code ~ /\\$/
    else follow(code)
}

END {
    if (failed) exit 1
    if (in_region) fail("SOLUTION without END SOLUTION")
    if (side) fail("BROKEN without #endif")
    if (!regions && FILENAME !~ /\.cuh$/) fail("no SOLUTION region: its skeleton would be the solution")
}
