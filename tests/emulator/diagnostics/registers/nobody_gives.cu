// deadlock: it was launched with 64512, 168 for each of 384 threads
// FLAGS: -arch=sm_90a
/* The consumers take registers, and the producer keeps its own. */
#include <cuda_runtime.h>

template <int COUNT> __device__ static inline void give()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

template <int COUNT> __device__ static inline void take()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

__global__ void __launch_bounds__(384, 1) work(int *c)
{
    if (threadIdx.x >= 128) take<232>(); // HERE
    c[threadIdx.x] = threadIdx.x;
}

int main()
{
    int *c;
    cudaMalloc(&c, 384 * sizeof *c);
    work<<<1, 384>>>(c);
    return cudaDeviceSynchronize();
}
