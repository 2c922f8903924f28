/* cluster_sums.cu: what blocks of a cluster add, asynchronously, to each other's shared memory:
 * words (red.async) and arrays (cp.reduce.async.bulk), by every operation. */
// FLAGS: -arch=sm_90a
// NEEDS: nvcc, clang 14 does not know bulk copies
#include "check.h"

#include <algorithm>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { BLOCKS = 4, COUNT = 64 };

__device__ static unsigned at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ static unsigned there(const void *p, int rank)
{
    unsigned address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(at(p)), "r"(rank));
    return address;
}

__device__ static void expect(uint64_t *barrier, int bytes)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "fence.mbarrier_init.release.cluster;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ static void wait(uint64_t *barrier)
{
    asm volatile("{\n.reg .pred over;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], 0;\n"
                 "@!over bra again;\n}" ::"r"(at(barrier))
                 : "memory");
}

/* All blocks do to block 0's array what `operation` says, each with its own numbers. */
#define DEFINE(name, T, operation, constraint)                                                     \
    __global__ void __cluster_dims__(BLOCKS, 1, 1) words_##name(const T *in, T *out)               \
    {                                                                                              \
        __shared__ T sum[COUNT];                                                                   \
        __shared__ uint64_t done;                                                                  \
        cg::cluster_group cluster = cg::this_cluster();                                            \
        const int rank = cluster.block_rank(), t = threadIdx.x;                                    \
        sum[t] = out[t];                                                                           \
        if (t == 0) expect(&done, BLOCKS * sizeof sum);                                            \
        cluster.sync();                                                                            \
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."     \
                     operation " [%0], %1, [%2];" ::"r"(there(&sum[t], 0)),                        \
                     constraint(in[rank * COUNT + t]), "r"(there(&done, 0))                        \
                     : "memory");                                                                  \
        if (rank == 0) wait(&done);                                                                \
        if (rank == 0) out[t] = sum[t];                                                            \
        cluster.sync();                                                                            \
    }                                                                                              \
    __global__ void __cluster_dims__(BLOCKS, 1, 1) arrays_##name(const T *in, T *out)              \
    {                                                                                              \
        __shared__ __align__(128) T sum[COUNT], mine[COUNT];                                       \
        __shared__ uint64_t done;                                                                  \
        cg::cluster_group cluster = cg::this_cluster();                                            \
        const int rank = cluster.block_rank(), t = threadIdx.x;                                    \
        sum[t] = out[t];                                                                           \
        mine[t] = in[rank * COUNT + t];                                                            \
        if (t == 0) expect(&done, BLOCKS * sizeof sum);                                            \
        asm volatile("fence.proxy.async;" ::: "memory");                                           \
        cluster.sync();                                                                            \
        if (t == 0)                                                                                \
            asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::"             \
                         "complete_tx::bytes." operation " [%0], [%1], %2, [%3];" ::"r"(           \
                             there(sum, 0)),                                                       \
                         "r"(at(mine)), "r"((unsigned)sizeof mine), "r"(there(&done, 0))           \
                         : "memory");                                                              \
        if (rank == 0) wait(&done);                                                                \
        if (rank == 0) out[t] = sum[t];                                                            \
        cluster.sync();                                                                            \
    }

DEFINE(add_u32, unsigned, "add.u32", "r")
DEFINE(add_s32, int, "add.s32", "r")
DEFINE(add_u64, uint64_t, "add.u64", "l")
DEFINE(min_u32, unsigned, "min.u32", "r")
DEFINE(min_s32, int, "min.s32", "r")
DEFINE(max_u32, unsigned, "max.u32", "r")
DEFINE(max_s32, int, "max.s32", "r")
DEFINE(inc_u32, unsigned, "inc.u32", "r")
DEFINE(dec_u32, unsigned, "dec.u32", "r")
DEFINE(and_b32, unsigned, "and.b32", "r")
DEFINE(or_b32, unsigned, "or.b32", "r")
DEFINE(xor_b32, unsigned, "xor.b32", "r")

/* Block 0 has the numbers of a round, and those of all blocks come to them, in any order. */
template <class T, class F> static void compare(void (*kernel)(const T *, T *), F reduce)
{
    std::vector<T> first(COUNT), in(BLOCKS * COUNT);
    for (int i = 0; i < COUNT; i++) first[i] = (T)(i * 2654435761u);
    for (int i = 0; i < BLOCKS * COUNT; i++) in[i] = (T)((i + 77) * 2246822519u);
    T *out = to_device(first);
    kernel<<<BLOCKS, COUNT>>>(to_device(in), out);
    SYNC();
    const std::vector<T> got = to_host(out, COUNT);
    for (int i = 0; i < COUNT; i++) {
        T want = first[i];
        for (int b = 0; b < BLOCKS; b++) want = reduce(want, in[b * COUNT + i]);
        CHECK(got[i] == want);
    }
}

template <class T> static T least(T a, T b) { return std::min(a, b); }
template <class T> static T most(T a, T b) { return std::max(a, b); }
template <class T> static T sum(T a, T b) { return a + b; }

CASE(words_in_another_block)
{
    compare(words_add_u32, sum<unsigned>);
    compare(words_add_s32, [](int a, int b) { return (int)((unsigned)a + (unsigned)b); });
    compare(words_add_u64, sum<uint64_t>);
    compare(words_min_u32, least<unsigned>);
    compare(words_min_s32, least<int>);
    compare(words_max_u32, most<unsigned>);
    compare(words_max_s32, most<int>);
    compare(words_and_b32, [](unsigned a, unsigned b) { return a & b; });
    compare(words_or_b32, [](unsigned a, unsigned b) { return a | b; });
    compare(words_xor_b32, [](unsigned a, unsigned b) { return a ^ b; });
}

CASE(arrays_in_another_block)
{
    compare(arrays_add_u32, sum<unsigned>);
    compare(arrays_add_s32, [](int a, int b) { return (int)((unsigned)a + (unsigned)b); });
    compare(arrays_add_u64, sum<uint64_t>);
    compare(arrays_min_u32, least<unsigned>);
    compare(arrays_min_s32, least<int>);
    compare(arrays_max_u32, most<unsigned>);
    compare(arrays_max_s32, most<int>);
    compare(arrays_and_b32, [](unsigned a, unsigned b) { return a & b; });
    compare(arrays_or_b32, [](unsigned a, unsigned b) { return a | b; });
    compare(arrays_xor_b32, [](unsigned a, unsigned b) { return a ^ b; });
}

/* They count up to a number, or down from it; here it is the same for all blocks. */
template <class F> static void count(void (*kernel)(const unsigned *, unsigned *), F step)
{
    std::vector<unsigned> first(COUNT), in(BLOCKS * COUNT);
    for (unsigned i = 0; i < COUNT; i++) first[i] = i % 7;
    for (unsigned i = 0; i < BLOCKS * COUNT; i++) in[i] = i % COUNT % 5;
    unsigned *out = to_device(first);
    kernel<<<BLOCKS, COUNT>>>(to_device(in), out);
    SYNC();
    const std::vector<unsigned> got = to_host(out, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        unsigned want = first[i];
        for (int b = 0; b < BLOCKS; b++) want = step(want, in[i]);
        CHECK(got[i] == want);
    }
}

CASE(counters_that_wrap)
{
    const auto up = [](unsigned a, unsigned most) { return a >= most ? 0 : a + 1; };
    const auto down = [](unsigned a, unsigned most) { return a == 0 || a > most ? most : a - 1; };
    count(words_inc_u32, up);
    count(words_dec_u32, down);
    count(arrays_inc_u32, up);
    count(arrays_dec_u32, down);
}
