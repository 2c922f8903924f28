// nothing
/* Each warp has a row of its own, and needs no barrier of the block. */
#include <device_arrays.h>

__global__ void rotate(int *x)
{
    __shared__ int rows[4][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    rows[warp][lane] = x[threadIdx.x];
    __syncwarp();
    x[threadIdx.x] = rows[warp][(lane + 1) % 32];
}

int main()
{
    int *x = filled<int>(128, 0);
    rotate<<<1, 128>>>(x);
    return cudaDeviceSynchronize();
}
