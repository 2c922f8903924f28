// race: of block 1 read at line
// FLAGS: -arch=sm_90a
/* Block 0 waits until it has read its own tile, and overwrites that of block 1, too. */
#include "multicast.h"

__global__ void product(float *sums, const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(1024) bf16 a[TILE];
    __shared__ uint64_t full, empty;
    const unsigned rank = rank_in_cluster();
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_init(&empty, 1);
        barrier_fence();
    }
    cluster_sync();
    if (threadIdx.x == 128) {
        for (int i = 0; i < ROUNDS; i++) {
            barrier_wait(&empty, i % 2 ^ 1);
            barrier_expect(&full, sizeof a);
            if (rank == 0) multicast(a, &map, &full, i * K); // HERE
        }
    } else if (threadIdx.x < 128) {
        float d[4] = {};
        for (int i = 0; i < ROUNDS; i++) {
            barrier_wait(&full, i % 2);
            wgmma_fence();
            for (int k = 0; k < K; k += 16)
                wgmma(d, descriptor(a + k, 1024, 1), descriptor(a + k, 1024, 1));
            wgmma_commit();
            wgmma_wait<0>();
            if (threadIdx.x == 0) arrive_at(&empty, rank);
        }
        store_sums(sums + rank * M * N, d);
    }
    cluster_sync();
}

int main()
{
    return run(product);
}
