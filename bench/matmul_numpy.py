"""matmul_numpy.py: c = a @ b by NumPy, in the memory of bench_matmul: prints milliseconds.

   matmul_numpy.py FILE N CALLS ENOUGH     FILE: a descriptor, of c, a, b [N x N] in float32

As bench_matmul does: the median of up to CALLS calls, and about ENOUGH milliseconds, after one to
warm up; a call that takes that long is not repeated.
"""
import mmap
import statistics
import sys
import time

import numpy

file, n, calls, enough = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
memory = mmap.mmap(file, 3 * n * n * 4)
c, a, b = numpy.frombuffer(memory, dtype=numpy.float32).reshape(3, n, n)

times = []
while len(times) <= calls and sum(times) < enough:
    began = time.perf_counter()
    numpy.matmul(a, b, out=c)
    times.append(1e3 * (time.perf_counter() - began))
print(statistics.median(times[1:] or times))
