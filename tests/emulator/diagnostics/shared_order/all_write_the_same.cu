// nothing
/* Whoever finds something writes the same number. */
#include <cuda_runtime.h>

__global__ void find(int *out, const int *x)
{
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (x[threadIdx.x] == 0) found = 1;
    __syncthreads();
    if (threadIdx.x == 0) *out = found;
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 128 * sizeof *x);
    cudaMalloc(&out, 1 * sizeof *out);
    cudaMemset(x, 0, 128 * sizeof *x);
    find<<<1, 128>>>(out, x);
    return cudaDeviceSynchronize();
}
