"""python_driver.py WORKER CASES FILE guarded [LIBRARY...]: the worker for an exercise in Python.

WORKER is the worker as a library (python.c). It gives up what no exercise needs before it has the
student's FILE loaded; arrays are views of the memory that it was given for the call.

CASES holds the functions of the exercises' worker.py. A call goes there first: such a function is
given the student's module and then the arguments, and can do what only Python can. Each call has
fresh ones, since the student's file can find and replace what was there before. Each LIBRARY is what
the exercise was linked with, were it in C; the student's file finds the first one's path in
COURSE_LIBRARY, and all in COURSE_LIBRARIES.
"""
import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a thread that stays would be taken for the student's

import ctypes
import types

import numpy

worker = ctypes.CDLL(sys.argv[1])
worker.argument_kind.restype = worker.argument_type.restype = ctypes.c_char_p
worker.argument_pointer.restype = ctypes.c_void_p
worker.argument_bytes.restype = ctypes.c_uint64
worker.argument_integer.restype = ctypes.c_int64
worker.argument_real.restype = ctypes.c_double
worker.wanted.restype = ctypes.c_char_p

module = types.ModuleType("exercise")
with open(sys.argv[2], "rb") as file:
    judges = compile(file.read(), "worker.py", "exec")


def cases():
    fresh = {}
    exec(judges, fresh)
    return fresh


if len(sys.argv) > 5:
    os.environ["COURSE_LIBRARY"] = sys.argv[5]
    os.environ["COURSE_LIBRARIES"] = os.pathsep.join(sys.argv[5:])


def place_of(error, function):
    """The last line of the student's that it went through, as " (file.py:12)", and its function."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == module.__file__:
            line, function = trace.tb_lineno, trace.tb_frame.f_code.co_name
        trace = trace.tb_next
    return f" ({module.__file__}:{line})" if line else "", function


def tell(error, function):
    stub = isinstance(error, NotImplementedError)
    try:
        words = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:
        words = "its words raise another exception"
    line, raised_by = place_of(error, function)
    text = raised_by if stub else f"{type(error).__name__}: {words}{line}"
    worker.say(text.encode("utf-8", "replace"), int(stub))


def load(path):
    path = path.decode()
    module.__file__ = os.path.basename(path)
    try:
        with open(path, "rb") as file:
            exec(compile(file.read(), module.__file__, "exec"), module.__dict__)
        return 1
    except BaseException as error:
        tell(error, "")
        return 0


def has(function):
    name = function.decode()
    return int(name in cases() or callable(getattr(module, name, None)))


def array(i):
    kind, count = numpy.dtype(worker.argument_type(i).decode()), worker.argument_bytes(i)
    if count == 0:
        return numpy.empty(0, kind)
    return numpy.frombuffer((ctypes.c_char * count).from_address(worker.argument_pointer(i)), kind)


def argument(i, before):
    kind = worker.argument_kind(i).decode()
    if kind == "array":
        return array(i)
    if kind == "same":
        return before[worker.argument_integer(i)]
    if kind == "integer":
        return worker.argument_integer(i)
    if kind == "real":
        return worker.argument_real(i)
    if kind == "text":
        return ctypes.string_at(worker.argument_pointer(i)).decode()
    if kind == "none":
        return None
    raise TypeError(f"argument {i} is none that Python can be given")


def run(function):
    function = function.decode()
    try:
        arguments = []
        for i in range(worker.argument_count()):
            arguments.append(argument(i, arguments))
        judge = cases().get(function)
        if judge:
            value = judge(module, *arguments)
        else:
            value = getattr(module, function)(*arguments)
        wanted = worker.wanted().decode()
        if wanted == "integer":
            worker.return_integer(ctypes.c_int64(int(value)))
        elif wanted == "real":
            worker.return_real(ctypes.c_double(float(value)))
        worker.finish()
    except BaseException as error:
        tell(error, function)
    sys.stdout.flush()


callbacks = (
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(load),
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(has),
    ctypes.CFUNCTYPE(None, ctypes.c_char_p)(run),
)
os._exit(worker.python_worker(*callbacks, sys.argv[3].encode(), sys.argv[4].encode()))
