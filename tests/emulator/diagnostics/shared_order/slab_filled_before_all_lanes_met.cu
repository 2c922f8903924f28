// missing __syncwarp: the lanes of a warp need not run in step
// FLAGS: -arch=sm_90a
/* One lane waits until the TMA has read the slab, and asks it to read the slab again. The other lanes do not wait for
 * that lane, and it does not wait for them. */
#include "../tensor/hopper.h"

__global__ void fill(const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(1024) bf16 tile[8 * K];
    for (int y = 0; y < 32; y += 8) {
        if (threadIdx.x == 0) bulk_wait_read();
        for (int i = threadIdx.x; i < 8 * K; i += 32) tile[i] = __float2bfloat16(y); // HERE
        fence_async();
        if (threadIdx.x == 0) {
            tma_store(&map, tile, 0, y); // HERE
            bulk_commit();
        }
    }
    if (threadIdx.x == 0) bulk_wait_read();
}

int main()
{
    fill<<<1, 32>>>(describe(zeros(32 * K * 2), 32, K, 8));
    return cudaDeviceSynchronize();
}
