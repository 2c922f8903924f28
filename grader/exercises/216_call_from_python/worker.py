# 216_call_from_python/worker.py: what the cases do in Python. Each function is given the student's
# module first. Those that judge write what is wrong, in words, to `told`.
import contextlib
import ctypes
import gc
import math
import time

import numpy

DELAY = 0.02  # seconds that a launch takes at least, where its rate is looked at


class Cuda:
    """Stands where the student's `cuda` stood, and counts its calls. The call number `at` is not
    made and returns `error`, or is made and Ctrl-C comes right after it. A launch is over when the
    device was waited for, and `delay` later. `held`: allocations of the device that were not freed."""

    def __init__(self, student, at=0, error=None, delay=0.0):
        self.student, self.real, self.at, self.error = student, student.cuda, at, error
        self.delay, self.held = delay, 0
        self.calls, self.refused, self.launched, self.copying = 0, "", False, 0.0

    def __enter__(self):
        self.student.cuda = self
        return self

    def __exit__(self, *_):
        self.student.cuda = self.real

    def __getattr__(self, name):
        real = getattr(self.real, name)

        def called(*arguments):
            self.calls += name != "cudaGetErrorString"
            here = self.calls == self.at
            self.refused = name if here else self.refused
            if here and self.error and "cudaFree" not in name and name != "cudaGetErrorString":
                return self.error
            begin = time.perf_counter()
            result = real(*arguments)
            if result == 0 and "cudaMalloc" in name:
                self.held += bool(arguments[1])  # of 0 bytes there is none
            if result == 0 and "cudaFree" in name:
                self.held -= bool(arguments[0])
            if self.delay and "Memcpy" in name:
                time.sleep(self.delay)
                self.copying += time.perf_counter() - begin
            if self.launched and ("Synchronize" in name or name == "cudaMemcpy"):
                time.sleep(self.delay)
                self.launched = False
            self.launched |= name == "matmul_tiled"
            if here and not self.error:
                raise KeyboardInterrupt
            return result

        return called if callable(real) else real


def tell(told, words):
    text = words.encode()[: len(told) - 1]
    told[:] = 0
    told[: len(text)] = numpy.frombuffer(text, told.dtype)


def in_order(x, rows, cols, order):
    """The same matrix: 0 in C order, 1 in F order, 2 each second column, 3 backwards, 4 of what
    cannot be written, 5 every row the same memory"""
    x = x.reshape(rows, cols)
    if order == 1:
        return numpy.asfortranarray(x)
    if order == 2:
        wide = numpy.full((rows, 2 * cols), 7, x.dtype)
        wide[:, ::2] = x
        return wide[:, ::2]
    if order == 3:
        return numpy.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]
    if order == 4:
        x = x.copy()
        x.flags.writeable = False
    if order == 5:
        return numpy.broadcast_to(x[0], (rows, cols))
    return x


def matmul(student, c, a, b, m, n, k, order):
    product = student.matmul(in_order(a, m, k, order), in_order(b, k, n, order))
    if product.shape != (m, n) or product.dtype != numpy.float32:
        raise TypeError(f"the product of {m} x {k} and {k} x {n} is {product.dtype} {product.shape}")
    c[:] = numpy.asarray(product).ravel()


def refused(what, kind, call):
    """@return "" if it raises this kind of exception, with words in it"""
    try:
        call()
    except kind as error:
        return "" if str(error).strip() else f"{what}: the {kind.__name__} has no words"
    except NotImplementedError:
        raise
    except Exception as error:
        return f"{what} raised {type(error).__name__} ({error}), not {kind.__name__}"
    return f"{what} raised nothing, where {kind.__name__} is due"


