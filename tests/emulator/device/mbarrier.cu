/* mbarrier.cu: barriers that are objects: cuda::barrier, the primitives below it, awbarrier. */
#include "check.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_awbarrier.h>
#include <cuda_awbarrier_primitives.h>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

/* Every round, each thread reads what another warp wrote the round before. */
__global__ void rounds(int *out, int count)
{
    __shared__ int s[2][128];
    __shared__ barrier bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    int value = threadIdx.x;
    for (int i = 0; i < count; i++) {
        s[i % 2][threadIdx.x] = value;
        bar.arrive_and_wait();
        value = s[i % 2][(threadIdx.x + 37) % 128] + 1;
    }
    out[threadIdx.x] = value;
}

CASE(arrive_and_wait)
{
    int *out = device_array<int>(128);
    rounds<<<1, 128>>>(out, 10);
    SYNC();
    std::vector<int> got = to_host(out, 128);
    for (int i = 0; i < 128; i++) CHECK(got[i] == (i + 370) % 128 + 10);
}

/* Other work between arriving and waiting. */
__global__ void split(int *out)
{
    __shared__ int s[64];
    __shared__ barrier bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    s[threadIdx.x] = threadIdx.x;
    barrier::arrival_token token = bar.arrive();
    int mine = threadIdx.x * 1000;
    bar.wait(std::move(token));
    out[threadIdx.x] = mine + s[63 - threadIdx.x];
}

CASE(arrive_then_wait)
{
    int *out = device_array<int>(64);
    split<<<2, 64>>>(out);
    SYNC();
    std::vector<int> got = to_host(out, 64);
    for (int i = 0; i < 64; i++) CHECK(got[i] == 1000 * i + 63 - i);
}

/* Half of the threads leave; the others meet without them from then on. */
__global__ void leave(int *out)
{
    __shared__ int sum;
    __shared__ barrier bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x), sum = 0;
    __syncthreads();
    if (threadIdx.x % 2) {
        bar.arrive_and_drop();
        return;
    }
    bar.arrive_and_wait();
    atomicAdd(&sum, 1);
    bar.arrive_and_wait();
    if (threadIdx.x == 0) *out = sum;
}

CASE(arrive_and_drop)
{
    int *out = device_array<int>(1);
    leave<<<1, 96>>>(out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 48);
}

__global__ void counts(unsigned *out)
{
    __shared__ __mbarrier_t bar;
    if (threadIdx.x) return;
    __mbarrier_init(&bar, 5);
    __mbarrier_token_t first = __mbarrier_arrive(&bar);
    __mbarrier_token_t second = __mbarrier_arrive(&bar);
    out[0] = __mbarrier_token_pending_count(first);
    out[1] = __mbarrier_token_pending_count(second);
    out[2] = __mbarrier_test_wait(&bar, first);
    __mbarrier_arrive_and_drop(&bar);
    __mbarrier_arrive(&bar);
    __mbarrier_arrive(&bar);
    out[3] = __mbarrier_test_wait(&bar, first);
    out[4] = __mbarrier_token_pending_count(__mbarrier_arrive(&bar));
    __mbarrier_inval(&bar);
}

CASE(primitives)
{
    unsigned *out = device_array<unsigned>(5);
    counts<<<1, 32>>>(out);
    SYNC();
    std::vector<unsigned> got = to_host(out, 5);
    CHECK(got[0] == 5 && got[1] == 4 && got[2] == 0 && got[3] == 1 && got[4] == 4);
}

__global__ void older(int *out)
{
    using nvcuda::experimental::awbarrier;
    __shared__ awbarrier bar;
    __shared__ int s[64];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    s[threadIdx.x] = threadIdx.x;
    auto token = bar.arrive();
    bar.wait(std::move(token));
    out[threadIdx.x] = s[threadIdx.x ^ 32];
}

CASE(awbarrier)
{
    int *out = device_array<int>(64);
    older<<<1, 64>>>(out);
    SYNC();
    CHECK(to_host(out, 64)[3] == 35);
}

/* Two barriers hand a buffer to and fro between two warps. */
__global__ void hand_over(int *out, int count)
{
    __shared__ barrier full, empty;
    __shared__ int s[32];
    if (threadIdx.x == 0) init(&full, 64), init(&empty, 64);
    __syncthreads();
    int lane = threadIdx.x % 32, sum = 0;
    for (int i = 0; i < count; i++) {
        if (threadIdx.x < 32) {
            s[lane] = i * 32 + lane;
            (void)full.arrive();
            empty.arrive_and_wait();
        } else {
            full.arrive_and_wait();
            sum += s[31 - lane];
            (void)empty.arrive();
        }
    }
    if (threadIdx.x >= 32) out[lane] = sum;
}

