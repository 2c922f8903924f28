// out of bounds
/* The last block has 24 threads too many. */
#include <device_arrays.h>

__global__ void add(float *c, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i]; // HERE
}

int main()
{
    float *a = filled<float>(1000, 0), *b = filled<float>(1000, 0), *c = unwritten<float>(1000);
    add<<<4, 256>>>(c, a, b);
    return cudaDeviceSynchronize();
}
