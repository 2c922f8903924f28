#!/bin/sh
# cuda_nn.sh: `pip install ./python` brings a package that multiplies and trains elsewhere, with nothing of the
# course in sight. The last line counts.
set -u
cd "$COURSE_ROOT" || exit 2
[ -n "${CUCC_FRONTEND:-}" ] || { echo 'skipped: needs nvcc or clang'; exit 0; }
python3 -m pip --version >/dev/null 2>&1 || { echo 'skipped: needs pip'; exit 0; }
python=${PYTHON:-/usr/bin/python3}
"$python" -I -c 'import numpy' 2>/dev/null || { echo 'skipped: needs python3 with NumPy'; exit 0; }
unset MAKEFLAGS MFLAGS MAKELEVEL
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

SUBMISSION=solutions BACKEND=cpu python3 -m pip install --no-index --no-deps --disable-pip-version-check \
    --root-user-action ignore -q --target "$scratch/made" ./python || { echo '0 passed, 1 failed'; exit 1; }
mv "$scratch/made" "$scratch/elsewhere"
cat >"$scratch/program.py" <<'END'
import numpy
from cuda_nn import DeviceArray, NeuralNetworkGPU, matmul

a = numpy.arange(21, dtype=numpy.float32).reshape(3, 7)
c = matmul(a.T, DeviceArray(3, 2))
assert c.shape == (7, 2)
c = matmul(a, a.T)
assert numpy.array_equal(c, a @ a.T) and c.gflops > 0
X, y = numpy.eye(40, 6, dtype=numpy.float32), numpy.arange(40) % 2
assert 0 <= NeuralNetworkGPU(6, 5, 2).fit(X, y, epochs=1).evaluate(X, y) <= 1
try:
    matmul(a, a)
except ValueError as error:
    print(error)
END
cat >"$scratch/compile.py" <<'END'
import numpy
from cuda_nn import CompileError, compile

source = """
template <typename T> __global__ void add(T *x, int n, double y, size_t m) { if (threadIdx.x < n) x[threadIdx.x] += y * m; }
struct pair { int a, b; };
__global__ void by_value(pair p) {}
"""
x = numpy.zeros(4, numpy.float32)
add = compile(source, "add<float>")
assert add.types == ["u64", "u32", "f64", "u64"] and ".entry" in add.ptx


def refuses(kind, words, call, *arguments, **sizes):
    try:
        call(*arguments, **sizes)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"went through, and should say: {words}")


refuses(CompileError, 'identifier "y" is undefined', compile, "__global__ void f(int *x) { *x = y; }", "f")
refuses(CompileError, 'identifier "g" is undefined', compile, "__global__ void f() {}", "g")
refuses(TypeError, "has 4 parameters, and 1 came", add, x, block=4)
refuses(TypeError, "argument 2 of add<float> is no pointer", add, x, x, 1, 1, block=4)
refuses(TypeError, "2.5 is no integer of 32 bits", add, x, 2.5, 1, 1, block=4)
refuses(TypeError, "4294967296 is no integer of 32 bits", add, x, 2**32, 1, 1, block=4)
refuses(TypeError, "no str can be", add, "x", 4, 1, 1, block=4)
refuses(TypeError, "of type b8", compile(source, "by_value"), 1, block=1)
refuses(ValueError, "block=(0, 1)", add, x, 4, 1, 1, block=(0, 1))
refuses(ValueError, "grid=()", add, x, 4, 1, 1, grid=(), block=1)
print("compiled, and refused in words")
END
cat >"$scratch/draw.py" <<'END'
import gzip, numpy, os

os.makedirs("data/mnist")
for part, rows in ("train", 60), ("t10k", 20):
    labels = numpy.arange(rows, dtype=numpy.uint8) % 10
    images = numpy.zeros((rows, 784), numpy.uint8)
    images[numpy.arange(rows), 50 * labels.astype(int)] = 255
    for kind, header, data in ("images-idx3", 16, images), ("labels-idx1", 8, labels):
        with gzip.open(f"data/mnist/{part}-{kind}-ubyte.gz", "wb") as file:
            file.write(bytes(header) + data.tobytes())
END
course=$COURSE_ROOT passed=0 failed=0
unset COURSE_ROOT COURSE_BUILD COURSE_DATA
export PYTHONPATH="$scratch/elsewhere"
cd "$scratch" || exit 2

check() { # WORDS COMMAND...: do they stand in its last line?
    words=$1
    shift
    said=$("$@" 2>&1)
    case $(echo "$said" | tail -n 1) in
    *"$words"*) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)) && echo "FAILED $*: $said" ;;
    esac
}

check '3 x 7 times 3 x 7: the inner sizes differ' "$python" program.py
check 'there is no train-images-idx3-ubyte in data/mnist: make data' "$python" "$course/programs/mnist/train_mnist.py"
if "$python" -c 'import cuda_nn; cuda_nn.compile("__global__ void f() {}", "f")' 2>/dev/null; then
    check 'compiled, and refused in words' "$python" compile.py
    [ -e /dev/nvidia0 ] || check 'no GPU here: compiled, but nothing can run it' "$python" "$course/programs/first/twice.py"
    [ ! -e /dev/nvidia0 ] || check '1998.0' "$python" "$course/programs/first/twice.py"
else
    check 'no libnvrtc here: it is a part of the CUDA toolkit' "$python" "$course/programs/first/twice.py"
fi
"$python" draw.py
check 'test accuracy 100.00 %' "$python" "$course/programs/mnist/train_mnist.py" 30 60
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
