// uninitialised read
/* Threads beyond the rows return, but their columns of the tile are needed. */
#include <device_arrays.h>

__global__ void product(float *out, const float *a, int rows)
{
    __shared__ float tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    if (y >= rows) return;
    tile[y][x] = a[y * 16 + x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 16; k++) sum += tile[k][x]; // HERE
    out[y * 16 + x] = sum;
}

int main()
{
    float *a = filled<float>(256, 0), *out = unwritten<float>(256);
    product<<<1, dim3(16, 16)>>>(out, a, 10);
    return cudaDeviceSynchronize();
}
