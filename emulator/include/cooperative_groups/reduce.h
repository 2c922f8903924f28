/*
 * cooperative_groups/reduce.h: one value of all threads of a tile or of coalesced threads.
 */
#ifndef SOFTGPU_COOPERATIVE_GROUPS_REDUCE_H
#define SOFTGPU_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

#ifdef __CUDA__
namespace cooperative_groups
{

#define OPERATION(name, value)                                                                     \
    template <class T> struct name {                                                               \
        SOFTGPU_METHOD T operator()(T a, T b) const                                                \
        {                                                                                          \
            return value;                                                                          \
        }                                                                                          \
    };
OPERATION(plus, a + b)
OPERATION(less, b < a ? b : a)
OPERATION(greater, a < b ? b : a)
OPERATION(bit_and, a &b)
OPERATION(bit_or, a | b)
OPERATION(bit_xor, a ^ b)
#undef OPERATION

/** In pairs of growing distance, as a tree; every thread gets the result. */
template <unsigned Size, class Parent, class T, class Operation>
SOFTGPU_DEVICE T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation operation)
{
    for (unsigned distance = Size / 2; distance > 0; distance /= 2)
        value = operation(value, tile.shfl_xor(value, distance));
    return value;
}
template <class T, class Operation>
SOFTGPU_DEVICE T reduce(const coalesced_group &group, T value, Operation operation)
{
    T sum = group.shfl(value, 0);
    for (unsigned rank = 1; rank < group.size(); rank++)
        sum = operation(sum, group.shfl(value, (int)rank));
    return sum;
}

} // namespace cooperative_groups
#endif
#endif
