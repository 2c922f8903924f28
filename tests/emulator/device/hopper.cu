/* hopper.cu: small instructions around Hopper's units, and libcu++'s names for them. */
// FLAGS: -arch=sm_90a
// NEEDS: nvcc, clang 14 does not know sm_90a
#include "check.h"

#include <algorithm>
#include <climits>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

__device__ static uint32_t at(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* ---- one lane of a warp ---------------------------------------------------------------------- */

__global__ void elect(int *out)
{
    int chosen, leader;
    if (threadIdx.x % 32 < 5) return;
    asm volatile("{\n.reg .pred p;\nelect.sync %1|p, %2;\nselp.s32 %0, 1, 0, p;\n}"
                 : "=r"(chosen), "=r"(leader)
                 : "r"(0xffffffe0));
    out[threadIdx.x] = 100 * leader + chosen;
}

CASE(one_lane_is_elected)
{
    int *out = device_array<int>(64);
    elect<<<1, 64>>>(out);
    SYNC();
    std::vector<int> got = to_host(out, 64);
    for (int w = 0; w < 2; w++) {
        int chosen = 0;
        for (int i = 5; i < 32; i++) {
            CHECK(got[32 * w + i] / 100 == got[32 * w + 5] / 100);
            chosen += got[32 * w + i] % 100;
        }
        CHECK(chosen == 1 && got[32 * w + got[32 * w + 5] / 100] % 100 == 1);
    }
}

/* ---- sums and bits of a warp ----------------------------------------------------------------- */

__global__ void reduce(unsigned *out)
{
    const unsigned x = threadIdx.x * 2654435761u;
    const unsigned value[] = {
        __reduce_add_sync(~0u, x),           __reduce_and_sync(~0u, x | 5),
        __reduce_or_sync(~0u, x & 0xf0f0),   __reduce_xor_sync(~0u, x),
        __reduce_min_sync(~0u, x + 7),       __reduce_max_sync(~0u, x),
        (unsigned)__reduce_min_sync(~0u, (int)x), (unsigned)__reduce_max_sync(~0u, (int)x)};
    for (int i = 0; i < 8; i++) out[32 * i + threadIdx.x] = value[i];
}

CASE(redux)
{
    unsigned *out = device_array<unsigned>(256);
    reduce<<<1, 32>>>(out);
    SYNC();
    std::vector<unsigned> got = to_host(out, 256);
    unsigned sum = 0, all = ~0u, any = 0, odd = 0, least = ~0u, most = 0;
    int lowest = INT_MAX, highest = INT_MIN;
    for (unsigned i = 0; i < 32; i++) {
        const unsigned x = i * 2654435761u;
        sum += x, all &= x | 5, any |= x & 0xf0f0, odd ^= x;
        least = std::min(least, x + 7), most = std::max(most, x);
        lowest = std::min(lowest, (int)x), highest = std::max(highest, (int)x);
    }
    const unsigned want[] = {sum, all, any, odd, least, most, (unsigned)lowest, (unsigned)highest};
    for (int i = 0; i < 256; i++) CHECK(got[i] == want[i / 32]);
}

/* ---- a register of each lane as rows of 8 x 8 matrices --------------------------------------- */

/* Lane l holds row l / 4, columns 2 (l % 4) and the next; lane i of a matrix gives the address of its row i. */
__global__ void store_matrices(unsigned *out)
{
    __shared__ __align__(16) uint16_t s[2][4][64];
    const unsigned lane = threadIdx.x, row = lane / 4 * 8 + lane % 4 * 2;
    unsigned r[4];
    for (int m = 0; m < 4; m++) r[m] = (64 * m + row) | (64 * m + row + 1) << 16;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     at(&s[0][lane / 8][lane % 8 * 8])),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     at(&s[1][lane / 8][lane % 8 * 8])),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
    __syncwarp();
    for (int i = lane; i < 512; i += 32) out[i] = s[i / 256][i / 64 % 4][i % 64];
}

