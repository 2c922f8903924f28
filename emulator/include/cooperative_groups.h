/*
 * cooperative_groups.h: groups of threads as objects: the block, tiles of a warp, the threads that
 * happen to be together, and the whole grid.
 */
#ifndef SOFTGPU_COOPERATIVE_GROUPS_H
#define SOFTGPU_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

#ifdef __CUDA__
#define SOFTGPU_METHOD __attribute__((device, always_inline, nodebug))

namespace cooperative_groups
{

/* ---- the grid -------------------------------------------------------------------------------- */

namespace details
{
/** What a cooperative launch gives its blocks to meet at; null in any other launch. */
SOFTGPU_DEVICE unsigned *grid_workspace()
{
    unsigned low, high;
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    return (unsigned *)((unsigned long long)high << 32 | low);
}
SOFTGPU_DEVICE unsigned block_threads()
{
    return blockDim.x * blockDim.y * blockDim.z;
}
SOFTGPU_DEVICE unsigned rank_in_block()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
SOFTGPU_DEVICE unsigned lane()
{
    unsigned r;
    asm("mov.u32 %0, %%laneid;" : "=r"(r));
    return r;
}
} // namespace details

class grid_group
{
  public:
    typedef unsigned arrival_token;

    SOFTGPU_METHOD bool is_valid() const
    {
        return details::grid_workspace() != nullptr;
    }
    SOFTGPU_METHOD unsigned long long num_blocks() const
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    SOFTGPU_METHOD unsigned long long block_rank() const
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    SOFTGPU_METHOD unsigned long long size() const
    {
        return num_blocks() * details::block_threads();
    }
    SOFTGPU_METHOD unsigned long long num_threads() const
    {
        return size();
    }
    SOFTGPU_METHOD unsigned long long thread_rank() const
    {
        return block_rank() * details::block_threads() + details::rank_in_block();
    }
    SOFTGPU_METHOD dim3 group_dim() const
    {
        return gridDim;
    }
    SOFTGPU_METHOD dim3 dim_blocks() const
    {
        return gridDim;
    }
    SOFTGPU_METHOD dim3 block_index() const
    {
        return blockIdx;
    }

    /* Every block adds 1, one of them what is missing to 2^31: the top bit turns when all came. */
    SOFTGPU_METHOD arrival_token barrier_arrive() const
    {
        unsigned *counter = details::grid_workspace(), before = 0;
        if (!counter) __trap();
        __syncthreads();
        if (details::rank_in_block() == 0) {
            unsigned others = (unsigned)num_blocks() - 1;
            unsigned mine = block_rank() == 0 ? 0x80000000u - others : 1;
            asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;"
                         : "=r"(before)
                         : "l"(counter + 1), "r"(mine)
                         : "memory");
        }
        return before;
    }
    SOFTGPU_METHOD void barrier_wait(arrival_token &&before) const
    {
        unsigned *counter = details::grid_workspace(), now = before;
        if (details::rank_in_block() == 0)
            while (!((now ^ before) >> 31))
                asm volatile("ld.acquire.gpu.u32 %0, [%1];"
                             : "=r"(now)
                             : "l"(counter + 1)
                             : "memory");
        __syncthreads();
    }
    SOFTGPU_METHOD void sync() const
    {
        barrier_wait(barrier_arrive());
    }
};

SOFTGPU_DEVICE grid_group this_grid()
{
    return grid_group();
}

/* ---- the block ------------------------------------------------------------------------------- */

class thread_block
{
  public:
    struct arrival_token {
    };

    /* The whole barrier stands where it is waited for. */
    SOFTGPU_METHOD static arrival_token barrier_arrive()
    {
        return arrival_token();
    }
    SOFTGPU_METHOD static void barrier_wait(arrival_token &&)
    {
        __syncthreads();
    }
    SOFTGPU_METHOD static void sync()
    {
        __syncthreads();
    }
    SOFTGPU_METHOD static unsigned size()
    {
        return details::block_threads();
    }
    SOFTGPU_METHOD static unsigned num_threads()
    {
        return size();
    }
    SOFTGPU_METHOD static unsigned thread_rank()
    {
        return details::rank_in_block();
    }
    SOFTGPU_METHOD static dim3 group_index()
    {
        return blockIdx;
    }
    SOFTGPU_METHOD static dim3 thread_index()
    {
        return threadIdx;
    }
    SOFTGPU_METHOD static dim3 group_dim()
    {
        return blockDim;
    }
    SOFTGPU_METHOD static dim3 dim_threads()
    {
        return blockDim;
    }
};

SOFTGPU_DEVICE thread_block this_thread_block()
{
    return thread_block();
}

