// race
/* All columns of a row add to the row's sum. */
#include <cuda_runtime.h>

__global__ void multiply(float *y, const float *a, const float *x, int n)
{
    int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    y[row] += a[row * n + column] * x[column]; // HERE
}

int main()
{
    float *a, *x, *y;
    cudaMalloc(&a, 4096 * sizeof *a);
    cudaMalloc(&x, 512 * sizeof *x);
    cudaMalloc(&y, 8 * sizeof *y);
    cudaMemset(a, 1, 4096 * sizeof *a);
    cudaMemset(x, 1, 512 * sizeof *x);
    cudaMemset(y, 0, 8 * sizeof *y);
    multiply<<<dim3(2, 8), 256>>>(y, a, x, 512);
    return cudaDeviceSynchronize();
}
