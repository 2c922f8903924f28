/*
 * cluster_functions.h: blocks that run together as a cluster, by what each of them is there, their
 * barrier, and the shared memory of the others. Part of device_functions.h.
 */
#ifndef SOFTGPU_CLUSTER_FUNCTIONS_H
#define SOFTGPU_CLUSTER_FUNCTIONS_H

#define SOFTGPU_CLUSTER_NUMBER(name, special)                                                      \
    SOFTGPU_DEVICE unsigned name()                                                                 \
    {                                                                                              \
        unsigned r;                                                                                \
        asm("mov.u32 %0, %%" special ";" : "=r"(r));                                               \
        return r;                                                                                  \
    }
#define SOFTGPU_CLUSTER_PLACE(name, special)                                                       \
    SOFTGPU_DEVICE dim3 name()                                                                     \
    {                                                                                              \
        dim3 r;                                                                                    \
        asm("mov.u32 %0, %%" special ".x;" : "=r"(r.x));                                           \
        asm("mov.u32 %0, %%" special ".y;" : "=r"(r.y));                                           \
        asm("mov.u32 %0, %%" special ".z;" : "=r"(r.z));                                           \
        return r;                                                                                  \
    }
SOFTGPU_CLUSTER_NUMBER(__clusterRelativeBlockRank, "cluster_ctarank")
SOFTGPU_CLUSTER_NUMBER(__clusterSizeInBlocks, "cluster_nctarank")
SOFTGPU_CLUSTER_PLACE(__clusterRelativeBlockIdx, "cluster_ctaid")
SOFTGPU_CLUSTER_PLACE(__clusterDim, "cluster_nctaid")
SOFTGPU_CLUSTER_PLACE(__clusterIdx, "clusterid")
SOFTGPU_CLUSTER_PLACE(__clusterGridDimInClusters, "nclusterid")
#undef SOFTGPU_CLUSTER_NUMBER
#undef SOFTGPU_CLUSTER_PLACE

SOFTGPU_DEVICE unsigned __clusterDimIsSpecified()
{
    unsigned r;
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(r));
    return r;
}
SOFTGPU_DEVICE unsigned __isClusterShared(const void *p)
{
    unsigned r;
    asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
        : "=r"(r)
        : "l"(p));
    return r;
}
SOFTGPU_DEVICE void __cluster_barrier_arrive()
{
    asm volatile("barrier.cluster.arrive;" ::: "memory");
}
SOFTGPU_DEVICE void __cluster_barrier_arrive_relaxed()
{
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
SOFTGPU_DEVICE void __cluster_barrier_wait()
{
    asm volatile("barrier.cluster.wait;" ::: "memory");
}
SOFTGPU_DEVICE void *__cluster_map_shared_rank(const void *address, unsigned rank)
{
    void *r;
    asm("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(address), "r"(rank));
    return r;
}
SOFTGPU_DEVICE unsigned __cluster_query_shared_rank(const void *address)
{
    unsigned r;
    asm("getctarank.u64 %0, %1;" : "=r"(r) : "l"(address));
    return r;
}

#endif
