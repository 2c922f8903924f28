# RIGHT: one allocation; a whole epoch is sent in its order and walked by addresses; four calls of Adam
import ctypes as c
import os
import sys

import numpy as np

cuda = c.CDLL(os.environ["COURSE_LIBRARY"])
cuda.cudaGetErrorString.restype = c.c_char_p
P, I, F, Z = c.c_void_p, c.c_int, c.c_float, c.c_size_t
cuda.cudaMalloc.argtypes = [c.POINTER(P), Z]
cuda.cudaFree.argtypes = [P]
cuda.cudaMemcpy.argtypes = [P, P, Z, I]
cuda.cudaMemset.argtypes = [P, I, Z]
cuda.linear_forward.argtypes = [P, P, P, P, I, I, I, P]
cuda.linear_backward.argtypes = [P] * 6 + [I, I, I, P]
cuda.relu_forward.argtypes = [P, P, Z, P]
cuda.relu_backward.argtypes = [P, P, P, Z, P]
cuda.softmax_cross_entropy.argtypes = [P, P, P, P, I, I, I, P]
cuda.adam_update.argtypes = [P, P, P, P, Z, F, F, F, F, F, I, P]


def go(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        raise RuntimeError(name + ": " + cuda.cudaGetErrorString(code).decode())


class Arena:
    """Arrays of 4-byte elements, one behind the other, each at a multiple of 256 bytes."""

    def __init__(self, **counts):
        self.start, self.offset, end = P(), {}, 0
        for name, count in counts.items():
            self.offset[name] = end
            end += (4 * count + 255) // 256 * 256
        go("cudaMalloc", c.byref(self.start), end)
        go("cudaMemset", self.start, 0, end)

    def __getitem__(self, name):
        return self.start.value + self.offset[name]

    def put(self, name, array):
        dense = np.array(array, order="C")
        go("cudaMemcpy", self[name], dense.ctypes.data, dense.nbytes, 1)

    def get(self, name, shape):
        array = np.zeros(shape, np.float32)
        go("cudaMemcpy", array.ctypes.data, self[name], array.nbytes, 2)
        return array

    def __del__(self):
        start, self.start = self.start, P()
        if start:
            cuda.cudaFree(start)


class NeuralNetworkGPU:
    NAMES = ("w1", "b1", "w2", "b2")

    def __init__(self, inputs, hidden, classes, lr=1e-3, seed=0):
        if min(inputs, hidden, classes) < 1 or max(inputs, hidden, classes) >= 1 << 31:
            raise ValueError("layers have between 1 and 2^31 - 1 units")
        self.dims, self.lr, self.random = (inputs, hidden, classes), lr, np.random.RandomState(seed)
        self.like = {"w1": (hidden, inputs), "b1": hidden, "w2": (classes, hidden), "b2": classes}
        counts = {k: int(np.prod(v)) for k, v in self.like.items()}
        kinds = ("", "grad_", "m_", "v_")
        self.state = Arena(**{kind + k: n for kind in kinds for k, n in counts.items()})
        for k in ("w1", "w2"):
            shape = self.like[k]
            self.state.put(k, np.float32(self.random.randn(*shape) * (2 / shape[1]) ** 0.5))
        self.counts, self.steps, self.history = counts, 0, []

    def free(self):
        self.state = None

    def _alive(self):
        if self.state is None:
            raise ValueError("after free() a network is of no use")
        return self.state

    def parameters(self):
        state = self._alive()
        return [state.get(k, self.like[k]) for k in self.NAMES]

    def _look_at(self, x, y, least):
        self._alive()
        if not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)):
            raise TypeError("rows and labels come as arrays of NumPy")
        if x.dtype.name != "float32" or not np.issubdtype(y.dtype, np.integer):
            raise TypeError("rows are float32 and labels integers; here %s, %s" % (x.dtype, y.dtype))
        if x.shape[1:] != self.dims[:1] or y.shape != x.shape[:1] or len(x) < least:
            raise ValueError("%s and %s do not fit this network" % (x.shape, y.shape))
        if not np.isin(y, np.arange(self.dims[2])).all():
            raise ValueError("a label is not below %d, or negative" % self.dims[2])

    def _batch(self, rows, share):
        """An arena for so many rows, of which `share` are in hand at a time"""
        d, h, k = self.dims
        return Arena(x=rows * d, y=rows, pre=share * h, act=share * h, grad_act=share * h,
                     out=share * k, grad_out=share * k, loss=share)

    def _forward(self, a, x, n):
        (d, h, k), s = self.dims, self.state
        go("linear_forward", a["pre"], x, s["w1"], s["b1"], n, d, h, None)
        go("relu_forward", a["act"], a["pre"], n * h, None)
        go("linear_forward", a["out"], a["act"], s["w2"], s["b2"], n, h, k, None)

    def _step(self, a, at, n):
        (d, h, k), s = self.dims, self.state
        x = a["x"] + 4 * at * d
        self._forward(a, x, n)
        go("softmax_cross_entropy", a["loss"], a["grad_out"], a["out"], a["y"] + 4 * at, n, k, -1, None)
        go("linear_backward", a["grad_act"], s["grad_w2"], s["grad_b2"], a["grad_out"], a["act"],
           s["w2"], n, h, k, None)
        go("relu_backward", a["grad_act"], a["grad_act"], a["pre"], n * h, None)
        go("linear_backward", None, s["grad_w1"], s["grad_b1"], a["grad_act"], x, s["w1"], n, d, h, None)
        self.steps += 1
        for name in self.NAMES:
            go("adam_update", s[name], s["m_" + name], s["v_" + name], s["grad_" + name],
               self.counts[name], self.lr, 0.9, 0.999, 1e-8, 0, self.steps, None)
        return a.get("loss", n).astype(float).sum()

    def fit(self, X, y, epochs=10, batch_size=64, validation=0.1):
        self._look_at(X, y, 1)
        count = len(X) - int(len(X) * validation)
        if count <= 0 or batch_size <= 0:
            raise ValueError("there is nothing to train on")
        arena = self._batch(count, min(count, batch_size))
        for number in range(1, epochs + 1):
            order, loss = self.random.permutation(count), 0
            arena.put("x", X[order])
            arena.put("y", y[order].astype("i4"))
            for at in range(0, count, batch_size):
                loss += self._step(arena, at, min(batch_size, count - at))
                sys.stdout.write("\r%3d %%, loss %.4f" % (100 * at // count, loss / (at + batch_size)))
            result = {"loss": loss / count, "accuracy": None}
            line = "\repoch %d/%d: loss %.4f" % (number, epochs, result["loss"])
            if count < len(X):
                result["accuracy"] = self.evaluate(X[count:], y[count:])
                line += ", validation accuracy %.2f %%" % (100 * result["accuracy"])
            self.history += [result]
            print(line)
        return self

    def evaluate(self, X, y):
        self._look_at(X, y, 1)
        arena = self._batch(len(X), len(X))
        arena.put("x", X)
        self._forward(arena, arena["x"], len(X))
        best = arena.get("out", (len(X), self.dims[2])).argmax(1)
        return float(np.mean(best == y))
