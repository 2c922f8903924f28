"""
503_neural_network.py: the network of 501 as a class of Python, of any sizes, on your layers.

The idea: Python says what is computed, CUDA computes. A step is the same row of launches as in 501,
each now a call through ctypes (216). All parameters lie in one array, so that Adam is one launch.

What it still costs: a batch is gathered by NumPy and sent before each step, and each loss comes back
before the next one. Python adds some microseconds to each launch; a graph (407) would take away both.
"""
import ctypes
import os

import numpy

# Your 501 as a library and, behind it, its layers and the CUDA runtime. Call them by these names.
cuda = ctypes.CDLL(os.environ["COURSE_LIBRARY"])
cuda.cudaGetErrorString.restype = ctypes.c_char_p

TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyKind
INT_MAX = 2**31 - 1
EVALUATED = 1000  # rows at a time


def check(error):
    """RuntimeError, in the words of cudaGetErrorString, unless a call returned cudaSuccess."""
    if error != 0:
        raise RuntimeError(cuda.cudaGetErrorString(error).decode())


class DeviceMemory:
    """Room for `count` elements of 4 bytes on the device, as long as the object lives."""

    def __init__(self, count):
        self.pointer = ctypes.c_void_p()
        check(cuda.cudaMalloc(ctypes.byref(self.pointer), ctypes.c_size_t(4 * count)))

    def __del__(self):
        pointer, self.pointer = self.pointer, ctypes.c_void_p()
        cuda.cudaFree(pointer)

    def at(self, index=0):
        """The address of an element, for a call."""
        return ctypes.c_void_p(self.pointer.value + 4 * index)

    def write(self, array):
        """Copy an array of float32 or int32, in C order, to the begin."""
        size = ctypes.c_size_t(array.nbytes)
        check(cuda.cudaMemcpy(self.at(), ctypes.c_void_p(array.ctypes.data), size, TO_DEVICE))

    def read(self, *shape):
        """@return a new array of float32 with the first elements"""
        array = numpy.empty(shape, numpy.float32)
        size = ctypes.c_size_t(array.nbytes)
        check(cuda.cudaMemcpy(ctypes.c_void_p(array.ctypes.data), self.at(), size, TO_HOST))
        return array