/** What tiles larger than a warp would need; softgpu has none of those. */
template <unsigned Threads = 1024> struct block_tile_memory {
};
template <unsigned Threads>
SOFTGPU_DEVICE thread_block this_thread_block(block_tile_memory<Threads> &)
{
    return thread_block();
}

/* ---- groups inside a warp -------------------------------------------------------------------- */

/** What tiles and coalesced threads share: lanes of one warp that vote and shuffle. Self gives
 *  mask(), size(), thread_rank() and lane_of(rank), the lane that has this rank. */
template <class Self> class warp_group
{
    SOFTGPU_METHOD const Self &self() const
    {
        return static_cast<const Self &>(*this);
    }

  public:
    SOFTGPU_METHOD void sync() const
    {
        __syncwarp(self().mask());
    }
    SOFTGPU_METHOD unsigned num_threads() const
    {
        return self().size();
    }
    SOFTGPU_METHOD int any(int predicate) const
    {
        return __any_sync(self().mask(), predicate);
    }
    SOFTGPU_METHOD int all(int predicate) const
    {
        return __all_sync(self().mask(), predicate);
    }
    SOFTGPU_METHOD unsigned ballot(int predicate) const
    {
        return self().pack(__ballot_sync(self().mask(), predicate));
    }
    template <class T> SOFTGPU_METHOD unsigned match_any(T value) const
    {
        return self().pack(__match_any_sync(self().mask(), value));
    }
    template <class T> SOFTGPU_METHOD unsigned match_all(T value, int &all) const
    {
        return self().pack(__match_all_sync(self().mask(), value, &all));
    }
    template <class T> SOFTGPU_METHOD T shfl(T value, int rank) const
    {
        return softgpu_shfl(self().mask(), value, self().lane_of((unsigned)rank % self().size()));
    }
    template <class T> SOFTGPU_METHOD T shfl_up(T value, unsigned delta) const
    {
        unsigned rank = self().thread_rank();
        return softgpu_shfl(self().mask(), value,
                            self().lane_of(rank < delta ? rank : rank - delta));
    }
    template <class T> SOFTGPU_METHOD T shfl_down(T value, unsigned delta) const
    {
        unsigned rank = self().thread_rank();
        return softgpu_shfl(self().mask(), value,
                            self().lane_of(rank + delta < self().size() ? rank + delta : rank));
    }
};

template <unsigned Size, class Parent = void>
class thread_block_tile : public warp_group<thread_block_tile<Size, Parent>>
{
    static_assert(Size && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1 to 32 threads");

  public:
    thread_block_tile() = default;
    template <class Other> SOFTGPU_METHOD thread_block_tile(const thread_block_tile<Size, Other> &)
    {
    }

    SOFTGPU_METHOD static constexpr unsigned size()
    {
        return Size;
    }
    SOFTGPU_METHOD static unsigned thread_rank()
    {
        return details::rank_in_block() % Size;
    }
    SOFTGPU_METHOD static unsigned meta_group_rank()
    {
        return details::rank_in_block() / Size;
    }
    SOFTGPU_METHOD static unsigned meta_group_size()
    {
        return (details::block_threads() + Size - 1) / Size;
    }
    SOFTGPU_METHOD static unsigned mask()
    {
        return (0xffffffffu >> (32 - Size)) << (details::lane() & ~(Size - 1));
    }
    SOFTGPU_METHOD static unsigned pack(unsigned lanes)
    {
        return (lanes & mask()) >> (details::lane() & ~(Size - 1));
    }
    SOFTGPU_METHOD static unsigned lane_of(unsigned rank)
    {
        return (details::lane() & ~(Size - 1)) + rank;
    }

    /* the shuffles of the warp itself: one instruction */
    template <class T> SOFTGPU_METHOD T shfl(T value, int rank) const
    {
        return softgpu_shfl(mask(), value, rank, Size);
    }
    template <class T> SOFTGPU_METHOD T shfl_up(T value, unsigned delta) const
    {
        return softgpu_shfl_up(mask(), value, delta, Size);
    }
    template <class T> SOFTGPU_METHOD T shfl_down(T value, unsigned delta) const
    {
        return softgpu_shfl_down(mask(), value, delta, Size);
    }
    template <class T> SOFTGPU_METHOD T shfl_xor(T value, unsigned lanes) const
    {
        return softgpu_shfl_xor(mask(), value, lanes, Size);
    }
};

class coalesced_group : public warp_group<coalesced_group>
{
    unsigned lanes;

