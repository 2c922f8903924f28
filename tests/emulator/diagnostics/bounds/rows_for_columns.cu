// out of bounds
/* A matrix of 24 rows and 40 columns is transposed with the width of the source. */
#include <device_arrays.h>

__global__ void transpose(float *to, const float *from, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) to[x * columns + y] = from[y * columns + x]; // HERE
}

int main()
{
    float *a = filled<float>(960, 0), *b = unwritten<float>(960);
    transpose<<<dim3(5, 3), dim3(8, 8)>>>(b, a, 24, 40);
    return cudaDeviceSynchronize();
}
