"""compiler.py: a kernel in CUDA, compiled while Python runs.

    twice = compile("__global__ void twice(float *data) { ... }", "twice")
    twice(data, grid=4, block=(256, 1, 1))

NVRTC, the compiler as a library, turns the source into PTX; that needs no GPU. The driver turns the
PTX into code for the GPU at the first call; without a GPU that call is a RuntimeError.

The PTX has the kernel's parameters, so that a call can be checked here, as a compiler would: how
many arguments, and which of them are pointers. An array of NumPy is sent before the kernel runs and
fetched after it, unless it is read-only; a DeviceArray (216) stays where it is. What no PTX says is what a
pointer points to: an array's elements are to be those of the source.
"""
import ctypes
import functools
import glob
import os
import re
import shutil

import numpy

NUMBERS = {  # a parameter's type in PTX, and what fills it
    "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
    "s8": ctypes.c_int8, "s16": ctypes.c_int16, "s32": ctypes.c_int32, "s64": ctypes.c_int64,
    "f32": ctypes.c_float, "f64": ctypes.c_double,
}  # fmt: skip
MAJOR, MINOR = 75, 76  # CUdevice_attribute, of the compute capability


class CompileError(RuntimeError):
    """What NVRTC says of a source."""


def load(names, missing):
    """@return the first of these libraries that is there"""
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    raise RuntimeError(missing)


def nvrtc():
    """It is where the loader looks, or beside nvcc."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "lib64")
    names = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"]
    names += sorted(glob.glob(os.path.join(folder, "libnvrtc.so*")))
    library = load(names, "no libnvrtc here: it is a part of the CUDA toolkit")
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return library


class Driver:
    """The CUDA driver, with the runtime's context of the first GPU; its functions raise."""

    def __init__(self):
        self.cuda = load(["libcuda.so.1"], "no GPU here: compiled, but nothing can run it")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.cuInit(0)
        self.cuDeviceGet(ctypes.byref(device), 0)
        self.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        self.cuCtxSetCurrent(context)
        self.device = device

    def __getattr__(self, name):
        def call(*arguments):
            error = getattr(self.cuda, name)(*arguments)
            if error != 0:
                words = ctypes.c_char_p()
                self.cuda.cuGetErrorString(error, ctypes.byref(words))
                raise RuntimeError(f"{name}: {(words.value or b'unknown error').decode()}")

        return call

    def architecture(self):
        digits = [ctypes.c_int(), ctypes.c_int()]
        for digit, attribute in zip(digits, (MAJOR, MINOR)):
            self.cuDeviceGetAttribute(ctypes.byref(digit), attribute, self.device)
        return "compute_%d%d" % tuple(digit.value for digit in digits)


@functools.lru_cache
def driver():
    return Driver()


def text_of(get_size, get, program):
    """@return what NVRTC keeps of a program: its log or its PTX"""
    size = ctypes.c_size_t()
    get_size(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(max(size.value, 1))
    get(program, text)
    return text.value.decode(errors="replace")


def compile(source, name, options=()):
    """@param name the kernel's as the source has it, "f" or "f<float>". @param options NVRTC's, as
    "--use_fast_math". @return a Kernel. CompileError: NVRTC's log. RuntimeError: no NVRTC here"""
    compiler, program = nvrtc(), ctypes.c_void_p()
    try:
        options = ["--gpu-architecture=" + driver().architecture(), *options]
    except RuntimeError:  # without a GPU: for the oldest that this NVRTC knows
        options = list(options)
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    made = compiler.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), b"source.cu", 0, None, None)
    if made != 0:
        raise RuntimeError(compiler.nvrtcGetErrorString(made).decode())
    try:
        compiler.nvrtcAddNameExpression(program, name.encode())
        if compiler.nvrtcCompileProgram(program, len(given), given) != 0:
            log = text_of(compiler.nvrtcGetProgramLogSize, compiler.nvrtcGetProgramLog, program)
            raise CompileError(log)
        lowered = ctypes.c_char_p()  # the name that C++ makes of it
        compiler.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(lowered))
        ptx = text_of(compiler.nvrtcGetPTXSize, compiler.nvrtcGetPTX, program)
        return Kernel(name, lowered.value.decode(), ptx)
    finally:
        compiler.nvrtcDestroyProgram(ctypes.byref(program))


