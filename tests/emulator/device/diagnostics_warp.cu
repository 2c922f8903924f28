/* diagnostics_warp.cu: the lanes of a warp among each other: races that only they have, shuffles
 * and votes with lanes that do not take part, barriers that not all reach; and right look-alikes.
 */
#include "check.h"
/* What is announced stands on the very line, however long. */
// clang-format off

#define ALL 0xffffffffu

/* ---- shared memory within a warp ------------------------------------------------------------- */

__global__ void warp_sum(int *out, bool sync)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    s[t + 32] = 0;
    __syncwarp();
    for (int d = 16; d > 0; d >>= 1) {
        int other = s[t + d]; // FINDING sum_in_step: missing-syncwarp
        if (sync) __syncwarp();
        s[t] += other; // MAYBE sum_in_step: missing-syncwarp
        if (sync) __syncwarp();
    }
    if (t == 0) *out = s[0];
}

CASE(sum_in_step)
{
    warp_sum<<<1, 32>>>(device_array<int>(1), false);
    OK(cudaDeviceSynchronize());
}

CASE(sum_with_syncwarp)
{
    int *out = device_array<int>(1);
    warp_sum<<<1, 32>>>(out, true);
    SYNC();
    CHECK(to_host(out, 1)[0] == 31 * 16);
}

__global__ void volatile_sum(int *out)
{
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = t;
    s[t + 32] = 0;
    __syncwarp();
    for (int d = 16; d > 0; d >>= 1) s[t] += s[t + d]; // FINDING volatile_is_no_barrier: missing-syncwarp
    if (t == 0) *out = s[0];
}

// STDERR volatile_is_no_barrier: volatile does not order the lanes of a warp
CASE(volatile_is_no_barrier)
{
    volatile_sum<<<1, 32>>>(device_array<int>(1));
    OK(cudaDeviceSynchronize());
}

/* A race between warps at the same line: what lacks is a barrier of the block. */
__global__ void reverse(int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    s[t] = t;                 // MAYBE lacks_syncthreads: race
    out[t] = s[(n - 1 - t)]; // FINDING lacks_syncthreads: race // FINDING lacks_syncwarp: missing-syncwarp
}

CASE(lacks_syncthreads)
{
    reverse<<<1, 64>>>(device_array<int>(64), 64);
    OK(cudaDeviceSynchronize());
}

// STDERR lacks_syncwarp: the lanes of a warp need not run in step
CASE(lacks_syncwarp)
{
    reverse<<<1, 32>>>(device_array<int>(64), 32);
    OK(cudaDeviceSynchronize());
}

__global__ void all_write_one(int *out)
{
    __shared__ int s;
    s = threadIdx.x; // FINDING two_writers: race
    __syncthreads();
    out[threadIdx.x] = s;
}

CASE(two_writers)
{
    all_write_one<<<1, 64>>>(device_array<int>(64));
    OK(cudaGetLastError());
}

/* ---- shuffles -------------------------------------------------------------------------------- */

__global__ void sum_unguarded(float *out, int n)
{
    int lane = threadIdx.x;
    float v = lane;
    if (lane >= n) return;
    unsigned mask = __activemask();
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(mask, v, d); // FINDING sum_of_20: inactive-lane // FINDING sum_of_16: inactive-lane // FINDING sum_of_16_counted: inactive-lane
    if (lane == 0) *out = v;
}

// STDERR sum_of_20: which does not take part in this shuffle
CASE(sum_of_20)
{
    sum_unguarded<<<1, 32>>>(device_array<float>(1), 20);
    SYNC();
}

CASE(sum_of_16)
{
    sum_unguarded<<<1, 16>>>(device_array<float>(1), 16);
    SYNC();
}

// ENV sum_of_16_counted: SOFTGPU_PROFILE=json:/dev/null
CASE(sum_of_16_counted)
{
    sum_unguarded<<<1, 16>>>(device_array<float>(1), 16);
    SYNC();
}

CASE(sum_of_32)
{
    float *out = device_array<float>(1);
    sum_unguarded<<<1, 32>>>(out, 32);
    SYNC();
    CHECK(to_host(out, 1)[0] == 31 * 16);
}

