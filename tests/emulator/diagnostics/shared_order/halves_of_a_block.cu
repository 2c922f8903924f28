// nothing
/* Two halves of a block work apart, each with a barrier of its own. */
#include <cuda_runtime.h>

__global__ void reverse(int *x)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t < 64)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    x[t] = s[t < 64 ? 63 - t : 191 - t];
}

int main()
{
    int *x;
    cudaMalloc(&x, 128 * sizeof *x);
    cudaMemset(x, 0, 128 * sizeof *x);
    reverse<<<1, 128>>>(x);
    return cudaDeviceSynchronize();
}
