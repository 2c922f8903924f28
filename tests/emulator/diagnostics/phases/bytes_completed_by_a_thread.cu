// nothing
// FLAGS: -arch=sm_90a
/* What a copy of a tile's end would bring, a thread writes itself, and tells the mbarrier of its bytes. */
#include "../tensor/hopper.h"

__global__ void fill(int *out, const int *in, int n)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        barrier_expect(&full, sizeof tile);
        bulk_load(tile, in, 4 * n, &full);
        for (int i = n; i < 64; i++) tile[i] = 0;
        asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(at(&full)),
                     "r"(4 * (64 - n))
                     : "memory");
    }
    __syncthreads();
    barrier_wait(&full, 0);
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

int main()
{
    fill<<<1, 64>>>((int *)zeros(256), (const int *)zeros(256), 48);
    return cudaDeviceSynchronize();
}
