/* atomics_typed.cu: cuda::atomic_ref on every type, order and scope; packed halves; 16 bits. */
#include "check.h"

#include <cuda/atomic>
#include <cuda/semaphore>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* 64 threads count together; then one tries the rest. */
template <typename T, cuda::thread_scope SCOPE> __global__ void integers(T *memory, T *seen)
{
    cuda::atomic_ref<T, SCOPE> a(*memory);
    a.fetch_add((T)1, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x) return;
    seen[0] = a.load(cuda::memory_order_acquire);
    a.store((T)12, cuda::memory_order_release);
    seen[1] = a.exchange((T)9, cuda::memory_order_acq_rel);
    T wanted = 8;
    seen[2] = a.compare_exchange_strong(wanted, (T)7);
    seen[3] = wanted;
    seen[4] = a.compare_exchange_strong(wanted, (T)5);
    seen[5] = a.fetch_sub((T)2);
    seen[6] = a.fetch_or((T)8);
    seen[7] = a.fetch_and((T)10);
    seen[8] = a.fetch_xor((T)3);
    seen[9] = a.fetch_max((T)40);
    seen[10] = a.fetch_min((T)-1);
    seen[11] = a.load();
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, SCOPE);
}

template <typename T, cuda::thread_scope SCOPE> static void try_integer()
{
    T *memory = to_device(std::vector<T>(8)), *seen = device_array<T>(12);
    integers<T, SCOPE><<<1, 64>>>(memory, seen);
    SYNC();
    std::vector<T> got = to_host(seen, 12);
    T last = (T)-1 < 0 ? (T)-1 : (T)40; /* the least of 40 and -1, or of 40 and the largest */
    const T want[] = {64, 12, 0, 9, 1, 5, 3, 11, 10, 9, 40, last};
    for (int i = 0; i < 12; i++) CHECK(got[i] == want[i]);
}

template <typename T> static void try_scopes()
{
    try_integer<T, cuda::thread_scope_block>();
    try_integer<T, cuda::thread_scope_device>();
    try_integer<T, cuda::thread_scope_system>();
}

CASE(words)
{
    try_scopes<int>();
    try_scopes<unsigned>();
}

CASE(long_words)
{
    try_scopes<long long>();
    try_scopes<unsigned long long>();
}

/* Of 8 and 16 bits: by compare-and-swap of the word around them. */
CASE(small_integers)
{
    try_scopes<short>();
    try_scopes<signed char>();
    try_scopes<unsigned char>();
}

template <typename T> __global__ void reals(T *memory, T *seen)
{
    cuda::atomic_ref<T, cuda::thread_scope_device> a(*memory);
    a.fetch_add((T)0.5);
    __syncthreads();
    if (threadIdx.x) return;
    seen[0] = a.load();
    seen[1] = a.fetch_sub((T)2);
    seen[2] = a.fetch_max((T)31);
    seen[3] = a.fetch_min((T)-1);
    seen[4] = a.exchange((T)3);
}

template <typename T> static void try_real()
{
    T *memory = to_device(std::vector<T>(1)), *seen = device_array<T>(5);
    reals<<<1, 64>>>(memory, seen);
    SYNC();
    std::vector<T> got = to_host(seen, 5);
    const T want[] = {32, 32, 30, 31, -1};
    for (int i = 0; i < 5; i++) CHECK(got[i] == want[i]);
}

CASE(floats)
{
    try_real<float>();
    try_real<double>();
}

__global__ void halves(half *h, half2 *h2, __nv_bfloat16 *b, __nv_bfloat162 *b2, unsigned short *s)
{
    atomicAdd(h, __float2half(0.5f));
    atomicAdd(h2, __floats2half2_rn(1, -2));
    atomicAdd(b, __float2bfloat16(1));
    atomicAdd(b2, __floats2bfloat162_rn(2, 0.5f));
    unsigned short old = *(volatile unsigned short *)s, seen;
    while ((seen = atomicCAS(s, old, (unsigned short)(old + 3))) != old) old = seen;
}

/* In shared memory too. */
__global__ void shared_halves(half2 *out)
{
    __shared__ half2 sum;
    if (threadIdx.x == 0) sum = __floats2half2_rn(0, 0);
    __syncthreads();
    atomicAdd(&sum, __floats2half2_rn(1, 2));
    __syncthreads();
    if (threadIdx.x == 0) *out = sum;
}

CASE(halves)
{
    std::vector<unsigned> zeros(1);
    half *h = (half *)to_device(zeros);
    half2 *h2 = (half2 *)to_device(zeros), *out = device_array<half2>(1);
    __nv_bfloat16 *b = (__nv_bfloat16 *)to_device(zeros);
    __nv_bfloat162 *b2 = (__nv_bfloat162 *)to_device(zeros);
    unsigned short *s = (unsigned short *)to_device(zeros);
    halves<<<2, 32>>>(h, h2, b, b2, s);
    shared_halves<<<1, 64>>>(out);
    SYNC();
    CHECK(__half2float(to_host(h, 1)[0]) == 32);
    CHECK(__low2float(to_host(h2, 1)[0]) == 64 && __high2float(to_host(h2, 1)[0]) == -128);
    CHECK(__bfloat162float(to_host(b, 1)[0]) == 64);
    CHECK(__low2float(to_host(b2, 1)[0]) == 128 && __high2float(to_host(b2, 1)[0]) == 32);
    CHECK(to_host(s, 1)[0] == 192);
    CHECK(__low2float(to_host(out, 1)[0]) == 64 && __high2float(to_host(out, 1)[0]) == 128);
}

__global__ void around(unsigned *up, unsigned *down)
{
    atomicInc(up, 9);
    atomicDec(down, 9);
}

CASE(inc_and_dec)
{
    unsigned *up = to_device(std::vector<unsigned>{0}), *down = to_device(std::vector<unsigned>{3});
    around<<<1, 64>>>(up, down);
    SYNC();
    CHECK(to_host(up, 1)[0] == 64 % 10 && to_host(down, 1)[0] == 9);
    up = to_device(std::vector<unsigned>{200}), down = to_device(std::vector<unsigned>{200});
    around<<<1, 1>>>(up, down);
    SYNC();
    CHECK(to_host(up, 1)[0] == 0 && to_host(down, 1)[0] == 9);
}

__device__ cuda::binary_semaphore<cuda::thread_scope_device> one_at_a_time{1};

__global__ void exclusive(int *count)
{
    for (int i = 0; i < 5; i++) {
        one_at_a_time.acquire();
        *(volatile int *)count = *(volatile int *)count + 1;
        one_at_a_time.release();
    }
}

CASE(semaphore)
{
    int *count = to_device(std::vector<int>(1));
    exclusive<<<4, 1>>>(count);
    SYNC();
    CHECK(to_host(count, 1)[0] == 20);
}
