// trap: cuTensorMapEncodeTiled has not filled it, or has failed
// FLAGS: -arch=sm_90a
/* Rows of the tensor are 100 bytes apart: the map cannot be encoded, and nobody looks at the answer. */
#include "hopper.h"

__global__ void take(bf16 *out, const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(1024) bf16 tile[8 * K];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        barrier_expect(&full, sizeof tile);
        tma_load(tile, &map, &full, 0, 0); // HERE
    }
    __syncthreads();
    barrier_wait(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}

int main()
{
    bf16 *x = (bf16 *)zeros(8 * 50 * sizeof *x);
    take<<<1, 64>>>(x, describe(x, 8, 50, 8));
    return cudaDeviceSynchronize();
}
