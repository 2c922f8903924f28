// race
/* __syncwarp orders one warp; the column was written by eight. */
#include <device_arrays.h>

__global__ void columns(float *out, const float *x)
{
    __shared__ float tile[8][33];
    int lane = threadIdx.x, warp = threadIdx.y;
    tile[warp][lane] = 0;
    __syncthreads();
    tile[warp][lane] = x[warp * 32 + lane];
    __syncwarp();
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += tile[k][lane]; // HERE
    out[warp * 32 + lane] = sum;
}

int main()
{
    float *x = filled<float>(256, 0), *out = unwritten<float>(256);
    columns<<<1, dim3(32, 8)>>>(out, x);
    return cudaDeviceSynchronize();
}