CASE(stmatrix)
{
    unsigned *out = device_array<unsigned>(512);
    store_matrices<<<1, 32>>>(out);
    SYNC();
    std::vector<unsigned> got = to_host(out, 512);
    for (unsigned i = 0; i < 256; i++) {
        CHECK(got[i] == i);
        CHECK(got[256 + i] == i / 64 * 64 + i % 8 * 8 + i / 8 % 8);
    }
}

/* ---- libcu++ --------------------------------------------------------------------------------- */

enum { COUNT = 256 };

/* Doubled: a copy there, a phase, and a copy back. The prefetch changes nothing. */
__global__ void by_names(int *to, const int *from)
{
    __shared__ __align__(128) int s[COUNT];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(4 * COUNT));
        ptx::mbarrier_init(&barrier, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &barrier, sizeof s);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, from, sizeof s, &barrier);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {}
    s[threadIdx.x] *= 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, to, s, sizeof s);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

CASE(cuda_ptx)
{
    std::vector<int> x(COUNT);
    for (int i = 0; i < COUNT; i++) x[i] = 3 * i + 1;
    int *to = device_array<int>(COUNT);
    by_names<<<1, COUNT>>>(to, to_device(x));
    SYNC();
    std::vector<int> got = to_host(to, COUNT);
    for (int i = 0; i < COUNT; i++) CHECK(got[i] == 2 * x[i]);
}

/* Each thread's arrival is its word: the barrier has libcu++'s type, the copy its functions. */
__global__ void by_barrier(int *to, const int *from)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ __align__(128) int s[2][COUNT];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        init(&full, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::memcpy_async(s[0], from, cuda::aligned_size_t<16>(sizeof s[0]), full);
        cuda::device::experimental::cp_async_bulk_global_to_shared(s[1], from + COUNT, sizeof s[1],
                                                                   full);
        token = cuda::device::barrier_arrive_tx(full, 1, sizeof s[1]);
    } else {
        token = full.arrive();
    }
    full.wait(std::move(token));
    to[threadIdx.x] = s[0][threadIdx.x] + s[1][COUNT - 1 - threadIdx.x];
}

CASE(cuda_barrier)
{
    std::vector<int> x(2 * COUNT);
    for (int i = 0; i < 2 * COUNT; i++) x[i] = 5 * i + 2;
    int *to = device_array<int>(COUNT);
    by_barrier<<<1, COUNT>>>(to, to_device(x));
    SYNC();
    std::vector<int> got = to_host(to, COUNT);
    for (int i = 0; i < COUNT; i++) CHECK(got[i] == x[i] + x[2 * COUNT - 1 - i]);
}

/* Into the next block of a cluster: by its address in that block, and its barrier there. */
__global__ void __cluster_dims__(2, 1, 1) to_the_next(int *to)
{
    __shared__ __align__(128) int s[COUNT], sum[COUNT];
    __shared__ uint64_t barrier;
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const unsigned rank = ptx::get_sreg_cluster_ctarank(), next = 1 - rank;
    s[threadIdx.x] = threadIdx.x + 1000 * rank;
    sum[threadIdx.x] = 7;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&barrier, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared,
                                       &barrier, sizeof s);
    }
    ptx::fence_proxy_async();
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    if (threadIdx.x == 0)
        ptx::cp_reduce_async_bulk(ptx::space_cluster, ptx::space_shared, ptx::op_add,
                                  cluster.map_shared_rank(sum, next), s, sizeof s,
                                  cluster.map_shared_rank(&barrier, next));
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &barrier, 0)) {}
    to[blockIdx.x * COUNT + threadIdx.x] = sum[threadIdx.x];
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}

