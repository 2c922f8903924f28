// unchecked error
// FLAGS: -O2
/* The launch's line is named, not the kernel's, though the compiler puts one into the other. */
#include <cuda_runtime.h>

struct Pair {
    int *from, *to;
};

__global__ void exchange(Pair p)
{
    p.to[threadIdx.x] = p.from[threadIdx.x];
}

__global__ void clear(int *p)
{
    p[threadIdx.x] = 0;
}

template <typename T> __global__ void fill(T *p, T value)
{
    p[threadIdx.x] = value;
}

int main()
{
    int *p;
    if (cudaMalloc(&p, 128 * sizeof *p) != cudaSuccess) return 1;
    clear<<<1, 2048>>>(p);                  // HERE
    fill<<<1, 2048>>>(p, 4);                // HERE
    exchange<<<1, 2048>>>(Pair{p, p + 64}); // HERE
    return 0;
}