def three(name, sizes):
    """@return x, y and z of a grid or block; what is not said is 1"""
    sizes = tuple(sizes) if isinstance(sizes, (tuple, list)) else (sizes,)
    if not 1 <= len(sizes) <= 3 or not all(0 < size < 2**31 for size in sizes):
        raise ValueError(f"{name}={sizes}: one to three sizes from 1 on are wanted")
    return [int(size) for size in sizes + (1, 1)][:3]


class Copy:
    """An array on the device, in C order, for one call."""

    def __init__(self, array):
        self.array, self.device = array, ctypes.c_uint64()
        self.host = numpy.array(array, order="C")
        self.bytes = ctypes.c_size_t(self.host.nbytes)

    def send(self):
        room = ctypes.c_size_t(max(self.host.nbytes, 1))
        driver().cuMemAlloc_v2(ctypes.byref(self.device), room)
        driver().cuMemcpyHtoD_v2(self.device, ctypes.c_void_p(self.host.ctypes.data), self.bytes)

    def fetch(self):
        if self.array.flags.writeable:
            driver().cuMemcpyDtoH_v2(ctypes.c_void_p(self.host.ctypes.data), self.device, self.bytes)
            self.array[...] = self.host


class Kernel:
    """Of compile. `.ptx` is what NVRTC made of it."""

    def __init__(self, name, lowered, ptx):
        self.name, self.lowered, self.ptx = name, lowered, ptx
        head = re.search(r"\.entry " + re.escape(lowered) + r"\((.*?)\)", ptx, re.S)
        if not head:
            raise CompileError(f"{name} is no __global__ function")
        # ".param .u64 .ptr .align 1 f_param_0" of a pointer in new PTX, ".param .u64 f_param_0" in old
        self.types = re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)", head[1])
        self.function = None

    def handle(self):
        """The driver's, of the kernel: at the first call its code is made."""
        if not self.function:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            driver().cuModuleLoadData(ctypes.byref(module), self.ptx.encode())
            driver().cuModuleGetFunction(ctypes.byref(function), module, self.lowered.encode())
            self.function = function
        return self.function

    def number(self, at, value):
        """A scalar as the kernel's parameter has it."""
        kind = NUMBERS.get(self.types[at])
        whole = isinstance(value, (int, numpy.integer, numpy.bool_))
        if kind is None or not (whole or isinstance(value, (float, numpy.floating))):
            raise TypeError(f"argument {at + 1} of {self.name}: no {type(value).__name__} can be a "
                            f"parameter of type {self.types[at]}")
        if kind in (ctypes.c_float, ctypes.c_double):
            return kind(value)
        bits = 8 * ctypes.sizeof(kind)
        if not whole or not -(2 ** (bits - 1)) <= int(value) < 2**bits:
            raise TypeError(f"argument {at + 1} of {self.name}: {value} is no integer of {bits} bits")
        return kind(int(value))

    def checked(self, arguments):
        """@return each argument as it is, an array, or as a C value"""
        if len(arguments) != len(self.types):
            raise TypeError(f"{self.name} has {len(self.types)} parameters, and {len(arguments)} came")
        values = []
        for at, argument in enumerate(arguments):
            pointer = isinstance(argument, numpy.ndarray) or hasattr(argument, "address")
            if pointer and self.types[at] != "u64":
                raise TypeError(f"argument {at + 1} of {self.name} is no pointer")
            if not pointer:
                values.append(self.number(at, argument))
            else:
                values.append(argument if isinstance(argument, numpy.ndarray) else argument.address())
        return values

    def __call__(self, *arguments, block, grid=1, shared=0):
        """Run it and wait. grid and block: x, or (x, y, z); shared: bytes of dynamic shared memory.
        TypeError: arguments that are not the kernel's; ValueError: a grid or block that is none;
        RuntimeError: no GPU, or what the driver says."""
        values = self.checked(arguments)
        sizes = three("grid", grid) + three("block", block)
        function, copies = self.handle(), []
        try:
            for at, value in enumerate(values):
                if isinstance(value, numpy.ndarray):
                    copies.append(Copy(value))
                    copies[-1].send()
                    values[at] = copies[-1].device
            places = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
            driver().cuLaunchKernel(function, *sizes, shared, None, places, None)
            driver().cuCtxSynchronize()
            for copy in copies:
                copy.fetch()
        finally:
            for copy in copies:
                driver().cuda.cuMemFree_v2(copy.device)
