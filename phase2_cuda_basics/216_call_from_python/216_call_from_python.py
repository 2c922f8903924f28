"""
216_call_from_python.py: the product of 211, called from Python on NumPy's arrays.

The idea: a shared library knows nothing of Python. ctypes loads it, puts C values where C expects
them and calls. Nothing checks here what the compiler checks in C: element type, memory layout, the
width of an integer, and whether the memory is still allocated. So this file checks them, once, at
the border.

A float32 array of NumPy is an address, a shape and strides. matmul_tiled takes only an array in C
order; of every other one a contiguous copy is made, and a variable holds it until the device has
read it.

Device memory belongs to an object. Its __del__ frees it however the object ends: by an exception
or by Ctrl-C, too. The object therefore has its pointer before cudaMalloc writes it.

What it still costs: each product brings its matrices to the device and back, and allocates anew.
A network (503) keeps its weights there.
"""
import ctypes
import os
import time

import numpy

# Your 211 as a library and, behind it, the CUDA runtime: cuda.matmul_tiled, cuda.cudaMalloc. Call
# them by these names.
cuda = ctypes.CDLL(os.environ["COURSE_LIBRARY"])
cuda.cudaGetErrorString.restype = ctypes.c_char_p

TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyKind
INT_MAX = 2**31 - 1


class Product(numpy.ndarray):
    """A matrix, and how fast it was computed."""

    gflops = 0.0


def check(error):
    """RuntimeError, in the words of cudaGetErrorString, unless a call returned cudaSuccess."""
    # TODO: about 2 lines
    raise NotImplementedError


class DeviceArray:
    """A matrix [rows x cols] of float32, in C order, in the memory of the device."""

    def __init__(self, rows, cols):
        """ValueError where a size is below 0 or no int of C; RuntimeError without memory."""
        # TODO: the pointer first, then the sizes, then cudaMalloc, of size_t (about 7 lines).
        raise NotImplementedError

    def address(self):
        """The pointer, for a call; ValueError when the array is freed."""
        # TODO: about 3 lines
        raise NotImplementedError

    def upload(self, array):
        """Copy a matrix of this shape, in any order, to the device. TypeError: no array of float32;
        ValueError: of another shape."""
        # TODO: checks, then a copy in C order that lives until it is read (about 8 lines).
        raise NotImplementedError

    def download(self):
        """@return a new array of NumPy with its elements"""
        # TODO: about 4 lines
        raise NotImplementedError

    def free(self):
        """Free it now. A second time changes nothing."""
        # TODO: once, even if Ctrl-C comes right after cudaFree (about 3 lines).
        raise NotImplementedError

    def __del__(self):
        # TODO: about 1 line
        raise NotImplementedError


def on_device(a):
    """@return `a` if it is a DeviceArray, else a new one with the elements of the array `a`.
    TypeError: it is neither, or not of float32; ValueError: it has not two dimensions."""
    # TODO: about 8 lines
    raise NotImplementedError


def matmul(a, b):
    """a [m x k] times b [k x n], each an array of NumPy or a DeviceArray. @return a Product [m x n];
    its gflops are 2 m n k by the seconds from the launch until the device is done, in 10^9; 0 of
    an empty product. ValueError: the inner sizes differ. RuntimeError: what CUDA says."""
    # TODO: about 14 lines
    raise NotImplementedError