CASE(cuda_ptx_in_a_cluster)
{
    int *to = device_array<int>(2 * COUNT);
    to_the_next<<<2, COUNT>>>(to);
    SYNC();
    std::vector<int> got = to_host(to, 2 * COUNT);
    for (int i = 0; i < 2 * COUNT; i++) CHECK(got[i] == 7 + i % COUNT + (i < COUNT ? 1000 : 0));
}

/* ---- bytes and arrivals of an mbarrier ------------------------------------------------------- */

__device__ static bool is_over(uint64_t *barrier, int parity)
{
    int over;
    asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.s32 %0, 1, 0, p;\n}"
                 : "=r"(over)
                 : "r"(at(barrier)), "r"(parity)
                 : "memory");
    return over;
}

#define TELL(what, bytes)                                                                          \
    asm volatile("mbarrier." what ".shared::cta.b64 [%0], %1;" ::"r"(at(&barrier)), "r"(bytes)     \
                 : "memory")

/* A phase is over when its arrivals and its bytes are there, in whatever order they come. */
__global__ void bytes_by_hand(int *out)
{
    __shared__ uint64_t barrier;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&barrier)) : "memory");
    TELL("expect_tx.relaxed.cta", 48);
    TELL("complete_tx.relaxed.cta", 32);
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&barrier)) : "memory");
    out[0] = is_over(&barrier, 0);
    TELL("complete_tx", 16);
    out[1] = is_over(&barrier, 0);
    TELL("complete_tx", 64);
    TELL("expect_tx", 64);
    out[2] = is_over(&barrier, 1);
    asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(at(&barrier))
                 : "memory");
    out[3] = is_over(&barrier, 1);
}

CASE(bytes_that_no_copy_brings)
{
    int *out = device_array<int>(4);
    bytes_by_hand<<<1, 1>>>(out);
    SYNC();
    CHECK(to_host(out, 4) == (std::vector<int>{0, 1, 0, 1}));
}

/* Of 3 that arrive one leaves, and its last phase waits for bytes; later phases are of 2. */
__global__ void leaves_with_bytes(unsigned *out)
{
    __shared__ uint64_t barrier;
    uint64_t token;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 3;" ::"r"(at(&barrier)) : "memory");
    asm volatile("mbarrier.arrive_drop.expect_tx.release.cta.shared::cta.b64 %0, [%1], 16;"
                 : "=l"(token)
                 : "r"(at(&barrier))
                 : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(out[0]) : "l"(token));
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], 2;"
                 : "=l"(token)
                 : "r"(at(&barrier))
                 : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(out[1]) : "l"(token));
    out[2] = is_over(&barrier, 0);
    TELL("complete_tx", 16);
    out[3] = is_over(&barrier, 0);
    asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 1;"
                 : "=l"(token)
                 : "r"(at(&barrier))
                 : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(out[4]) : "l"(token));
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(at(&barrier)) : "memory");
    out[5] = is_over(&barrier, 1);
}

CASE(one_leaves_and_expects_bytes)
{
    unsigned *out = device_array<unsigned>(6);
    leaves_with_bytes<<<1, 1>>>(out);
    SYNC();
    CHECK(to_host(out, 6) == (std::vector<unsigned>{3, 2, 0, 1, 2, 1}));
}

/* Block 0 expects bytes at block 1's mbarrier and sends them; 1 leaves its own arrival. */
__global__ void __cluster_dims__(2, 1, 1) bytes_of_another_block(int *out)
{
    __shared__ uint64_t barrier;
    const unsigned rank = ptx::get_sreg_cluster_ctarank();
    if (rank == 1) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(at(&barrier)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    if (rank == 0) {
        unsigned there;
        asm("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(there) : "r"(at(&barrier)));
        asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], 32;\n"
                     "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 16;\n"
                     "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 48;\n"
                     "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                         there)
                     : "memory");
    } else {
        while (!is_over(&barrier, 0)) {}
        *out = 1;
    }
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}

CASE(bytes_for_another_block)
{
    int *out = device_array<int>(1);
    bytes_of_another_block<<<2, 1>>>(out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 1);
}
