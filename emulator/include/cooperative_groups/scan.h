/*
 * cooperative_groups/scan.h: for each thread, what the threads before it (and itself) have
 * together.
 */
#ifndef SOFTGPU_COOPERATIVE_GROUPS_SCAN_H
#define SOFTGPU_COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

#ifdef __CUDA__
namespace cooperative_groups
{

template <class Group, class T, class Operation = plus<T>>
SOFTGPU_DEVICE T inclusive_scan(const Group &group, T value, Operation operation = Operation())
{
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        T before = group.shfl_up(value, distance);
        if (group.thread_rank() >= distance) value = operation(before, value);
    }
    return value;
}

/** The first thread gets T(). */
template <class Group, class T, class Operation = plus<T>>
SOFTGPU_DEVICE T exclusive_scan(const Group &group, T value, Operation operation = Operation())
{
    T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() == 0 ? T() : before;
}

} // namespace cooperative_groups
#endif
#endif
