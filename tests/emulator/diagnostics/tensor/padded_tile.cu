// nothing
// FLAGS: -arch=sm_90a
/* The rows of the tile are wider than those of the tensor: what lies there goes nowhere. */
#include "hopper.h"

__global__ void fill(const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(1024) bf16 tile[8 * 64];
    for (int i = threadIdx.x; i < 8 * 64; i += blockDim.x)
        if (i % 64 < 48) tile[i] = __float2bfloat16(i);
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store(&map, tile, 0, 0);
        bulk_commit();
        bulk_wait_read();
    }
}

int main()
{
    fill<<<1, 64>>>(describe(zeros(8 * 48 * 2), 8, 48, 8, CU_TENSOR_MAP_SWIZZLE_NONE, 64));
    return cudaDeviceSynchronize();
}
