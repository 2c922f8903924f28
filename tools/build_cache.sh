#!/bin/sh
# build_cache.sh key|build: build/ from a cache, as CI keeps one from run to run.
#
#   key     a hash of all that build/ depends on: the course's files, the compilers, the machine
#   build   build the grader; with a build/ that belongs to the key nothing is compiled
#
# A fresh checkout is newer than what was built from the same files before, so make would build it
# all again: the files are made old first. The set-up runs each time, because it installs libraries
# too; when it finds the same as before, config.mk keeps its time.
set -eu
cd "$(dirname "$0")/.."
config=build/config.mk

sources() {
    find Makefile common emulator grader tools phase?_*/*.h phase?_*/*/*.h prebuilt -type f 2>/dev/null | LC_ALL=C sort
}

case ${1:-} in
key)
    {
        sources | tr '\n' '\0' | xargs -0 sha256sum
        uname -m
        for compiler in cc c++ clang nvcc; do "$compiler" --version 2>/dev/null || :; done
        grep -m 1 'model name' /proc/cpuinfo || : # phase 1 is compiled for this one
    } | sha256sum | cut -c 1-32
    ;;
build)
    if [ -e $config ]; then
        sources | tr '\n' '\0' | xargs -0 touch -d 2000-01-01
        cp -p $config $config.cached
    fi
    make setup
    if cmp -s $config $config.cached; then mv $config.cached $config; fi
    rm -f $config.cached
    make all
    ;;
*)
    sed -n '2,5s/^# *//p' "$0"
    exit 2
    ;;
esac
