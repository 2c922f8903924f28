#!/usr/bin/awk -f
# compile_commands.awk: the commands of compilers in, compile_commands.json out.
BEGIN { print "[" }
/ -c / {
    for (i = 1; i <= NF; i++) if ($i ~ /\.cu?$/) file = $i
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    printf "%s{\"directory\": \"%s\", \"file\": \"%s\", \"command\": \"%s\"}", \
           comma, ENVIRON["PWD"], file, $0
    comma = ",\n"
}
END { print "\n]" }
