/* stride_classes.cu: words that the lanes of a warp load and store in every order that has a path of its
 * own in the device, and each mistake that such a path might overlook. */
#include "check.h"

/* Where the lanes of a warp find their first word. */
enum { SAME, RISING, PAIR, TWICE, STRIDED, STRIDED_TWICE, REVERSED, SCATTERED, ORDERS };

static int place(int order, int lane)
{
    switch (order) {
    case SAME: return 5;
    case RISING: return lane;
    case PAIR: return 3 + lane / 16 * 40;
    case TWICE: return lane % 16;
    case STRIDED: return lane * 4;
    case STRIDED_TWICE: return lane % 16 * 4;
    case REVERSED: return 31 - lane;
    default: return lane * 7 % 32 + lane / 9;
    }
}

const int WORDS = 256;

static std::vector<int> places(int order, int threads)
{
    std::vector<int> all(threads);
    for (int t = 0; t < threads; t++) all[t] = place(order, t % 32);
    return all;
}

static std::vector<float> values()
{
    std::vector<float> all(WORDS);
    for (int i = 0; i < WORDS; i++) all[i] = (float)(i * 37 % 101);
    return all;
}

__global__ void products_of_global(float *out, const float *a, const float *b, const int *at_a,
                                   const int *at_b, int n)
{
    int t = threadIdx.x;
    const float *p = a + at_a[t], *q = b + at_b[t];
    float sum = 0;
    for (int k = 0; k < n; k++) sum += p[k] * q[2 * k];
    out[t] = sum;
}

__global__ void products_of_shared(float *out, const float *a, const float *b, const int *at_a,
                                   const int *at_b, int n)
{
    __shared__ float x[WORDS], y[WORDS];
    int t = threadIdx.x;
    for (int i = t; i < WORDS; i += blockDim.x) {
        x[i] = a[i];
        y[i] = b[i];
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < n; k++) sum += x[at_a[t] + k] * y[at_b[t] + 2 * k];
    out[t] = sum;
}

template <typename K> static void check_products(K kernel, int threads)
{
    std::vector<float> v = values();
    float *a = to_device(v), *b = to_device(v), *out = device_array<float>(threads);
    for (int p = 0; p < ORDERS; p++) {
        for (int q = 0; q < ORDERS; q++) {
            const int n = 19; /* unrolled, with a rest */
            std::vector<int> x = places(p, threads), y = places(q, threads);
            kernel<<<1, threads>>>(out, a, b, to_device(x), to_device(y), n);
            SYNC();
            std::vector<float> got = to_host(out, threads);
            for (int t = 0; t < threads; t++) {
                float want = 0;
                for (int k = 0; k < n; k++) want += v[x[t] + k] * v[y[t] + 2 * k];
                CHECK(got[t] == want);
            }
        }
    }
}

CASE(products_global)
{
    check_products(products_of_global, 96);
}

CASE(products_global_tail)
{
    check_products(products_of_global, 43);
}

CASE(products_shared)
{
    check_products(products_of_shared, 96);
}

CASE(products_shared_tail)
{
    check_products(products_of_shared, 43);
}

/* The lanes of each warp write, in a part of their own, where its places say. */
__global__ void store_shared(int *out, const int *at)
{
    __shared__ int s[3 * 128];
    int t = threadIdx.x, *mine = s + t / 32 * 128;
    for (int i = t % 32; i < 128; i += 32) mine[i] = -1;
    __syncthreads();
    mine[at[t]] = t;
    mine[at[t]] += 1000;
    __syncthreads();
    for (int i = t % 32; i < 128; i += 32) out[t / 32 * 128 + i] = mine[i];
}

