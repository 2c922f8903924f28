// out of bounds
/* A matrix of 24 rows and 40 columns is transposed with the width of the source. */
#include <cuda_runtime.h>

__global__ void transpose(float *to, const float *from, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) to[x * columns + y] = from[y * columns + x]; // HERE
}

int main()
{
    float *a, *b;
    cudaMalloc(&a, 960 * sizeof *a);
    cudaMalloc(&b, 960 * sizeof *b);
    cudaMemset(a, 0, 960 * sizeof *a);
    transpose<<<dim3(5, 3), dim3(8, 8)>>>(b, a, 24, 40);
    return cudaDeviceSynchronize();
}
