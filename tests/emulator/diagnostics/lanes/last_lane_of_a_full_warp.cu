// nothing
/* All lanes take part, and the last one keeps its own value. */
#include <cuda_runtime.h>

__global__ void differences(int *out, const int *x)
{
    int v = x[threadIdx.x], next = __shfl_down_sync(0xffffffff, v, 1);
    out[threadIdx.x] = next - v;
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(x, 0, 64 * sizeof *x);
    differences<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
