// race
/* All columns of a row add to the row's sum. */
#include <device_arrays.h>

__global__ void multiply(float *y, const float *a, const float *x, int n)
{
    int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    y[row] += a[row * n + column] * x[column]; // HERE
}

int main()
{
    float *a = filled<float>(4096, 1), *x = filled<float>(512, 1), *y = filled<float>(8, 0);
    multiply<<<dim3(2, 8), 256>>>(y, a, x, 512);
    return cudaDeviceSynchronize();
}
