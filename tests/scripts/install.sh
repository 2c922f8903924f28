#!/bin/sh
# install.sh: softgpu without the course: what `make install` and `pip install ./emulator` bring compiles
# a program elsewhere, and the program is told its mistake. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
[ -n "${CUCC_FRONTEND:-}" ] || { echo 'skipped: needs nvcc or clang'; exit 0; }
unset MAKEFLAGS MFLAGS MAKELEVEL CUCC_LIBRARY
. tests/scripts/tally.sh

works() { # PREFIX: with nothing of the course in sight
    cp emulator/examples/past_the_end.cu "$scratch/x.cu"
    (cd "$scratch" && env -u COURSE_ROOT -u COURSE_BUILD "$1/bin/cucc" x.cu -o x -lcublas && ./x) >"$scratch/said" 2>&1
    cat "$scratch/said"
    ldd "$scratch/x" | grep "libsoftgpu.so => $1/lib/softgpu/libsoftgpu.so" && grep 'out of bounds: .*x.cu:7' "$scratch/said"
}

moved() {
    mv "$scratch/here" "$scratch/elsewhere" && works "$scratch/elsewhere"
}

in_an_environment() { # made before: no index is asked
    python3 -m venv "$scratch/env" &&
        "$scratch/env/bin/pip" install --no-index --disable-pip-version-check -q ./emulator &&
        works "$scratch/env"
}

check 'make install' make -f emulator/emulator.mk BUILD="$COURSE_BUILD" install PREFIX="$scratch/here"
check 'what is installed works' works "$scratch/here"
check 'and may be moved' moved
if python3 -c 'import ensurepip, venv' 2>/dev/null; then
    check 'pip install' in_an_environment
else
    echo 'skipped: pip install needs python3-venv'
fi
tally
