/* multicast.h: a tile that one block brings to both blocks of a cluster. */
#pragma once
#include "../tensor/hopper.h"

enum { ROUNDS = 6, TILE = M * K };

__device__ static inline unsigned rank_in_cluster()
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ static inline void cluster_sync()
{
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

__device__ static inline void multicast(void *to, const CUtensorMap *map, uint64_t *b, int x)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
                 "multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(at(to)),
                 "l"(map), "r"(at(b)), "r"(x), "r"(0), "h"((short)3)
                 : "memory");
}

/* At the mbarrier of that block. */
__device__ static inline void arrive_at(uint64_t *b, unsigned rank)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(at(b)),
                 "r"(rank)
                 : "memory");
}

static int run(void (*kernel)(float *, CUtensorMap))
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 2;
    config.blockDim = 160;
    config.attrs = &attribute;
    config.numAttrs = 1;
    float *sums = (float *)zeros(2 * M * N * 4);
    cudaLaunchKernelEx(&config, kernel, sums,
                       describe(zeros(TILE * 2 * ROUNDS), M, K * ROUNDS, M));
    return cudaDeviceSynchronize();
}