def refusals(student, told):
    def of(*shape, kind=numpy.float32):
        return numpy.ones(shape, kind)

    device = student.DeviceArray(2, 3)
    freed = student.DeviceArray(3, 2)
    freed.free()
    freed.free()
    huge = 2**31
    rows = [
        ("a product of float64", TypeError, lambda: student.matmul(of(2, 3, kind=float), of(3, 2))),
        ("a product of int32", TypeError, lambda: student.matmul(of(2, 3), of(3, 2, kind="i4"))),
        ("a product of big-endian floats", TypeError, lambda: student.matmul(of(2, 3, kind=">f4"), of(3, 2))),
        ("a product of lists", TypeError, lambda: student.matmul([[1.0]], [[1.0]])),
        ("a product of 2 x 3 and 2 x 3", ValueError, lambda: student.matmul(of(2, 3), of(2, 3))),
        ("a product of vectors", ValueError, lambda: student.matmul(of(3), of(3))),
        ("an array of -1 rows", ValueError, lambda: student.DeviceArray(-1, 2)),
        ("a product with 2^31 rows", ValueError, lambda: student.matmul(of(huge, 0), of(0, 0))),
        ("an array of 2^31 columns", ValueError, lambda: student.DeviceArray(0, huge)),
        ("an array of 10 TB", RuntimeError, lambda: student.DeviceArray(2500000, 1000000)),
        ("an upload of float64", TypeError, lambda: device.upload(of(2, 3, kind=float))),
        ("an upload of 3 x 2 into 2 x 3", ValueError, lambda: device.upload(of(3, 2))),
        ("an upload into a freed array", ValueError, lambda: freed.upload(of(3, 2))),
        ("a download of a freed array", ValueError, freed.download),
        ("a product with a freed array", ValueError, lambda: student.matmul(device, freed)),
        ("a product of a freed array", ValueError, lambda: student.matmul(freed, device)),
    ]
    device.upload(of(2, 3))
    student.DeviceArray(huge - 1, 0), student.DeviceArray(0, huge - 1)  # the largest that are not refused
    tell(told, next(filter(None, (refused(*row) for row in rows)), ""))
    student.cuda.cudaGetLastError()  # that of the 10 TB
    gc.collect()


def two_alive(student, told, x, y, rows, cols):
    """Two objects at a time, used in turns; the end of one is not the end of the other."""
    x, y = x.reshape(rows, cols), y.reshape(rows, cols)
    first, second = student.DeviceArray(rows, cols), student.DeviceArray(rows, cols)
    first.upload(y)
    kept = first.download()
    first.upload(x)
    second.upload(y)
    good = numpy.array_equal(first.download(), x) and numpy.array_equal(second.download(), y)
    one, other = student.matmul(first, y.T.copy()), student.matmul(second, x.T.copy())
    good = good and numpy.allclose(one, other.T, atol=1e-4) and one.gflops != other.gflops
    student.matmul(one, other)  # a product is an array, too
    del first
    gc.collect()
    again = good and numpy.array_equal(second.download(), y)
    words = "" if again else "of two arrays that live at a time one changed the other"
    if not words and not numpy.array_equal(kept, y):
        words = "what download had returned changed afterwards: each is to be a new array"
    third = student.DeviceArray(rows, cols)
    with Cuda(student, 1), contextlib.suppress(KeyboardInterrupt):
        third.free()
    again = student.DeviceArray(rows, cols)  # may lie where the third did
    again.upload(x)
    third.free()
    del third
    gc.collect()
    if not words and not numpy.array_equal(again.download(), x):
        words = "an array that was freed twice took another one's memory along"
    tell(told, words)


def rate(student, told, n):
    a = numpy.ones((n, n), numpy.float32)
    with Cuda(student, delay=DELAY) as cuda:
        begin = time.perf_counter()
        product = student.matmul(a, a)
        seconds = time.perf_counter() - begin
    flop, words = 2e-9 * n**3, ""
    if not math.isfinite(product.gflops) or product.gflops < 0.999 * flop / seconds:
        words = f"gflops says {product.gflops:.3g}; the whole call was quicker"
    elif product.gflops > 1.001 * flop / DELAY:
        words = f"gflops says {product.gflops:.3g}, of a launch that was not waited for"
    elif product.gflops < 0.999 * flop / (seconds - cuda.copying):
        words = f"gflops says {product.gflops:.3g}, of copies too: the seconds begin with the launch and end with it"
    elif student.matmul(a[:, :0], a[:0]).gflops != 0:
        words = "gflops of a product with k = 0 is not 0"
    tell(told, words)


def broken_off(student, at, error):
    """@return what is wrong when call number `at` fails, or None when there are fewer"""
    a = numpy.arange(30 * 7, dtype=numpy.float32).reshape(30, 7)
    how = "was refused memory" if error else "was interrupted"
    kind = RuntimeError if error else KeyboardInterrupt
    words = ""
    gc.collect()  # what earlier calls left is not freed in this one
    with Cuda(student, at, error) as cuda:
        try:
            student.matmul(a, a.T)
            if cuda.calls < at:
                return None if cuda.calls else "no call of `cuda` was seen: call cuda.matmul_tiled"
            if error and "cudaFree" not in cuda.refused:
                words = f"raised nothing when call {at} {how}"
        except kind as raised:
            if error and "memory" not in str(raised):
                words = f"raised {raised}, where cudaGetErrorString says: out of memory"
        gc.collect()
    if words or cuda.held <= 0:
        return words
    return f"keeps {cuda.held} allocations of the device when call {at} of `cuda` {how}"


def breaking_off(student, told, error):
    words, at = "", 0
    while words == "":
        at += 1
        words = broken_off(student, at, error)
    tell(told, words or "")