CASE(stores)
{
    int orders[] = {RISING, STRIDED, REVERSED};
    for (int order : orders) {
        for (int threads : {96, 75}) {
            std::vector<int> at = places(order, threads), want(3 * 128, -1);
            int *out = device_array<int>(3 * 128);
            store_shared<<<1, threads>>>(out, to_device(at));
            SYNC();
            std::vector<int> got = to_host(out, 2 * 128);
            for (int t = 0; t < 64; t++) want[t / 32 * 128 + at[t]] = t + 1000;
            for (int i = 0; i < 2 * 128; i++) CHECK(got[i] == want[i]);
        }
    }
}

/* ---- loops in which the shape of an address lasts, or does not ---------------------------------
 */

/* Every round through three pointers: one that each lane moves by a step of its own, one that all
 * move alike, and the one that the other two add up to. The second time around the first one starts
 * elsewhere. Lanes from `idle` on rest in the first. */
__global__ void walk(int *out, const int *a, const int *step, int n, int idle)
{
    __shared__ int s[512];
    int t = threadIdx.x, sum = 0, at = t;
    for (int i = t; i < 512; i += blockDim.x) s[i] = a[i];
    __syncthreads();
    for (int again = 0; again < 2; again++) {
        if (t < idle || again) {
#pragma unroll 1
            for (int k = 0; k < n; k++) {
                sum += 3 * s[at] + 5 * a[2 * k + at] + 7 * a[k];
                at += step[t];
            }
            __syncwarp();
        }
        at = again * 2 + step[t] * (t % 3);
#pragma unroll 1
        for (int k = 0; k < n; k++) {
            sum += s[at + k] * a[t + k];
            __syncthreads();
            sum += s[at + k];
        }
    }
    out[t] = sum;
}

static int walked(const std::vector<int> &a, int t, int step, int n, bool idle)
{
    int sum = 0, at = t;
    for (int again = 0; again < 2; again++) {
        for (int k = 0; k < n && (!idle || again); k++, at += step)
            sum += 3 * a[at] + 5 * a[2 * k + at] + 7 * a[k];
        at = again * 2 + step * (t % 3);
        for (int k = 0; k < n; k++) sum += a[at + k] * a[t + k] + a[at + k];
    }
    return sum;
}

static void check_walk(bool alike, int idle)
{
    const int threads = 96, n = 9;
    std::vector<int> a(512), step(threads);
    for (int i = 0; i < 512; i++) a[i] = i * 37 % 101;
    for (int t = 0; t < threads; t++) step[t] = alike ? 4 : t * 5 % 7;
    int *out = device_array<int>(threads);
    walk<<<1, threads>>>(out, to_device(a), to_device(step), n, idle);
    SYNC();
    std::vector<int> got = to_host(out, threads);
    for (int t = 0; t < threads; t++) CHECK(got[t] == walked(a, t, step[t], n, t >= idle));
}

CASE(walks_alike)
{
    check_walk(true, 96);
}

CASE(walks_apart)
{
    check_walk(false, 96);
}

CASE(walks_with_idle_lanes)
{
    check_walk(true, 40);
    check_walk(false, 40);
}

/* Two pointers change places in every round: the shape of one is that of the other. */
__global__ void swap_pointers(int *out, const int *a, const int *b, int n)
{
    const int *p = a + threadIdx.x, *q = b + threadIdx.x * 3;
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        sum = sum * 3 + p[k];
        const int *other = p;
        p = q;
        q = other;
    }
    out[threadIdx.x] = sum;
}

CASE(pointers_that_swap)
{
    std::vector<int> a(128), b(128);
    for (int i = 0; i < 128; i++) a[i] = i, b[i] = 1000 - i * i % 97;
    int *out = device_array<int>(32);
    swap_pointers<<<1, 32>>>(out, to_device(a), to_device(b), 6);
    SYNC();
    std::vector<int> got = to_host(out, 32);
    for (int t = 0; t < 32; t++) {
        int want = 0;
        for (int k = 0; k < 6; k++) want = want * 3 + (k % 2 ? b[3 * t + k] : a[t + k]);
        CHECK(got[t] == want);
    }
}

