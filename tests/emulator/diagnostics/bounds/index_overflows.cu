// out of bounds
/* The index of a row does not fit an int and becomes negative. */
#include <device_arrays.h>

__global__ void clear(float *x, int row, int columns)
{
    x[row * columns + (int)threadIdx.x] = 0; // HERE
}

int main()
{
    float *x = filled<float>(4096, 0);
    clear<<<1, 64>>>(x, 70000, 40000);
    return cudaDeviceSynchronize();
}
