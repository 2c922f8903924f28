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
        # TODO: sizes, then params, grad, m and v, each [all parameters] (about 13 lines).
        raise NotImplementedError

    def free(self):
        """Free all device memory now; what uses the network afterwards gets ValueError."""
        # TODO: about 2 lines
        raise NotImplementedError

    def parameters(self):
        """@return w1 [hidden x inputs], bias1 [hidden], w2 [classes x hidden], bias2 [classes]"""
        # TODO: about 4 lines
        raise NotImplementedError

    def check_alive(self):
        """ValueError when the network is freed."""
        # TODO: about 2 lines
        raise NotImplementedError

    def checked(self, X, y):
        """@return X [rows x inputs] as it is, y [rows] as int32. TypeError: X is no array of float32
        or y none of integers. ValueError: a shape that does not fit, a label that is no class."""
        # TODO: about 12 lines
        raise NotImplementedError

    def reserve(self, rows):
        """Room for a batch: x, pre, hidden, grad_hidden, logits, grad_logits, losses, labels."""
        # TODO: only if there is less (about 5 lines).
        raise NotImplementedError

    def forward(self, X):
        """Send the rows of X, in any order in memory, and compute their logits on the device."""
        # TODO: linear, ReLU, linear (about 10 lines).
        raise NotImplementedError

    def backward(self, y):
        """The gradient of the mean loss, from what forward left behind. @return the mean loss"""
        # TODO: loss, linear, ReLU, linear (about 14 lines).
        raise NotImplementedError

    def train_batch(self, X, y):
        """One step of Adam: beta 0.9 and 0.999, epsilon 1e-8. @return the mean loss before it"""
        # TODO: about 8 lines
        raise NotImplementedError

    def fit(self, X, y, epochs=10, batch_size=64, validation=0.1):
        """Train on all but the last int(validation * rows) rows, in a new random order each epoch;
        the last batch may be short. While an epoch runs, print a bar with its loss; at its end, as
        "epoch 1/10: loss 0.4321, validation accuracy 91.20 %", append {"loss", "accuracy"} to
        self.history: the mean over the rows of the epoch, and the share of the others that are
        right, or None without any. @return self. ValueError: no row to train on, or batch_size < 1"""
        # TODO: about 16 lines
        raise NotImplementedError

    def evaluate(self, X, y):
        """@return the share of rows whose largest logit is that of their label. ValueError: no rows"""
        # TODO: EVALUATED rows at a time (about 9 lines).
        raise NotImplementedError
