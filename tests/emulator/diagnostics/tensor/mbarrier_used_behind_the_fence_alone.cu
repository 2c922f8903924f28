// race: with no barrier in between
// FLAGS: -arch=sm_90a
/* For the second tile the mbarrier begins anew. The fence makes that visible, but nothing tells the other warp that
 * it has happened. */
#include "hopper.h"

__device__ static void fetch(int *tile, const int *in, uint64_t *full)
{
    barrier_init(full, 1);
    barrier_fence();
    barrier_expect(full, 256);
    bulk_load(tile, in, 256, full);
}

__global__ void take(int *out, const int *in)
{
    __shared__ __align__(128) int tile[2][64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) fetch(tile[0], in, &full);
    __syncthreads();
    barrier_wait(&full, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(&full)) : "memory");
        fetch(tile[1], in + 64, &full);
    }
    const int first = tile[0][63 - threadIdx.x];
    barrier_wait(&full, 0); // HERE
    out[threadIdx.x] = first + tile[1][63 - threadIdx.x];
}

int main()
{
    take<<<1, 64>>>((int *)zeros(256), (const int *)zeros(512));
    return cudaDeviceSynchronize();
}