CASE(producer_and_consumer)
{
    int *out = device_array<int>(32);
    hand_over<<<1, 64>>>(out, 8);
    SYNC();
    std::vector<int> got = to_host(out, 32);
    for (int i = 0; i < 32; i++) CHECK(got[i] == 32 * 28 + 8 * (31 - i));
}

__device__ cuda::barrier<cuda::thread_scope_device> everybody;

__global__ void prepare(int threads)
{
    init(&everybody, threads);
}

__global__ void meet(int *flags, int *out)
{
    flags[blockIdx.x] = 1;
    everybody.arrive_and_wait();
    out[blockIdx.x] = flags[1 - blockIdx.x];
}

/* In global memory a barrier is made of atomics. Both blocks must run at once. */
// ENV in_global_memory: SOFTGPU_THREADS=2
CASE(in_global_memory)
{
    int *flags = to_device(std::vector<int>{0, 0}), *out = device_array<int>(2);
    prepare<<<1, 1>>>(2);
    void *args[] = {&flags, &out};
    OK(cudaLaunchCooperativeKernel((void *)meet, 2, 1, args, 0, 0));
    SYNC();
    CHECK(to_host(out, 2)[0] == 1 && to_host(out, 2)[1] == 1);
}

/* ---- copies that a barrier waits for --------------------------------------------------------- */

__global__ void bring(int *out, const int *in)
{
    __shared__ int s[128];
    __shared__ barrier bar;
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    cuda::memcpy_async(block, s, in, sizeof s, bar);
    bar.arrive_and_wait();
    int first = s[127 - threadIdx.x];
    bar.arrive_and_wait();
    cuda::memcpy_async(&s[threadIdx.x], &in[threadIdx.x + 128], sizeof(int), bar);
    bar.arrive_and_wait();
    out[threadIdx.x] = first + s[127 - threadIdx.x];
}

CASE(copies)
{
    std::vector<int> in(256);
    for (int i = 0; i < 256; i++) in[i] = i * i;
    int *out = device_array<int>(128);
    bring<<<1, 128>>>(out, to_device(in));
    SYNC();
    std::vector<int> got = to_host(out, 128);
    for (int i = 0; i < 128; i++) CHECK(got[i] == in[127 - i] + in[255 - i]);
}

__global__ void count_by_hand(int *out, const int *in)
{
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    if (threadIdx.x == 0) __mbarrier_init(&bar, blockDim.x);
    __syncthreads();
    unsigned to = __cvta_generic_to_shared(&s[threadIdx.x]), at = __cvta_generic_to_shared(&bar);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 "cp.async.mbarrier.arrive.noinc.shared.b64 [%2];" ::"r"(to),
                 "l"(in + threadIdx.x), "r"(at)
                 : "memory");
    unsigned done = 0;
    while (!done)
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0;"
                     "selp.b32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(at)
                     : "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
}

CASE(copies_that_arrive)
{
    std::vector<int> in(64);
    for (int i = 0; i < 64; i++) in[i] = 7 * i;
    int *out = device_array<int>(64);
    count_by_hand<<<1, 64>>>(out, to_device(in));
    SYNC();
    CHECK(to_host(out, 64)[0] == 7 * 63);
}

/* ---- what is wrong is found ------------------------------------------------------------------ */

__global__ void no_wait(int *out, const int *in)
{
    __shared__ int s[64];
    __shared__ barrier bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int), bar);
    out[threadIdx.x] = s[threadIdx.x]; // FINDING reads_too_early: race
    bar.arrive_and_wait();
}

CASE(reads_too_early)
{
    no_wait<<<1, 64>>>(device_array<int>(64), to_device(std::vector<int>(64)));
    SYNC();
}

/* The second warp waits; the first one never arrives. */
// STDERR one_is_missing: waits for ever at a barrier in shared memory: 32 of the 33 arrivals
__global__ void too_few()
{
    __shared__ barrier bar;
    if (threadIdx.x == 0) init(&bar, 33);
    __syncthreads();
    if (threadIdx.x >= 32) bar.arrive_and_wait();
}

CASE(one_is_missing)
{
    too_few<<<1, 64>>>();
    FAILS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

__global__ void forgotten(int *out)
{
    __shared__ __mbarrier_t bar;
    __mbarrier_arrive(&bar);
    out[threadIdx.x] = 1;
}

// STDERR not_initialised: reads 8 bytes of shared memory that nothing in this block has written
CASE(not_initialised)
{
    forgotten<<<1, 1>>>(device_array<int>(1));
    SYNC();
}
