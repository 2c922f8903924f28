/* async_copy.cu: copies from global to shared memory that take effect when they are waited for. */
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

static std::vector<float> numbers(int count)
{
    std::vector<float> v(count);
    for (int i = 0; i < count; i++) v[i] = i * 3 + 1;
    return v;
}

/* ---- the primitives -------------------------------------------------------------------------- */

template <typename T> __global__ void copy(T *out, const T *in)
{
    __shared__ T s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}

template <typename T> static void try_copy(const std::vector<float> &in)
{
    std::vector<T> v(64);
    memcpy(v.data(), in.data(), 64 * sizeof(T));
    T *out = device_array<T>(64);
    copy<<<1, 64>>>(out, to_device(v));
    SYNC();
    std::vector<T> got = to_host(out, 64);
    for (int i = 0; i < 64; i++) CHECK(!memcmp(&got[i], &v[63 - i], sizeof(T)));
}

CASE(sizes)
{
    try_copy<float>(numbers(64));
    try_copy<float2>(numbers(128));
    try_copy<float4>(numbers(256));
}

/* Two stages: while one is summed up, the next one is under way. */
__global__ void stages(float *out, const float *in, int tiles)
{
    __shared__ float s[2][32];
    float sum = 0;
    __pipeline_memcpy_async(&s[0][threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles)
            __pipeline_memcpy_async(&s[(i + 1) % 2][threadIdx.x], &in[(i + 1) * 32 + threadIdx.x],
                                    4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += s[i % 2][31 - threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

CASE(two_stages)
{
    float *out = device_array<float>(32);
    stages<<<1, 32>>>(out, to_device(numbers(256)), 8);
    SYNC();
    std::vector<float> got = to_host(out, 32);
    for (int i = 0; i < 32; i++) {
        float sum = 0;
        for (int k = 0; k < 8; k++) sum += (k * 32 + 31 - i) * 3 + 1;
        CHECK(got[i] == sum);
    }
}

/* Fewer bytes than the target has: zeros fill it. */
__global__ void fill(float4 *out, const float *in)
{
    __shared__ float4 s[4];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[4 * threadIdx.x], 16, 4 * threadIdx.x);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = s[threadIdx.x];
}

CASE(zero_fill)
{
    float4 *out = device_array<float4>(4);
    fill<<<1, 4>>>(out, to_device(numbers(13))); /* 13: what is not read need not exist */
    SYNC();
    std::vector<float> got = to_host((float *)out, 16);
    for (int i = 0; i < 16; i++) CHECK(got[i] == (i % 4 < 4 - i / 4 ? 3 * i + 1 : 0));
}

__global__ void by_predicate(float *out, const float *in)
{
    __shared__ float s[32];
    asm volatile("{.reg .pred p; setp.lt.s32 p, %2, 4;"
                 "cp.async.ca.shared.global [%0], [%1], 4, p;"
                 "cp.async.wait_all;}" ::"r"((unsigned)__cvta_generic_to_shared(&s[threadIdx.x])),
                 "l"(in + threadIdx.x), "r"(threadIdx.x)
                 : "memory");
    out[threadIdx.x] = s[threadIdx.x];
}

CASE(ignored_sources)
{
    float *out = device_array<float>(32);
    by_predicate<<<1, 32>>>(out, to_device(numbers(32)));
    SYNC();
    std::vector<float> got = to_host(out, 32);
    for (int i = 0; i < 32; i++) CHECK(got[i] == (i < 4 ? 0 : 3 * i + 1));
}

/* ---- cuda::pipeline, cooperative groups ------------------------------------------------------ */

__global__ void own_pipeline(float *out, const float *in)
{
    __shared__ float s[2][64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    float sum = 0;
    for (int i = 0; i < 5; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&s[i % 2][threadIdx.x], &in[i * 64 + threadIdx.x], sizeof(float), pipe);
        pipe.producer_commit();
        if (i == 0) continue;
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        sum += s[(i - 1) % 2][threadIdx.x];
        pipe.consumer_release();
    }
    pipe.consumer_wait();
    out[threadIdx.x] = sum + s[0][threadIdx.x];
}

CASE(pipeline_of_a_thread)
{
    float *out = device_array<float>(64);
    own_pipeline<<<1, 64>>>(out, to_device(numbers(320)));
    SYNC();
    std::vector<float> got = to_host(out, 64);
    for (int i = 0; i < 64; i++) CHECK(got[i] == 5 * (3 * i + 1) + 3 * 64 * 10);
}

constexpr int STAGES = 2, TILE = 96;

__global__ void block_pipeline(float *out, const float *in, int tiles)
{
    __shared__ float s[STAGES][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int fetched = 0, i = 0; i < tiles; i++) {
        for (; fetched < tiles && fetched < i + STAGES; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[fetched % STAGES], in + fetched * TILE,
                               sizeof(float) * TILE, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += s[i % STAGES][TILE - 1 - threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

CASE(pipeline_of_a_block)
{
    float *out = device_array<float>(TILE);
    block_pipeline<<<1, TILE>>>(out, to_device(numbers(TILE * 7)), 7);
    SYNC();
    std::vector<float> got = to_host(out, TILE);
    for (int i = 0; i < TILE; i++) CHECK(got[i] == 7 * (3 * (TILE - 1 - i) + 1) + 3 * TILE * 21);
}

/* One warp brings, the others use. */
__global__ void roles(float *out, const float *in, int tiles)
{
    __shared__ float s[STAGES][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    cg::thread_block block = cg::this_thread_block();
    bool brings = threadIdx.x < 32;
    auto role = brings ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    float sum = 0;
    for (int i = 0; i < tiles; i++) {
        float *tile = s[i % STAGES];
        if (brings) {
            pipe.producer_acquire();
            for (int k = threadIdx.x; k < TILE; k += 32)
                cuda::memcpy_async(&tile[k], &in[i * TILE + k], sizeof(float), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += tile[threadIdx.x - 32];
            pipe.consumer_release();
        }
    }
    if (!brings) out[threadIdx.x - 32] = sum;
}

CASE(producer_and_consumers)
{
    float *out = device_array<float>(TILE);
    roles<<<1, TILE + 32>>>(out, to_device(numbers(TILE * 9)), 9);
    SYNC();
    std::vector<float> got = to_host(out, TILE);
    for (int i = 0; i < TILE; i++) CHECK(got[i] == 9 * (3 * i + 1) + 3 * TILE * 36);
}

__global__ void group_copy(float *out, const float *in)
{
    __shared__ float s[256];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof s);
    cg::wait(block);
    out[threadIdx.x] = s[255 - threadIdx.x];
}

CASE(cooperative_group)
{
    float *out = device_array<float>(64);
    group_copy<<<1, 64>>>(out, to_device(numbers(256)));
    SYNC();
    CHECK(to_host(out, 64)[63] == 192 * 3 + 1);
}

/* ---- what is wrong is found ------------------------------------------------------------------ */

__global__ void too_early(float *out, const float *in)
{
    __shared__ float s[32];
    s[threadIdx.x] = -1;
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    out[threadIdx.x] = s[threadIdx.x]; // FINDING no_wait: race
    __pipeline_wait_prior(0);
}

CASE(no_wait)
{
    float *out = device_array<float>(32);
    too_early<<<1, 32>>>(out, to_device(numbers(32)));
    SYNC();
    CHECK(to_host(out, 32)[5] == -1); /* the copy is still under way */
}

__global__ void wrong_group(float *out, const float *in)
{
    __shared__ float s[2][32];
    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&s[i][threadIdx.x], &in[threadIdx.x], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    out[threadIdx.x] = s[0][threadIdx.x];
    out[threadIdx.x] += s[1][threadIdx.x]; // FINDING waits_for_too_few: race
}

CASE(waits_for_too_few)
{
    wrong_group<<<1, 32>>>(device_array<float>(32), to_device(numbers(32)));
    SYNC();
}

__global__ void not_committed(float *out, const float *in)
{
    __shared__ float s[32];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_wait_prior(0);
    out[threadIdx.x] = s[threadIdx.x]; // FINDING no_commit: race
}

CASE(no_commit)
{
    not_committed<<<1, 32>>>(device_array<float>(32), to_device(numbers(32)));
    SYNC();
}

__global__ void others_copy(float *out, const float *in)
{
    __shared__ float s[32];
    if (threadIdx.x < 32) __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = s[31 - threadIdx.x % 32]; // FINDING no_barrier: race
}

CASE(no_barrier)
{
    others_copy<<<1, 64>>>(device_array<float>(64), to_device(numbers(64)));
    SYNC();
}

__global__ void overwrite(float *out, const float *in)
{
    __shared__ float s[32];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
    s[threadIdx.x] = 2; // FINDING writes_below_a_copy: race
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = s[threadIdx.x];
}

CASE(writes_below_a_copy)
{
    overwrite<<<1, 32>>>(device_array<float>(32), to_device(numbers(32)));
    SYNC();
}

__global__ void never_waits(const float *in)
{
    __shared__ float s[32];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
}

__global__ void after(float *out)
{
    __shared__ float s[32];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[threadIdx.x];
}

CASE(nobody_waits)
{
    float *out = device_array<float>(32);
    for (int i = 0; i < 3; i++) never_waits<<<40, 32>>>(to_device(numbers(32)));
    after<<<40, 32>>>(out);
    SYNC();
    CHECK(to_host(out, 32)[31] == 31);
}

__global__ void beyond(const float *in, int to)
{
    __shared__ float s[32];
    __pipeline_memcpy_async(&s[threadIdx.x + to], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

// STDERR source_too_short: reads 4 bytes, just past the end of a 124-byte buffer
CASE(source_too_short)
{
    beyond<<<1, 32>>>(to_device(numbers(31)), 0);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

// STDERR target_too_short: writes 4 bytes, just past the end of the 128-byte shared array
CASE(target_too_short)
{
    beyond<<<1, 32>>>(to_device(numbers(32)), 1);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}
