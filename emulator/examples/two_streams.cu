/* two_streams.cu: one stream fills x, another one reads it, and nothing says which comes first. */
#include <stdio.h>

__global__ void twice(float *y, const float *x)
{
    y[threadIdx.x] = 2 * x[threadIdx.x];
}

int main()
{
    float *x, *y, first;
    cudaStream_t filling, working;
    cudaStreamCreate(&filling);
    cudaStreamCreate(&working);
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&y, 64 * sizeof *y);
    cudaMemsetAsync(x, 0, 64 * sizeof *x, filling);
    twice<<<1, 64, 0, working>>>(y, x);
    cudaDeviceSynchronize();
    cudaMemcpy(&first, y, sizeof first, cudaMemcpyDeviceToHost);
    printf("y[0] is %g\n", first);
    cudaFree(x);
    cudaFree(y);
}