class NeuralNetworkGPU:
    """inputs -> hidden, ReLU -> classes; softmax and cross-entropy; Adam. ValueError: a size below 1
    or none that is an int of C."""

    def __init__(self, inputs, hidden, classes, lr=1e-3, seed=0):
        """Weights are normal, of deviation sqrt(2 / columns); biases are 0. The seed decides them
        and the order of the rows in fit."""
        # SOLUTION: sizes, then params, grad, m and v, each [all parameters] (about 13 lines).
        for size in (inputs, hidden, classes):
            if not 1 <= size <= INT_MAX:
                raise ValueError(f"a layer of {size} units: sizes go from 1 to {INT_MAX}")
        self.inputs, self.hidden, self.classes, self.lr = inputs, hidden, classes, lr
        self.rng = numpy.random.default_rng(seed)
        self.shapes = [(hidden, inputs), (hidden,), (classes, hidden), (classes,)]
        self.begins = numpy.cumsum([0] + [int(numpy.prod(shape)) for shape in self.shapes])
        w1 = self.rng.standard_normal(self.shapes[0]) * numpy.sqrt(2 / inputs)
        w2 = self.rng.standard_normal(self.shapes[2]) * numpy.sqrt(2 / hidden)
        parts = [w1.ravel(), numpy.zeros(hidden), w2.ravel(), numpy.zeros(classes)]
        self.memory = [DeviceMemory(int(self.begins[4])) for _ in range(4)]
        zeros = numpy.zeros(self.begins[4], numpy.float32)
        for memory, values in zip(self.memory, (numpy.concatenate(parts), zeros, zeros, zeros)):
            memory.write(values.astype(numpy.float32))
        self.step, self.rows, self.history = 0, 0, []
        # END SOLUTION

    def free(self):
        """Free all device memory now; what uses the network afterwards gets ValueError."""
        # SOLUTION: about 2 lines
        self.memory, self.rows = None, 0
        self.room = None
        # END SOLUTION

    def parameters(self):
        """@return w1 [hidden x inputs], bias1 [hidden], w2 [classes x hidden], bias2 [classes]"""
        # SOLUTION: about 4 lines
        self.check_alive()
        values = self.memory[0].read(int(self.begins[4]))
        parts = numpy.split(values, self.begins[1:4])
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes)]
        # END SOLUTION

    def check_alive(self):
        """ValueError when the network is freed."""
        # SOLUTION: about 2 lines
        if self.memory is None:
            raise ValueError("this network was freed")
        # END SOLUTION

    def checked(self, X, y):
        """@return X [rows x inputs] as it is, y [rows] as int32. TypeError: X is no array of float32
        or y none of integers. ValueError: a shape that does not fit, a label that is no class."""
        # SOLUTION: about 12 lines
        self.check_alive()
        for name, array in (("X", X), ("y", y)):
            if not isinstance(array, numpy.ndarray):
                raise TypeError(f"{name} is to be a NumPy array, not {type(array).__name__}")
        if X.dtype != numpy.float32:
            raise TypeError(f"X is to be of float32, not {X.dtype}")
        if y.dtype.kind not in "iu":
            raise TypeError(f"labels are to be integers, not {y.dtype}")
        if X.ndim != 2 or X.shape[1] != self.inputs:
            raise ValueError(f"X is {X.shape}, and each row should have {self.inputs} numbers")
        if y.shape != (len(X),):
            raise ValueError(f"{len(X)} rows want as many labels, and y is {y.shape}")
        if len(y) and (y.min() < 0 or y.max() >= self.classes):
            raise ValueError(f"labels go from 0 to {self.classes - 1}, not {y.min()} to {y.max()}")
        return X, y.astype(numpy.int32)
        # END SOLUTION

    def reserve(self, rows):
        """Room for a batch: x, pre, hidden, grad_hidden, logits, grad_logits, losses, labels."""
        # SOLUTION: only if there is less (about 5 lines).
        if rows <= self.rows:
            return
        widths = [self.inputs, self.hidden, self.hidden, self.hidden, self.classes, self.classes, 1, 1]
        self.rows = 0  # should memory run out on the way
        self.room = [DeviceMemory(rows * width) for width in widths]
        self.rows = rows
        # END SOLUTION

    def forward(self, X):
        """Send the rows of X, in any order in memory, and compute their logits on the device."""
        # SOLUTION: linear, ReLU, linear (about 10 lines).
        rows = len(X)
        self.reserve(rows)
        x, pre, hidden, _, logits = self.room[:5]
        x.write(numpy.ascontiguousarray(X))
        w1, bias1, w2, bias2 = (self.memory[0].at(int(i)) for i in self.begins[:4])
        check(cuda.linear_forward(pre.at(), x.at(), w1, bias1, rows, self.inputs, self.hidden, None))
        size = ctypes.c_size_t(rows * self.hidden)
        check(cuda.relu_forward(hidden.at(), pre.at(), size, None))
        check(cuda.linear_forward(
            logits.at(), hidden.at(), w2, bias2, rows, self.hidden, self.classes, None))
        # END SOLUTION

    def backward(self, y):
        """The gradient of the mean loss, from what forward left behind. @return the mean loss"""
        # SOLUTION: loss, linear, ReLU, linear (about 14 lines).
        rows, (params, grad) = len(y), self.memory[:2]
        x, pre, hidden, grad_hidden, logits, grad_logits, losses, labels = self.room
        w1, bias1, w2, bias2 = (int(i) for i in self.begins[:4])
        labels.write(y)
        check(cuda.softmax_cross_entropy(
            losses.at(), grad_logits.at(), logits.at(), labels.at(), rows, self.classes, -1, None))
        check(cuda.linear_backward(
            grad_hidden.at(), grad.at(w2), grad.at(bias2), grad_logits.at(), hidden.at(),
            params.at(w2), rows, self.hidden, self.classes, None))
        size = ctypes.c_size_t(rows * self.hidden)
        check(cuda.relu_backward(grad_hidden.at(), grad_hidden.at(), pre.at(), size, None))
        check(cuda.linear_backward(
            None, grad.at(w1), grad.at(bias1), grad_hidden.at(), x.at(), params.at(w1), rows,
            self.inputs, self.hidden, None))
        return float(losses.read(rows).mean(dtype=float))
        # END SOLUTION

    def train_batch(self, X, y):
        """One step of Adam: beta 0.9 and 0.999, epsilon 1e-8. @return the mean loss before it"""
        # SOLUTION: about 8 lines
        self.forward(X)
        loss = self.backward(y)
        self.step += 1
        params, grad, m, v = (memory.at() for memory in self.memory)
        numbers = [ctypes.c_float(number) for number in (self.lr, 0.9, 0.999, 1e-8, 0.0)]
        size = ctypes.c_size_t(int(self.begins[4]))
        check(cuda.adam_update(params, m, v, grad, size, *numbers, self.step, None))
        return loss
        # END SOLUTION

    def fit(self, X, y, epochs=10, batch_size=64, validation=0.1):
        """Train on all but the last int(validation * rows) rows, in a new random order each epoch;
        the last batch may be short. While an epoch runs, print a bar with its loss; at its end, as
        "epoch 1/10: loss 0.4321, validation accuracy 91.20 %", append {"loss", "accuracy"} to
        self.history: the mean over the rows of the epoch, and the share of the others that are
        right, or None without any. @return self. ValueError: no row to train on, or batch_size < 1"""
        # SOLUTION: about 16 lines
        X, y = self.checked(X, y)
        training = len(X) - int(validation * len(X))
        if training < 1 or batch_size < 1 or validation < 0:
            raise ValueError(f"{training} rows to train on, in batches of {batch_size}")
        for epoch in range(epochs):
            order, total = self.rng.permutation(training), 0.0
            title = f"epoch {epoch + 1}/{epochs}"
            for begin in range(0, training, batch_size):
                rows = order[begin : begin + batch_size]
                total += len(rows) * self.train_batch(X[rows], y[rows])
                done = begin + len(rows)
                bar = "#" * (20 * done // training)
                print(f"\r{title} [{bar:20}] loss {total / done:.4f}", end="", flush=True)
            accuracy = self.evaluate(X[training:], y[training:]) if training < len(X) else None
            self.history.append({"loss": total / training, "accuracy": accuracy})
            words = "" if accuracy is None else f", validation accuracy {100 * accuracy:.2f} %"
            print(f"\r{title}: loss {total / training:.4f}{words}".ljust(60))
        return self
        # END SOLUTION

    def evaluate(self, X, y):
        """@return the share of rows whose largest logit is that of their label. ValueError: no rows"""
        # SOLUTION: EVALUATED rows at a time (about 9 lines).
        X, y = self.checked(X, y)
        if len(X) == 0:
            raise ValueError("no rows to evaluate")
        right = 0
        for begin in range(0, len(X), EVALUATED):
            rows = slice(begin, begin + EVALUATED)
            self.forward(X[rows])
            logits = self.room[4].read(len(y[rows]), self.classes)
            right += int((logits.argmax(axis=1) == y[rows]).sum())
        return right / len(X)
        # END SOLUTION
