/*
 * cooperative_groups/memcpy_async.h: a group copies an array to shared memory, and waits for it.
 */
#ifndef SOFTGPU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define SOFTGPU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"
#include "../cuda_pipeline.h"

#ifdef __CUDA__
namespace cooperative_groups
{

namespace details
{
/* In the widest pieces that addresses and size allow; what is less than 4 bytes, or goes elsewhere
 * than from global to shared memory, is copied at once. */
template <class Group>
SOFTGPU_DEVICE void begin_copies(const Group &group, void *to, const void *from, size_t bytes)
{
    size_t misfit = (size_t)to | (size_t)from | bytes;
    bool at_once = !__isShared(to) || !__isGlobal(from);
    size_t piece = at_once            ? 1
                   : misfit % 16 == 0 ? 16
                   : misfit % 8 == 0  ? 8
                   : misfit % 4 == 0  ? 4
                                      : 1;
    for (size_t i = group.thread_rank() * piece; i < bytes; i += group.size() * piece) {
        char *target = (char *)to + i;
        const char *source = (const char *)from + i;
        if (piece == 16) __pipeline_memcpy_async(target, source, 16);
        if (piece == 8) __pipeline_memcpy_async(target, source, 8);
        if (piece == 4) __pipeline_memcpy_async(target, source, 4);
        if (piece == 1) *target = *source;
    }
}
} // namespace details

template <class Group, class T>
SOFTGPU_DEVICE void memcpy_async(const Group &group, T *to, const T *from, size_t bytes)
{
    details::begin_copies(group, to, from, bytes);
    __pipeline_commit();
}

template <class Group> SOFTGPU_DEVICE void wait(const Group &group)
{
    __pipeline_wait_prior(0);
    group.sync();
}
template <unsigned Count, class Group> SOFTGPU_DEVICE void wait_prior(const Group &group)
{
    __pipeline_wait_prior(Count);
    group.sync();
}

} // namespace cooperative_groups
#endif
#endif
