// nothing
/* A null pointer is asked for, and not followed. */
#include <cuda_runtime.h>

__global__ void add_bias(float *x, const float *bias)
{
    x[threadIdx.x] += bias ? bias[threadIdx.x] : 0;
}

int main()
{
    float *x;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMemset(x, 0, 64 * sizeof *x);
    add_bias<<<1, 64>>>(x, nullptr);
    return cudaDeviceSynchronize();
}
