#!/bin/sh
# fuzz.sh [SECONDS [NAME...]]: fuzz what the grader reads from others, each reader for SECONDS (60),
# from the inputs in NAME/. New inputs that reach new code stay in build/fuzz/grader/NAME; one that
# breaks a promise is left beside them, and the script fails. Wants clang with its sanitizers.
set -eu
cd "$(dirname "$0")/../../.."
seconds=${1:-60}
[ $# = 0 ] || shift
[ $# -gt 0 ] || set -- idx reply weights settings archive
build=${BUILD:-build}/fuzz/grader
checks=address,undefined

targets=
for name; do targets="$targets $build/fuzz_$name"; done
# shellcheck disable=SC2086
NO_INSTALL=1 make BUILD="$build" CC="${CLANG:-clang}" LDFLAGS=-fsanitize=$checks \
    CFLAGS="-O1 -g -Wno-unknown-warning-option -fsanitize=fuzzer-no-link,$checks \
            -fno-sanitize-recover=undefined" $targets

fuzz() { # NAME FLAG...: its words are in a log, for the readers have their own
    name=$1
    shift
    mkdir -p "$build/$name"
    if "$build/fuzz_$name" -max_total_time="$seconds" -max_len=16384 -rss_limit_mb=3000 \
        -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="$build/$name-" "$@" \
        "$build/$name" "tests/fuzz/grader/$name" >/dev/null 2>"$build/$name.log"; then
        sed -n "s/^stat::number_of_executed_units: */$name: executions /p" "$build/$name.log"
    else
        tail -n 60 "$build/$name.log"
        return 1
    fi
}

for name; do
    case $name in
    reply) fuzz reply -timeout=86400 ;; # the alarm would be Check's, which ends the process group
    *) fuzz "$name" -timeout=10 ;;
    esac
done
