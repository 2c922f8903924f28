/*
 * host_defines.h: CUDA's own words as clang spells them, and the words with which these
 * headers open a small function of the device (SOFTGPU_DEVICE), of both sides (SOFTGPU_BOTH), and a
 * member of a class (SOFTGPU_MEMBER).
 * Such functions are always inlined and carry no line numbers, so that what they do counts for the
 * line that calls them.
 */
#ifndef SOFTGPU_HOST_DEFINES_H
#define SOFTGPU_HOST_DEFINES_H

#ifdef __CUDA__
#define __global__             __attribute__((global))
#define __device__             __attribute__((device))
#define __host__               __attribute__((host))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#define __managed__                                                                                \
    static_assert(false, "clang has no __managed__ variables: cudaMallocManaged, or nvcc");
#define SOFTGPU_DEVICE static __inline__ __attribute__((device, always_inline, nodebug))
#define SOFTGPU_BOTH   static __inline__ __attribute__((host, device, always_inline, nodebug))
#define SOFTGPU_MEMBER __attribute__((host, device, always_inline, nodebug))
#else
#define __host__
#define __device__
#define SOFTGPU_BOTH static __inline__
#define SOFTGPU_MEMBER
#endif

#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n)    __attribute__((aligned(n)))
#if !defined __clang__ || __clang_major__ < 15 /* a later one has it itself, and <string> wants it so */
#define __noinline__ __attribute__((noinline))
#endif

#endif
