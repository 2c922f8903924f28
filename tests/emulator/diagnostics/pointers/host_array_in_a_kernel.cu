// host pointer
/* The weights lie in the host's memory. */
#include <cuda_runtime.h>

__global__ void scale(float *x, const float *weights)
{
    x[threadIdx.x] *= weights[threadIdx.x]; // HERE
}

int main()
{
    float weights[64] = {1, 2, 3};
    float *x;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMemset(x, 0, 64 * sizeof *x);
    scale<<<1, 64>>>(x, weights);
    return cudaDeviceSynchronize();
}
