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
    # SOLUTION: about 2 lines
    if error != 0:
        raise RuntimeError(cuda.cudaGetErrorString(error).decode())
    # END SOLUTION


class DeviceArray:
    """A matrix [rows x cols] of float32, in C order, in the memory of the device."""

    def __init__(self, rows, cols):
        """ValueError where a size is below 0 or no int of C; RuntimeError without memory."""
        # SOLUTION: the pointer first, then the sizes, then cudaMalloc, of size_t (about 7 lines).
        self.pointer = ctypes.c_void_p()  # __del__ finds it, whatever happens from here on
        if not (0 <= rows <= INT_MAX and 0 <= cols <= INT_MAX):
            raise ValueError(f"a matrix of {rows} x {cols}: sizes go from 0 to {INT_MAX}")
        self.shape = (rows, cols)
        self.freed = False
        self.bytes = ctypes.c_size_t(4 * rows * cols)
        check(cuda.cudaMalloc(ctypes.byref(self.pointer), self.bytes))
        # END SOLUTION

    def address(self):
        """The pointer, for a call; ValueError when the array is freed."""
        # SOLUTION: about 3 lines
        if self.freed:
            raise ValueError("this array of the device was freed")
        return self.pointer
        # END SOLUTION

    def upload(self, array):
        """Copy a matrix of this shape, in any order, to the device. TypeError: no array of float32;
        ValueError: of another shape."""
        # SOLUTION: checks, then a copy in C order that lives until it is read (about 8 lines).
        if not isinstance(array, numpy.ndarray):
            raise TypeError(f"a NumPy array is wanted, not {type(array).__name__}")
        if array.dtype != numpy.float32:
            raise TypeError(f"elements are to be float32, not {array.dtype}")
        if array.shape != self.shape:
            raise ValueError(f"the array is {array.shape}, and {self.shape} on the device")
        host = numpy.ascontiguousarray(array)
        source = ctypes.c_void_p(host.ctypes.data)
        check(cuda.cudaMemcpy(self.address(), source, self.bytes, TO_DEVICE))
        # END SOLUTION

    def download(self):
        """@return a new array of NumPy with its elements"""
        # SOLUTION: about 4 lines
        host = numpy.empty(self.shape, numpy.float32)
        target = ctypes.c_void_p(host.ctypes.data)
        check(cuda.cudaMemcpy(target, self.address(), self.bytes, TO_HOST))
        return host
        # END SOLUTION

    def free(self):
        """Free it now. A second time changes nothing."""
        # SOLUTION: once, even if Ctrl-C comes right after cudaFree (about 3 lines).
        pointer, self.pointer = self.pointer, ctypes.c_void_p()
        self.freed = True
        cuda.cudaFree(pointer)  # of NULL: nothing
        # END SOLUTION

    def __del__(self):
        # SOLUTION: about 1 line
        self.free()
        # END SOLUTION


def on_device(a):
    """@return `a` if it is a DeviceArray, else a new one with the elements of the array `a`.
    TypeError: it is neither, or not of float32; ValueError: it has not two dimensions."""
    # SOLUTION: about 8 lines
    if isinstance(a, DeviceArray):
        return a
    if not isinstance(a, numpy.ndarray):
        raise TypeError(f"a NumPy array is wanted, not {type(a).__name__}")
    if a.ndim != 2:
        raise ValueError(f"a matrix has 2 dimensions, not {a.ndim}")
    there = DeviceArray(*a.shape)
    there.upload(a)
    return there
    # END SOLUTION


def matmul(a, b):
    """a [m x k] times b [k x n], each an array of NumPy or a DeviceArray. @return a Product [m x n];
    its gflops are 2 m n k by the seconds from the launch until the device is done, in 10^9; 0 of
    an empty product. ValueError: the inner sizes differ. RuntimeError: what CUDA says."""
    # SOLUTION: about 14 lines
    a, b = on_device(a), on_device(b)
    (m, k), (rows, n) = a.shape, b.shape
    if k != rows:
        raise ValueError(f"{m} x {k} times {rows} x {n}: the inner sizes differ")
    c = DeviceArray(m, n)
    begin = time.perf_counter()
    check(cuda.matmul_tiled(c.address(), a.address(), b.address(), m, n, k, None))
    check(cuda.cudaDeviceSynchronize())
    seconds = time.perf_counter() - begin
    product = c.download().view(Product)
    product.gflops = 2.0 * m * n * k / seconds / 1e9
    return product
    # END SOLUTION