/* In the second round the index of the last lane wraps around, to 16 GB before the others. */
__global__ void wrap_around(float *out, const float *q, unsigned start, int n)
{
    unsigned i = start + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) sum += q[i + k]; // FINDING index_wraps: out-of-bounds
    out[threadIdx.x] = sum;
}

static void check_wrap(int rounds)
{
    const unsigned start = 0xffffffe0;
    const float *q = to_device(std::vector<float>(64, 1)) - start;
    wrap_around<<<1, 32>>>(device_array<float>(32), q, start, rounds);
}

CASE(index_wraps)
{
    check_wrap(2);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(index_reaches_its_end)
{
    check_wrap(1);
    SYNC();
}

/* ---- bounds and initialisation --------------------------------------------------------------- */

__global__ void sum_too_far(float *out, const float *a, const float *b, int n)
{
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[k] * b[k * 32 + t]; // FINDING one_row_too_many: out-of-bounds
    out[t] = sum;
}

CASE(one_row_too_many)
{
    float *a = to_device(std::vector<float>(64, 1)), *b = to_device(std::vector<float>(32 * 8, 1));
    sum_too_far<<<1, 32>>>(device_array<float>(32), a, b, 9);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void sum_unwritten(float *out, const float *a, const float *b, int n)
{
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[k] * b[k * 32 + t]; // FINDING last_word_unwritten: uninitialised
    out[t] = sum;
}

CASE(last_word_unwritten)
{
    float *a = to_device(std::vector<float>(64, 1)), *b = device_array<float>(32 * 8);
    OK(cudaMemset(b, 0, (32 * 8 - 1) * sizeof *b));
    sum_unwritten<<<1, 32>>>(device_array<float>(32), a, b, 8);
    OK(cudaDeviceSynchronize());
}

__global__ void sum_unwritten_factor(float *out, const float *a, const float *b, int n)
{
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += b[k * 32 + t] * a[k]; // FINDING factor_unwritten: uninitialised
    out[t] = sum;
}

CASE(factor_unwritten)
{
    float *a = device_array<float>(64), *b = to_device(std::vector<float>(32 * 8, 1));
    OK(cudaMemset(a, 0, 7 * sizeof *a));
    sum_unwritten_factor<<<1, 32>>>(device_array<float>(32), a, b, 8);
    OK(cudaDeviceSynchronize());
}

__global__ void strided_unwritten(float *out, const float *a)
{
    out[threadIdx.x] = a[threadIdx.x * 4]; // FINDING strided_word_unwritten: uninitialised
}

CASE(strided_word_unwritten)
{
    float *a = device_array<float>(128);
    OK(cudaMemset(a, 0, 20 * 16));
    OK(cudaMemset(a + 21 * 4, 0, 11 * 16));
    strided_unwritten<<<1, 32>>>(device_array<float>(32), a);
    OK(cudaDeviceSynchronize());
}

__global__ void strided_shared_unwritten(float *out, int skip)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t != skip) s[t * 4] = t;
    __syncthreads();
    out[t] = s[t * 4]; // FINDING strided_shared_word_unwritten: uninitialised
}

CASE(strided_shared_word_unwritten)
{
    strided_shared_unwritten<<<1, 32>>>(device_array<float>(32), 20);
    OK(cudaDeviceSynchronize());
}

CASE(strided_shared_words_written)
{
    strided_shared_unwritten<<<1, 32>>>(device_array<float>(32), 99);
    SYNC();
}

__global__ void strided_shared_past_end(float *out, int step)
{
    __shared__ float s[124];
    int t = threadIdx.x;
    for (int i = t; i < 124; i += 32) s[i] = i;
    __syncthreads();
    float x = s[t * step]; // FINDING strided_past_end: out-of-bounds
    __syncthreads();
    s[t * step] = x; // FINDING strided_past_end: out-of-bounds
    out[t] = x;
}

