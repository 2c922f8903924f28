// nothing
// FLAGS: -arch=sm_90a
/* The last round of the warp that brings tiles expects bytes and leaves the mbarrier; the others go on without it. */
#include "../tensor/hopper.h"

__global__ void go_on(int *out, const int *in)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 65);
        barrier_fence();
    }
    __syncthreads();
    if (threadIdx.x == 64) {
        asm volatile("mbarrier.arrive_drop.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full)),
                     "r"((int)sizeof tile)
                     : "memory");
        bulk_load(tile, in, sizeof tile, &full);
    } else if (threadIdx.x < 64) {
        for (int i = 0; i < 4; i++) {
            barrier_arrive(&full);
            barrier_wait(&full, i % 2);
        }
        out[threadIdx.x] = tile[63 - threadIdx.x];
    }
}

int main()
{
    go_on<<<1, 96>>>((int *)zeros(256), (const int *)zeros(256));
    return cudaDeviceSynchronize();
}
