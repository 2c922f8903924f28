#!/usr/bin/env python3
"""An epoch of exercise 501's training, kernel by kernel, as TSV: which of them takes the time.

    mnist_profile.py LIBRARY

LIBRARY has train_mnist. PyTorch's profiler sees every kernel of the process, whoever launches it;
what no kernel and no copy takes is time in which the device waits for the host. 60,000 images of
random numbers, in batches of 64: a kernel's time does not depend on them.
"""
import ctypes
import os
import sys
import time

import numpy
import torch
from torch.profiler import ProfilerActivity, profile

IMAGES, INPUTS, PARAMS, BATCH = 60000, 784, 784 * 128 + 128 + 10 * 128 + 10, 64


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def trainer(path):
    """@return a function that trains one epoch"""
    library, rng = ctypes.CDLL(path), numpy.random.default_rng(1)
    library.train_mnist.argtypes = (
        [ctypes.c_void_p] * 5
        + [ctypes.c_int] * 4
        + [ctypes.c_float, ctypes.c_ulonglong, ctypes.c_void_p]
    )
    params = rng.normal(0, 0.05, PARAMS).astype(numpy.float32)
    images = rng.random((IMAGES, INPUTS), dtype=numpy.float32)
    labels = rng.integers(0, 10, IMAGES, dtype=numpy.int32)
    loss, accuracy = numpy.zeros(1, numpy.float32), numpy.zeros(1, numpy.float32)
    net = ctypes.c_void_p()
    assert library.mlp_create(ctypes.byref(net), pointer(params)) == 0

    def train():
        arrays = (pointer(a) for a in (loss, accuracy, images, labels))
        status = library.train_mnist(net, *arrays, IMAGES, 0, 1, BATCH, 1e-3, 1, None)
        assert status == 0, f"train_mnist returns {status}"

    return train


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    table = os.dup(1)
    os.dup2(2, 1)  # the library says how an epoch went
    sys.stdout = os.fdopen(table, "w")
    torch.cuda.init()
    train = trainer(sys.argv[1])
    train()  # warm
    began = time.perf_counter()
    train()
    epoch = 1e3 * (time.perf_counter() - began)
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        train()
    rows = [(e.self_device_time_total / 1e3, e.count, e.key) for e in seen.key_averages() if e.self_device_time_total]
    assert rows, "the profiler saw no kernel"
    print(f"# device {torch.cuda.get_device_name()}, PyTorch {torch.__version__}, commit {os.environ['COURSE_COMMIT']}")
    print(f"# an epoch of {IMAGES} images in batches of {BATCH} takes {epoch:.1f} ms")
    print("kernel\tcalls\tms\t% of the epoch")
    busy = sum(ms for ms, _, _ in rows)
    for ms, count, name in sorted(rows, reverse=True):
        print(f"{name.split('(')[0].strip()}\t{count}\t{ms:.3f}\t{100 * ms / epoch:.1f}")
    print(f"the device waits\t\t{epoch - busy:.3f}\t{100 * (epoch - busy) / epoch:.1f}")


main()