CASE(strided_past_end)
{
    strided_shared_past_end<<<1, 32>>>(device_array<float>(32), 4);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(strided_to_the_end)
{
    strided_shared_past_end<<<1, 31>>>(device_array<float>(32), 4);
    SYNC();
}

/* ---- races ----------------------------------------------------------------------------------- */

/* So many reads that the device has stopped noting them. */
__global__ void read_often_then_write(float *out, int writer, bool wait)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 64) s[t] = t;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 64; i++) sum += s[i] * s[(i + t) % 64];
    if (wait) __syncthreads();
    if (t == writer) s[40] = sum; // FINDING write_after_many_reads: race
    out[t] = sum;
}

CASE(write_after_many_reads)
{
    read_often_then_write<<<1, 128>>>(device_array<float>(128), 127, false);
    OK(cudaDeviceSynchronize());
}

CASE(write_after_many_reads_and_a_barrier)
{
    read_often_then_write<<<1, 128>>>(device_array<float>(128), 127, true);
    SYNC();
}

/* The last warp reads what the one before it has just written, long after all were quiet. */
__global__ void write_between_reads(float *out, const int *at)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 64) s[t] = t;
    __syncthreads();
    float sum = 0;
    if (t < 96)
        for (int k = 0; k < 4; k++) sum += s[t % 32 + k] * s[at[k]];
    if (t >= 64 && t < 96) s[t - 32] = sum; // MAYBE read_after_late_write: race
    if (t >= 96)
        for (int k = 0; k < 4; k++)
            sum += s[t % 32 + k + 16] * s[at[k]]; // FINDING read_after_late_write: race
    out[t] = sum;
}

CASE(read_after_late_write)
{
    int *at = to_device(std::vector<int>{1, 2, 3, 4});
    write_between_reads<<<1, 128>>>(device_array<float>(128), at);
    OK(cudaDeviceSynchronize());
}

__global__ void two_lanes_one_word(int *out, const int *at, const int *value)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[at[t]] = value[t]; // FINDING two_values_for_one_word: missing-syncwarp
    __syncthreads();
    out[t] = s[at[t]];
}

CASE(two_values_for_one_word)
{
    std::vector<int> at(32), value(32);
    for (int i = 0; i < 32; i++) at[i] = i == 29 ? 7 : i * 2, value[i] = i;
    at[7] = 7;
    two_lanes_one_word<<<1, 32>>>(device_array<int>(32), to_device(at), to_device(value));
    OK(cudaDeviceSynchronize());
}

CASE(one_value_for_one_word)
{
    std::vector<int> at(32), value(32);
    for (int i = 0; i < 32; i++) at[i] = i == 29 ? 7 : i * 2, value[i] = i;
    at[7] = 7;
    value[29] = value[7];
    two_lanes_one_word<<<1, 32>>>(device_array<int>(32), to_device(at), to_device(value));
    SYNC();
}

/* Each thread reads and writes a word of its own, as often as it likes. */
__global__ void own_words(int *out, int step)
{
    __shared__ int s[32 * 33];
    int *mine = s + threadIdx.x * step;
    *mine = 1;
    for (int i = 0; i < 9; i++) *mine += *mine;
    out[threadIdx.x] = *mine;
}

CASE(own_word_many_times)
{
    for (int step : {1, 4, 33}) {
        int *out = device_array<int>(32);
        own_words<<<1, 32>>>(out, step);
        SYNC();
        CHECK(to_host(out, 32)[31] == 512);
    }
}

/* A multiply-add that rounds toward zero leaves its neighbours alone. */
__global__ void rounded(float *out, float x, float y)
{
    float down = __fadd_rz(x, y), near = x + y;
    out[2 * threadIdx.x] = down;
    out[2 * threadIdx.x + 1] = near;
}

CASE(rounding_ends_with_its_operation)
{
    float *out = device_array<float>(64);
    rounded<<<1, 32>>>(out, 1.0f, 0x1.8p-24f);
    SYNC();
    CHECK(to_host(out, 64)[0] == 1.0f);
    CHECK(to_host(out, 64)[1] == 0x1.000002p0f);
}
