// nothing
/* Each arm names the lanes that are in it. */
#include <cuda_runtime.h>

__global__ void pick(int *out, const int *x)
{
    int t = threadIdx.x, v = x[t];
    if (t < 16)
        out[t] = __shfl_sync(0x0000ffff, v, 15 - t);
    else
        out[t] = __shfl_sync(0xffff0000, v, 47 - t);
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(x, 0, 32 * sizeof *x);
    pick<<<1, 32>>>(out, x);
    return cudaDeviceSynchronize();
}
