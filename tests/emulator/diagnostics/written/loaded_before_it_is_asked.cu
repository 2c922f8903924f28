// nothing
/* All elements of a row are loaded, and counted as far as the row goes. */
#include <device_arrays.h>

__global__ void sums(float *out, const float *x, const int *lengths)
{
    const float *row = x + 8 * threadIdx.x;
    float v[8], sum = 0;
    for (int k = 0; k < 8; k++) v[k] = row[k];
    for (int k = 0; k < 8; k++) sum += k < lengths[threadIdx.x] ? v[k] : 0;
    out[threadIdx.x] = sum;
}

__global__ void fill(float *x, int *lengths)
{
    lengths[threadIdx.x] = threadIdx.x % 8;
    for (int k = 0; k < threadIdx.x % 8; k++) x[8 * threadIdx.x + k] = k;
}

int main()
{
    float *x = unwritten<float>(512), *out = unwritten<float>(64);
    int *lengths = unwritten<int>(64);
    fill<<<1, 64>>>(x, lengths);
    sums<<<1, 64>>>(out, x, lengths);
    return cudaDeviceSynchronize();
}