__global__ void sum_guarded(float *out, int n)
{
    int lane = threadIdx.x;
    float v = lane;
    if (lane >= n) return;
    unsigned mask = __activemask();
    for (int d = 16; d > 0; d >>= 1) {
        float other = __shfl_down_sync(mask, v, d);
        if (lane + d < n) v += other;
    }
    if (lane == 0) *out = v;
}

CASE(read_but_not_used)
{
    float *out = device_array<float>(1);
    sum_guarded<<<1, 32>>>(out, 20);
    SYNC();
    CHECK(to_host(out, 1)[0] == 19 * 10);
}

/* What the upper lanes get is undefined, and stays with them. */
__global__ void sum_of_8(float *out)
{
    float v = threadIdx.x;
    unsigned mask = __activemask();
    for (int d = 4; d > 0; d >>= 1) v += __shfl_down_sync(mask, v, d);
    if (threadIdx.x == 0) *out = v;
}

CASE(undefined_where_nobody_looks)
{
    float *out = device_array<float>(1);
    sum_of_8<<<1, 8>>>(out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 28);
}

__global__ void store_all(float *out, int n)
{
    int lane = threadIdx.x;
    if (lane < n) {
        float v = __shfl_down_sync((1u << n) - 1, (float)lane, 1); // FINDING last_lane_stores_it: inactive-lane
        if (lane < n - (int)out[0]) out[lane + 1] = v;
    }
}

CASE(last_lane_stores_it)
{
    store_all<<<1, 32>>>(to_device(std::vector<float>(33, 0.0f)), 20);
    SYNC();
}

CASE(last_lane_drops_it)
{
    store_all<<<1, 32>>>(to_device(std::vector<float>(33, 1.0f)), 20);
    SYNC();
}

__global__ void half_with_full_mask(int *out)
{
    int v = threadIdx.x;
    if (threadIdx.x < 16) v = __shfl_xor_sync(ALL, v, 1); // FINDING mask_names_absent_lanes: inactive-lane
    out[threadIdx.x] = v;
}

// STDERR mask_names_absent_lanes: waits with the mask 0xffffffff for thread 16, which does not come
CASE(mask_names_absent_lanes)
{
    half_with_full_mask<<<1, 32>>>(device_array<int>(32));
    SYNC();
}

CASE(absent_lanes_have_returned)
{
    half_with_full_mask<<<1, 16>>>(device_array<int>(32));
    SYNC();
}

__global__ void half_with_half_mask(int *out)
{
    int v = threadIdx.x;
    if (threadIdx.x < 16) v = __shfl_xor_sync(0xffff, v, 1);
    out[threadIdx.x] = v;
}

CASE(mask_of_those_who_come)
{
    int *out = device_array<int>(32);
    half_with_half_mask<<<1, 32>>>(out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 1);
}

__global__ void left_out(int *out)
{
    out[threadIdx.x] = __shfl_xor_sync(0xffff, threadIdx.x, 1); // FINDING mask_leaves_out_callers: inactive-lane
}

// STDERR mask_leaves_out_callers: which leaves out its own lane
CASE(mask_leaves_out_callers)
{
    left_out<<<1, 32>>>(device_array<int>(32));
    SYNC();
}

// ENV lanes_can_be_off: SOFTGPU_CHECKS=warn,lanes=off
CASE(lanes_can_be_off)
{
    left_out<<<1, 32>>>(device_array<int>(32));
    half_with_full_mask<<<1, 32>>>(device_array<int>(32));
    SYNC();
}

/* ---- barriers -------------------------------------------------------------------------------- */

__global__ void early_return(int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = t;
    __syncthreads(); // FINDING return_is_lint: early-return
    out[t] = s[n - 1 - t];
}

CASE(return_is_legal)
{
    early_return<<<1, 64>>>(device_array<int>(64), 40);
    SYNC();
}

// ENV return_is_lint: SOFTGPU_CHECKS=warn,lint
// STDERR return_is_lint: 24 of the block's 64 threads returned before this barrier
CASE(return_is_lint)
{
    early_return<<<1, 64>>>(device_array<int>(64), 40);
    SYNC();
}

// ENV nobody_returns_early: SOFTGPU_CHECKS=warn,lint
CASE(nobody_returns_early)
{
    early_return<<<1, 64>>>(device_array<int>(64), 64);
    SYNC();
}
