// race
// FLAGS: -arch=sm_90a
/* The wait is for groups, and this store is in none. */
#include "hopper.h"

__global__ void fill(const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(1024) bf16 tile[8 * K];
    for (int y = 0; y < 32; y += 8) {
        for (int i = threadIdx.x; i < 8 * K; i += blockDim.x) tile[i] = __float2bfloat16(y); // HERE
        fence_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            tma_store(&map, tile, 0, y); // HERE
            bulk_wait_read();
        }
        __syncthreads();
    }
}

int main()
{
    fill<<<1, 64>>>(describe(zeros(32 * K * 2), 32, K, 8));
    return cudaDeviceSynchronize();
}
