// inactive lane
/* The mask names the lower half, and the upper half calls with it, too. */
#include <cuda_runtime.h>

__global__ void sum(int *out, const int *x)
{
    int v = x[threadIdx.x];
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0x0000ffff, v, d); // HERE
    out[threadIdx.x] = v;
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(x, 0, 32 * sizeof *x);
    sum<<<1, 32>>>(out, x);
    return cudaDeviceSynchronize();
}
