// deadlock: add up to at most 504
// FLAGS: -arch=sm_90a
/* A block of 384 threads begins with 168 registers each; 40 + 240 + 240 are more. */
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
    if (threadIdx.x < 128)
        give<40>();
    else
        take<240>(); // HERE
    c[threadIdx.x] = threadIdx.x;
}

int main()
{
    int *c;
    cudaMalloc(&c, 384 * sizeof *c);
    work<<<1, 384>>>(c);
    return cudaDeviceSynchronize();
}
