// uninitialised read
/* The second input was allocated and forgotten. */
#include <device_arrays.h>

__global__ void add(float *c, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i]; // HERE
}

int main()
{
    float *a = filled<float>(512, 0), *b = unwritten<float>(512), *c = unwritten<float>(512);
    add<<<2, 256>>>(c, a, b);
    return cudaDeviceSynchronize();
}
