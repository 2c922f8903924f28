# lots.sh: several programs compiled as one, each in a namespace of its own, for most of a compiler's time goes
# to the headers. For run, programs.sh and diagnose, which set $emulator and $build.
# shellcheck shell=bash disable=SC2154

value() { # KEY FILE: what its first lines state
    sed -n "s|^// $1: *||p" "$2"
}

name_of() {
    basename "$1" .cu
}

# together FILE...: one program of them all; its argument says which is to run.
together() {
    local file
    grep -h '^#include <' "$@" | sort -u
    for file in "$@"; do
        sed -n "s|^#include \"\(.*\)\"|$(dirname "$file")/\1|p" "$file"
    done | xargs -r realpath | sort -u | sed 's/.*/#include "&"/'
    echo '#include <cstring>'
    for file in "$@"; do printf '#define main program\nnamespace %s {\n#include "%s"\n}\n#undef main\n' "$(name_of "$file")" "$file"; done
    printf 'int main(int, char **arguments)\n{\n'
    for file in "$@"; do printf 'if (!strcmp(arguments[1], "%s")) return %s::program();\n' "$(name_of "$file")"{,}; done
    printf 'return 1;\n}\n'
}

headers_once() { # FRONTEND: clang's are compiled for all lots
    [ "$1" != clang ] || CUCC_FRONTEND=clang "$emulator/cucc" --precompile "$build/clang" >&2
}

# compile FRONTEND PROGRAM SOURCE [FLAG...]: unless it is there and nothing is newer.
compile() {
    local frontend=$1 program=$2 source=$3 parts
    shift 3
    mapfile -t parts < <(sed -n "s|^#include \"\(/.*\)\"|\1|p; s|^#include \"\([^/].*\)\"|${source%/*}/\1|p" "$source")
    [ -z "$(find "$source" "${parts[@]}" "$emulator/cucc" "$emulator"/{*.h,frontends,include,device/*.h} -newer "$program" 2>&1)" ] && return
    rm -f "$program"
    CUCC_FRONTEND=$frontend "$emulator/cucc" --precompiled="$build/clang" -I"$here/diagnostics" "$@" "$source" -o "$program" >"$program.log" 2>&1
}
