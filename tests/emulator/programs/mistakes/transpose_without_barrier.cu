// finds: \(race\|uninitialised read\)
#include <stdio.h>
const int TILE_DIM = 32, BLOCK_ROWS = 8;
__global__ void transpose(float *odata, const float *idata)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y,
        width = gridDim.x * TILE_DIM;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}
int main()
{
    static float h[64 * 64];
    float *in, *out;
    for (int i = 0; i < 64 * 64; i++) h[i] = i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    dim3 grid(2, 2, 1), block(TILE_DIM, BLOCK_ROWS, 1);
    transpose<<<grid, block>>>(out, in);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %g %g %g\n", h[0], h[1], h[64], h[4095]);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
