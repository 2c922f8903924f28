// uninitialised read
/* The fill counts elements, too. */
#include <cuda_runtime.h>

__global__ void accumulate(double *sums, const double *x)
{
    sums[threadIdx.x] += x[threadIdx.x]; // HERE
}

int main()
{
    double *x, *sums;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&sums, 64 * sizeof *sums);
    cudaMemset(x, 0, 64 * sizeof *x);
    cudaMemset(sums, 0, 64);
    accumulate<<<1, 64>>>(sums, x);
    return cudaDeviceSynchronize();
}
