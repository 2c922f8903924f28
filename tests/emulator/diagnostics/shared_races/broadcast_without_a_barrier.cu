// race
/* The first warp fetches what all others are to use. */
#include <cuda_runtime.h>

__global__ void scale(float *x, const float *factors)
{
    __shared__ float f[32];
    int t = threadIdx.x;
    if (t < 32) f[t] = 1;
    __syncthreads();
    if (t < 32) f[t] = factors[t];
    x[t] *= f[t % 32]; // HERE
}

int main()
{
    float *x, *factors;
    cudaMalloc(&x, 128 * sizeof *x);
    cudaMalloc(&factors, 32 * sizeof *factors);
    cudaMemset(x, 0, 128 * sizeof *x);
    cudaMemset(factors, 0, 32 * sizeof *factors);
    scale<<<1, 128>>>(x, factors);
    return cudaDeviceSynchronize();
}
