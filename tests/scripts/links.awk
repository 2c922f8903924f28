# links.awk LIST PAGE...: of a built book, what leads nowhere: to a file that LIST does not name, to a
# place that its page does not have, or to a network, for something that a page loads. Exit status 1 if any.
NR == FNR { there[$0] = 1; next }

FNR == 1 { RS = "<"; page = FILENAME; folder = page; sub(/[^\/]*$/, "", folder) }

{
    sub(/>.*/, "")
    if (match($0, / id="[^"]*"/)) place[page "#" substr($0, RSTART + 5, RLENGTH - 6)] = 1
    if (!match($0, / (href|src|data)="[^"]*"/)) next
    target = substr($0, RSTART, RLENGTH - 1)
    sub(/^[^"]*"/, "", target)
    if (target ~ /^(https?:)?\/\// && $0 !~ /^a /) wrong(page, target " is loaded from a network")
    if (target !~ /^([a-z]+:|\/\/|#$|$)/) link[page "\t" plain(folder, target)] = target
}

function plain(folder, target) { # without .. and ?
    sub(/\?[^#]*/, "", target)
    target = target ~ /^#/ ? page target : folder target
    while (sub(/[^\/]+\/\.\.\//, "", target)) {}
    return target
}

function wrong(page, what) { print page ": " what; count++ }

END {
    for (key in link) {
        split(key, at, "\t")
        file = at[2]
        sub(/#.*/, "", file)
        if (!(file in there)) wrong(at[1], link[key] " is not there")
        else if (at[2] ~ /#./ && file ~ /\.html$/ && !(at[2] in place)) wrong(at[1], link[key] " is no place there")
        checked++
    }
    print checked + 0 " links, " count + 0 " of them dead"
    exit count > 0 || !checked
}
