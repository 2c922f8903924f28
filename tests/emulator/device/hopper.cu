/* hopper.cu: small instructions around Hopper's units, and libcu++'s names for them. */
// FLAGS: -arch=sm_90a
// NEEDS: nvcc, clang 14 does not know sm_90a
#include "check.h"

#include <algorithm>
#include <climits>
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
