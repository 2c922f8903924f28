#!/bin/sh
# build_cache.sh: a build folder from a cache, in a fresh checkout that is newer than it: nothing is
# compiled again; and another source is another key. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
git rev-parse HEAD >/dev/null 2>&1 || { echo 'skipped: a handout'; exit 0; }
unset MAKEFLAGS MFLAGS MAKELEVEL
work=$COURSE_BUILD/test/cache build=$COURSE_BUILD
rm -rf "$work"
mkdir -p "$work/build"
git ls-files | grep -v '^grader/exercises/.*/hostile/' | tr '\n' '\0' | xargs -0 cp --parents -t "$work" || exit 1
for part in config.mk obj emulator remote grader libcourse.so libsoftgpu.so libsoftgpu_cublas.so softgpu_device \
    worker_cpu worker_softgpu worker_cuda python_worker.so python_worker_softgpu.so python_worker_cuda.so \
    python_driver.py python_cases.py; do
    [ ! -e "$build/$part" ] || cp -r --preserve=timestamps "$build/$part" "$work/build/"
done
passed=0 failed=0
cd "$work" || exit 2
unset COURSE_ROOT COURSE_BUILD

check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED $what"; fi
}

key=$(tools/build_cache.sh key)
NO_INSTALL=1 tools/build_cache.sh build >log 2>&1
check 'the build succeeds' [ $? = 0 ]
check 'nothing is compiled or linked again' [ "$(grep -cE '^(cc|link|cucc) ' log)" = 0 ]
check 'the key stays' [ "$(tools/build_cache.sh key)" = "$key" ]
echo '/* edited */' >>grader/main.c
check 'an edit changes it' [ "$(tools/build_cache.sh key)" != "$key" ]
[ "$failed" = 0 ] || tail -n 20 log
rm -rf "$work"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
