// race: has to wait for the mbarrier
// FLAGS: -arch=sm_90a
/* The thread that brings a tile clears its first element in global memory before the tile has come. */
#include "../tensor/hopper.h"

__global__ void take(bf16 *x, const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(1024) bf16 tile[8 * K];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        barrier_expect(&full, sizeof tile);
        tma_load(tile, &map, &full, 0, 0); // HERE
        x[0] = __float2bfloat16(0);
    }
    __syncthreads();
    barrier_wait(&full, 0);
    x[threadIdx.x] = tile[8 * K - 1 - threadIdx.x];
}

int main()
{
    bf16 *x = (bf16 *)zeros(8 * K * sizeof *x), one = __float2bfloat16(1);
    cudaMemcpy(x, &one, sizeof one, cudaMemcpyHostToDevice);
    take<<<1, 64>>>(x, describe(x, 8, K, 8));
    return cudaDeviceSynchronize();
}
