#!/bin/sh
# torch_ops.sh: the package that `make optimized_ops` makes, its C interface on softgpu. torch_ops.py beside
# this has what needs torch and a GPU, too. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
[ -n "${CUCC_FRONTEND:-}" ] || { echo 'skipped: needs nvcc or clang'; exit 0; }
python=${PYTHON:-/usr/bin/python3}
"$python" -I -c 'import numpy' 2>/dev/null || { echo 'skipped: needs python3 with NumPy'; exit 0; }
unset MAKEFLAGS MFLAGS MAKELEVEL EX PHASE CASE SEED

make BUILD="$COURSE_BUILD" BACKEND=cpu optimized_ops SUBMISSION=solutions || { echo '0 passed, 1 failed'; exit 1; }
PYTHONPATH=$COURSE_BUILD "$python" -B tests/programs/torch_ops.py
