// failed assert
// FLAGS: -arch=sm_90a
/* The sum is cleared when the copy that adds to it has been issued. */
#include "../tensor/hopper.h"
#include <assert.h>

__global__ void add(float *sum)
{
    __shared__ __align__(128) float tile[64];
    tile[threadIdx.x] = 1;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(sum),
                     "r"(at(tile)), "r"((int)sizeof tile)
                     : "memory");
        sum[0] = 0;
        bulk_commit();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        assert(sum[0] == 1); // HERE
    }
}

int main()
{
    add<<<1, 64>>>((float *)zeros(64 * sizeof(float)));
    return cudaDeviceSynchronize();
}
