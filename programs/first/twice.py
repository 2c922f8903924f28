"""twice.py: a kernel that Python compiles and runs. It doubles 1,000 numbers, each in a thread.

It needs the package of `pip install ./python`, NVRTC, which the CUDA toolkit brings, and a GPU.
"""
import numpy
from cuda_nn import compile

twice = compile(
    """
    __global__ void twice(float *data, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) data[i] *= 2.0f;
    }
    """,
    "twice",
)

data = numpy.arange(1000, dtype=numpy.float32)
twice(data, len(data), grid=((len(data) + 255) // 256, 1), block=(256, 1, 1))
print(data[-1])
