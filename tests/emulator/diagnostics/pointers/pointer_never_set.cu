// null pointer
/* Nobody has allocated the bias. */
#include <cuda_runtime.h>

__global__ void add_bias(float *x, const float *bias)
{
    x[threadIdx.x] += bias[threadIdx.x]; // HERE
}

int main()
{
    float *bias = nullptr;
    float *x;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMemset(x, 0, 64 * sizeof *x);
    add_bias<<<1, 64>>>(x, bias);
    return cudaDeviceSynchronize();
}
