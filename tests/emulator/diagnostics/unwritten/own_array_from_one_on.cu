// uninitialised read
/* The loop that fills the array begins at one. */
#include <device_arrays.h>

__global__ void polynomial(float *y, const float *x, int n)
{
    float powers[8];
    for (int k = 1; k < n; k++) powers[k] = k * x[threadIdx.x];
    float sum = 0;
    for (int k = 0; k < n; k++) sum += powers[k]; // HERE
    y[threadIdx.x] = sum;
}

int main()
{
    float *x = filled<float>(64, 0), *y = unwritten<float>(64);
    polynomial<<<1, 64>>>(y, x, 8);
    return cudaDeviceSynchronize();
}
