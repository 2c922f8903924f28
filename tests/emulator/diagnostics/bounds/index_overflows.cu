// out of bounds
/* The index of a row does not fit an int and becomes negative. */
#include <cuda_runtime.h>

__global__ void clear(float *x, int row, int columns)
{
    x[row * columns + (int)threadIdx.x] = 0; // HERE
}

int main()
{
    float *x;
    cudaMalloc(&x, 4096 * sizeof *x);
    cudaMemset(x, 0, 4096 * sizeof *x);
    clear<<<1, 64>>>(x, 70000, 40000);
    return cudaDeviceSynchronize();
}
