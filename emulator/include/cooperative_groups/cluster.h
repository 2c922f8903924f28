/*
 * cluster.h: the blocks of a cluster as a group. Part of cooperative_groups.h.
 */
#ifndef SOFTGPU_COOPERATIVE_GROUPS_CLUSTER_H
#define SOFTGPU_COOPERATIVE_GROUPS_CLUSTER_H

namespace cooperative_groups
{
class cluster_group
{
  public:
    struct arrival_token {
    };

    SOFTGPU_METHOD static void sync()
    {
        __cluster_barrier_arrive();
        __cluster_barrier_wait();
    }
    SOFTGPU_METHOD static arrival_token barrier_arrive()
    {
        __cluster_barrier_arrive();
        return arrival_token();
    }
    SOFTGPU_METHOD static void barrier_wait()
    {
        __cluster_barrier_wait();
    }
    SOFTGPU_METHOD static void barrier_wait(arrival_token &&)
    {
        __cluster_barrier_wait();
    }
    SOFTGPU_METHOD static unsigned query_shared_rank(const void *address)
    {
        return __cluster_query_shared_rank(address);
    }
    template <class T> SOFTGPU_METHOD static T *map_shared_rank(T *address, int rank)
    {
        return (T *)__cluster_map_shared_rank(address, (unsigned)rank);
    }
    SOFTGPU_METHOD static dim3 block_index()
    {
        return __clusterRelativeBlockIdx();
    }
    SOFTGPU_METHOD static unsigned block_rank()
    {
        return __clusterRelativeBlockRank();
    }
    SOFTGPU_METHOD static dim3 dim_blocks()
    {
        return __clusterDim();
    }
    SOFTGPU_METHOD static unsigned num_blocks()
    {
        return __clusterSizeInBlocks();
    }
    SOFTGPU_METHOD static unsigned thread_rank()
    {
        return block_rank() * details::block_threads() + details::rank_in_block();
    }
    SOFTGPU_METHOD static unsigned num_threads()
    {
        return num_blocks() * details::block_threads();
    }
    SOFTGPU_METHOD static unsigned size()
    {
        return num_threads();
    }
    SOFTGPU_METHOD static dim3 thread_index()
    {
        const dim3 block = block_index();
        return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                    block.z * blockDim.z + threadIdx.z);
    }
    SOFTGPU_METHOD static dim3 dim_threads()
    {
        const dim3 blocks = dim_blocks();
        return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
    }
};

SOFTGPU_DEVICE cluster_group this_cluster()
{
    return cluster_group();
}
} // namespace cooperative_groups

#endif
