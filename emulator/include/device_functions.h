/*
 * device_functions.h: functions by which threads of a kernel work together: barriers, fences, warp
 * votes; and clocks, the trap. Inline PTX, which every clang takes alike.
 */
#ifndef SOFTGPU_DEVICE_FUNCTIONS_H
#define SOFTGPU_DEVICE_FUNCTIONS_H

#include "host_defines.h"

#include <stddef.h>

/* clang-format off */

/* ---- barriers and fences --------------------------------------------------------------------- */

/* clang has a __syncthreads of its own, but clang 14 moves loads of shared variables across it. With
 * its line it is another barrier than one in the other arm of a branch, else clang makes one of two. */
template <int Line> SOFTGPU_DEVICE void softgpu_syncthreads()
{ asm volatile("bar.sync 0; // line %0" :: "n"(Line) : "memory"); }
#define __syncthreads() softgpu_syncthreads<__LINE__>()
SOFTGPU_DEVICE void __barrier_sync(unsigned id) { asm volatile("barrier.sync %0;" :: "r"(id) : "memory"); }
SOFTGPU_DEVICE void __barrier_sync_count(unsigned id, unsigned threads)
{ asm volatile("barrier.sync %0, %1;" :: "r"(id), "r"(threads) : "memory"); }
SOFTGPU_DEVICE void __syncwarp(unsigned mask = 0xffffffff)
{ asm volatile("bar.warp.sync %0;" :: "r"(mask) : "memory"); }
SOFTGPU_DEVICE void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
SOFTGPU_DEVICE void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
SOFTGPU_DEVICE void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }

SOFTGPU_DEVICE int __syncthreads_count(int predicate)
{
    int n;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }"
                 : "=r"(n) : "r"(predicate) : "memory");
    return n;
}
#define REDUCE(name, op)                                                                           \
    SOFTGPU_DEVICE int name(int predicate)                                                         \
    {                                                                                              \
        int r;                                                                                     \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; bar.red." op ".pred q, 0, p; "      \
                     "selp.s32 %0, 1, 0, q; }" : "=r"(r) : "r"(predicate) : "memory");             \
        return r;                                                                                  \
    }
REDUCE(__syncthreads_and, "and") REDUCE(__syncthreads_or, "or")
#undef REDUCE

/* ---- votes, matches, reductions -------------------------------------------------------------- */

#define VOTE(name, op)                                                                             \
    SOFTGPU_DEVICE int name(unsigned mask, int predicate)                                          \
    {                                                                                              \
        int r;                                                                                     \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync." op ".pred q, p, %2; "   \
                     "selp.s32 %0, 1, 0, q; }" : "=r"(r) : "r"(predicate), "r"(mask) : "memory");  \
        return r;                                                                                  \
    }
VOTE(__all_sync, "all") VOTE(__any_sync, "any") VOTE(__uni_sync, "uni")
#undef VOTE
SOFTGPU_DEVICE unsigned __ballot_sync(unsigned mask, int predicate)
{
    unsigned r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                 : "=r"(r) : "r"(predicate), "r"(mask) : "memory");
    return r;
}
SOFTGPU_DEVICE unsigned __activemask()
{
    unsigned r;
    asm volatile("activemask.b32 %0;" : "=r"(r) :: "memory");
    return r;
}

#define MATCH(T, a, type)                                                                          \
    SOFTGPU_DEVICE unsigned __match_any_sync(unsigned mask, T v)                                   \
    {                                                                                              \
        unsigned r;                                                                                \
        asm volatile("match.any.sync." type " %0, %1, %2;" : "=r"(r) : a(v), "r"(mask) : "memory");\
        return r;                                                                                  \
    }                                                                                              \
    SOFTGPU_DEVICE unsigned __match_all_sync(unsigned mask, T v, int *all)                         \
    {                                                                                              \
        unsigned r;                                                                                \
        asm volatile("{ .reg .pred p; match.all.sync." type " %0|p, %2, %3; selp.s32 %1, 1, 0, p; }"\
                     : "=r"(r), "=r"(*all) : a(v), "r"(mask) : "memory");                          \
        return r;                                                                                  \
    }
MATCH(unsigned, "r", "b32") MATCH(int, "r", "b32") MATCH(float, "f", "b32")
MATCH(unsigned long long, "l", "b64") MATCH(long long, "l", "b64") MATCH(double, "d", "b64")
MATCH(unsigned long, "l", "b64") MATCH(long, "l", "b64")
#undef MATCH

#define REDUCE(T, name, op)                                                                        \
    SOFTGPU_DEVICE T __reduce_##name##_sync(unsigned mask, T v)                                    \
    {                                                                                              \
        T r;                                                                                       \
        asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask) : "memory");    \
        return r;                                                                                  \
    }
REDUCE(unsigned, add, "add.u32") REDUCE(unsigned, min, "min.u32") REDUCE(unsigned, max, "max.u32")
REDUCE(int, add, "add.s32") REDUCE(int, min, "min.s32") REDUCE(int, max, "max.s32")
REDUCE(unsigned, and, "and.b32") REDUCE(unsigned, or, "or.b32") REDUCE(unsigned, xor, "xor.b32")
#undef REDUCE

/* ---- clocks, addresses, the end -------------------------------------------------------------- */

#define READ(T, a, name, move)                                                                     \
    SOFTGPU_DEVICE T name()                                                                        \
    {                                                                                              \
        T r;                                                                                       \
        asm volatile(move : "=" a(r) :: "memory");                                                 \
        return r;                                                                                  \
    }
READ(int, "r", softgpu_clock, "mov.u32 %0, %%clock;")
READ(long long, "l", clock64, "mov.u64 %0, %%clock64;")
READ(unsigned long long, "l", __globaltimer, "mov.u64 %0, %%globaltimer;")
#undef READ
SOFTGPU_DEVICE long clock() { return softgpu_clock(); }
SOFTGPU_DEVICE void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" :: "r"(ns)); }
SOFTGPU_DEVICE void __trap() { asm volatile("trap;"); }
SOFTGPU_DEVICE void __brkpt() { asm volatile("brkpt;"); }

#define ADDRESS(Name, name, ptx)                                                                   \
    SOFTGPU_DEVICE unsigned __is##Name(const void *p)                                              \
    {                                                                                              \
        unsigned r;                                                                                \
        asm("{ .reg .pred p; isspacep." #ptx " p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "l"(p));\
        return r;                                                                                  \
    }                                                                                              \
    SOFTGPU_DEVICE size_t __cvta_generic_to_##name(const void *p)                                  \
    {                                                                                              \
        size_t r;                                                                                  \
        asm("cvta.to." #ptx ".u64 %0, %1;" : "=l"(r) : "l"(p));                                   \
        return r;                                                                                  \
    }                                                                                              \
    SOFTGPU_DEVICE void *__cvta_##name##_to_generic(size_t p)                                      \
    {                                                                                              \
        void *r;                                                                                   \
        asm("cvta." #ptx ".u64 %0, %1;" : "=l"(r) : "l"(p));                                      \
        return r;                                                                                  \
    }
ADDRESS(Global, global, global) ADDRESS(Shared, shared, shared) ADDRESS(Local, local, local)
ADDRESS(Constant, constant, const)
#undef ADDRESS
    /* clang-format on */

#include "parts/cluster_functions.h"

    extern "C"
{
    __device__ int vprintf(const char *, const char *);
    __device__ int printf(const char *, ...);
    __device__ void *malloc(size_t);
    __device__ void free(void *);
    __device__ __attribute__((noreturn)) void __assert_fail(const char *, const char *, unsigned,
                                                            const char *);
}

#endif
