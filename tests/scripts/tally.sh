# tally.sh: what scripts of tests share; they include it, and end with tally. $scratch is an empty
# folder that goes when the script ends.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

check() { # NAME COMMAND...: it succeeds
    name=$1
    shift
    if "$@" >"$scratch/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok $name"
    else
        failed=$((failed + 1))
        echo "FAILED $name"
        head -n 30 "$scratch/log" | sed 's/^/    /'
    fi
}

# The last line counts.
tally() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}
