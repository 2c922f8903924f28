// race
/* A column of the tile is read before other warps have written it. */
#include <cuda_runtime.h>

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
    float *a, *b;
    cudaMalloc(&a, 1024 * sizeof *a);
    cudaMalloc(&b, 1024 * sizeof *b);
    cudaMemset(a, 0, 1024 * sizeof *a);
    transpose<<<1, dim3(32, 8)>>>(b, a, 32);
    return cudaDeviceSynchronize();
}