  public:
    SOFTGPU_METHOD explicit coalesced_group(unsigned lanes) : lanes(lanes)
    {
    }
    SOFTGPU_METHOD unsigned mask() const
    {
        return lanes;
    }
    SOFTGPU_METHOD unsigned size() const
    {
        return (unsigned)__popc(lanes);
    }
    SOFTGPU_METHOD unsigned thread_rank() const
    {
        return (unsigned)__popc(lanes & ((1u << details::lane()) - 1));
    }
    SOFTGPU_METHOD unsigned meta_group_rank() const
    {
        return 0;
    }
    SOFTGPU_METHOD unsigned meta_group_size() const
    {
        return 1;
    }
    /** Lanes as the group counts them. */
    SOFTGPU_METHOD unsigned pack(unsigned of_warp) const
    {
        unsigned packed = 0, rank = 0;
        for (unsigned left = lanes; left; left &= left - 1, rank++)
            packed |= (of_warp >> (__ffs((int)left) - 1) & 1) << rank;
        return packed;
    }
    SOFTGPU_METHOD unsigned lane_of(unsigned rank) const
    {
        unsigned left = lanes;
        for (; rank > 0 && left; rank--) left &= left - 1;
        return (unsigned)__ffs((int)left) - 1;
    }
};

SOFTGPU_DEVICE coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask());
}

/** A block, or some lanes of a warp: any of the groups above, for functions that take all. */
class thread_group
{
    unsigned lanes; /* 0: the block */

  public:
    SOFTGPU_METHOD thread_group(const thread_block &) : lanes(0)
    {
    }
    template <class Self>
    SOFTGPU_METHOD thread_group(const warp_group<Self> &g)
        : lanes(static_cast<const Self &>(g).mask())
    {
    }
    SOFTGPU_METHOD explicit thread_group(unsigned lanes) : lanes(lanes)
    {
    }
    SOFTGPU_METHOD void sync() const
    {
        if (lanes)
            __syncwarp(lanes);
        else
            __syncthreads();
    }
    SOFTGPU_METHOD unsigned size() const
    {
        return lanes ? (unsigned)__popc(lanes) : details::block_threads();
    }
    SOFTGPU_METHOD unsigned num_threads() const
    {
        return size();
    }
    SOFTGPU_METHOD unsigned thread_rank() const
    {
        return lanes ? (unsigned)__popc(lanes & ((1u << details::lane()) - 1))
                     : details::rank_in_block();
    }
    SOFTGPU_METHOD unsigned mask() const
    {
        return lanes;
    }
};

/** One thread of the group calls f; invoke_one_broadcast gives its result to all. */
template <class Group, class F> SOFTGPU_DEVICE void invoke_one(const Group &group, F &&f)
{
    if (group.thread_rank() == 0) f();
}
template <class Group, class F>
SOFTGPU_DEVICE auto invoke_one_broadcast(const Group &group, F &&f) -> decltype(f())
{
    decltype(f()) result{};
    if (group.thread_rank() == 0) result = f();
    return group.shfl(result, 0);
}

/* ---- making smaller groups ------------------------------------------------------------------- */

template <unsigned Size, class Parent>
SOFTGPU_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent &)
{
    return thread_block_tile<Size, Parent>();
}

/** Tiles of a size that is known when the kernel runs: of a block, or of some of its lanes. */
SOFTGPU_DEVICE thread_group tiled_partition(const thread_group &group, unsigned size)
{
    unsigned first = group.thread_rank() / size * size, lanes = 0, rank = 0;
    if (!group.mask()) {
        first = details::lane() / size * size;
        return thread_group((size < 32 ? (1u << size) - 1 : 0xffffffffu) << first);
    }
    for (unsigned left = group.mask(); left; left &= left - 1, rank++)
        if (rank >= first && rank < first + size) lanes |= left & -left;
    return thread_group(lanes);
}

/** The threads of `group` that have the same label. */
template <class Group, class Label>
SOFTGPU_DEVICE coalesced_group labeled_partition(const Group &group, Label label)
{
    return coalesced_group(__match_any_sync(group.mask(), label));
}
template <class Group>
SOFTGPU_DEVICE coalesced_group binary_partition(const Group &group, bool side)
{
    unsigned yes = __ballot_sync(group.mask(), side);
    return coalesced_group(side ? yes : group.mask() & ~yes);
}

template <class Group> SOFTGPU_DEVICE void sync(const Group &group)
{
    group.sync();
}
template <class Group> SOFTGPU_DEVICE unsigned thread_rank(const Group &group)
{
    return (unsigned)group.thread_rank();
}
template <class Group> SOFTGPU_DEVICE unsigned group_size(const Group &group)
{
    return (unsigned)group.size();
}

} // namespace cooperative_groups

#include "cooperative_groups/cluster.h"

#endif
#endif
