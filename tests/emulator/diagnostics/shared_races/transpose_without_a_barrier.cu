// race
/* A column of the tile is read before other warps have written it. */
#include <device_arrays.h>

__global__ void transpose(float *to, const float *from, int n)
{
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[y + k][x] = 0;
    __syncthreads();
    for (int k = 0; k < 32; k += 8) tile[y + k][x] = from[(y + k) * n + x];
    for (int k = 0; k < 32; k += 8) to[(y + k) * n + x] = tile[x][y + k]; // HERE
}

int main()
{
    float *a = filled<float>(1024, 0), *b = unwritten<float>(1024);
    transpose<<<1, dim3(32, 8)>>>(b, a, 32);
    return cudaDeviceSynchronize();
}
