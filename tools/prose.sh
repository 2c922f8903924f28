#!/bin/sh
# prose.sh: words that mark a sentence as hard to read, counted in README, docs and pages, and
# codespell over all text that people read. A count may only fall: lower its limit with it.
# CONTRIBUTING.md names them.
set -u
cd "$(dirname "$0")/.."
passed=0 failed=0

check() { # COUNT LIMIT WORDS: a test
    if [ "$1" -gt "$2" ]; then
        printf 'prose: %s times %s, at most %s\n' "$1" "$3" "$2"
        failed=$((failed + 1))
    else
        [ "$1" = "$2" ] || printf 'prose: %s: the limit may fall to %s\n' "$3" "$1"
        passed=$((passed + 1))
    fi
}

# Without the tables that commands write.
text=$(git ls-files '*.md' | xargs awk '/^<!-- end -->/ { inside = 0 } !inside; /^<!-- (numbers|facts|tsv|report|grades)/ { inside = 1 }')
while IFS='	' read -r limit pattern; do
    check "$(printf '%s\n' "$text" | grep -oE "$pattern" | wc -l)" "$limit" "$pattern"
done <<'END'
1	\b([Nn]obody|[Ss]omebody|[Ee]verybody)\b
0	(^|[.!?:] )What (is|it|they|a|the|was|has)\b
29	\bof (those|that|what)\b
4	\bwants?\b
3	\b(lies|lie|stands?)\b
0	(^|[.!?:] )(Who|Whoever)\b
2	\bbeside\b
15	\bthere (is|are)\b
END

# Names in code and pieces of strings, which are no mistakes.
spell='thid,halfs,nd,fro,te,tring,ssee,inout'
if command -v codespell >/dev/null; then
    check "$(git ls-files '*.md' '*.[ch]' '*.cu' '*.cuh' '*.sh' '*.awk' '*.py' '*.def' | xargs codespell -L "$spell" | tee -a /dev/stderr | wc -l)" 0 codespell
else
    echo 'skipped: codespell (needs codespell)'
fi
echo "prose: $passed passed, $failed failed"
[ "$failed" = 0 ]
