/* memory_operators.cu: loads and stores as textbooks write them in assembly: cache operators,
 * prefetches and policies, which change nothing; orders and scopes, which do; vectors. */
#include "check.h"

__device__ static int load_all(const int *p)
{
    int v, sum = 0;
#define LOAD(how)                                                                                  \
    asm volatile("ld.global" how ".s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");                  \
    sum += v;
    LOAD(".ca")
    LOAD(".cg")
    LOAD(".cs")
    LOAD(".lu")
    LOAD(".cv")
    LOAD(".nc")
    LOAD(".L1::evict_last")
    LOAD(".L1::no_allocate")
    LOAD(".L2::128B")
    LOAD(".ca.L2::64B")
    LOAD(".nc.L1::no_allocate.L2::256B")
    LOAD(".relaxed.gpu")
    LOAD(".acquire.sys")
    LOAD(".volatile")
    return sum + __ldg(p) + __ldcg(p) + __ldca(p) + __ldcs(p) + __ldlu(p) + __ldcv(p); /* 20 */
}

__device__ static void store_all(int *p, int v)
{
#define STORE(i, how)                                                                              \
    asm volatile("st.global" how ".s32 [%0+%2], %1;" ::"l"(p), "r"(v), "n"(4 * i) : "memory");
    STORE(0, ".wb")
    STORE(1, ".cg")
    STORE(2, ".cs")
    STORE(3, ".wt")
    STORE(4, ".release.gpu")
    STORE(5, ".relaxed.cta")
    STORE(6, ".volatile")
    STORE(7, ".L1::no_allocate")
    __stwb(p + 8, v), __stcg(p + 9, v), __stcs(p + 10, v), __stwt(p + 11, v);
}

__device__ static void with_policies(int *p, const int *from)
{
    unsigned long long policy;
    int v;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(policy));
    asm volatile("ld.global.nc.L2::cache_hint.s32 %0, [%1], %2;"
                 : "=r"(v)
                 : "l"(from), "l"(policy)
                 : "memory");
    asm volatile("st.global.L2::cache_hint.s32 [%0], %1, %2;" ::"l"(p + 12), "r"(v), "l"(policy)
                 : "memory");
    asm volatile("red.global.add.L2::cache_hint.s32 [%0], %1, %2;" ::"l"(p + 12), "r"(1),
                 "l"(policy)
                 : "memory");
    asm volatile("prefetch.global.L1 [%0]; prefetch.global.L2 [%0]; prefetchu.L1 [%0];" ::"l"(p));
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(p));
}

__global__ void operators(int *p, const int *from)
{
    store_all(p, load_all(from));
    with_policies(p, from);
}

CASE(cache_operators)
{
    int *p = device_array<int>(13);
    operators<<<1, 1>>>(p, to_device(std::vector<int>{3}));
    SYNC();
    std::vector<int> got = to_host(p, 13);
    for (int i = 0; i < 12; i++) CHECK(got[i] == 60);
    CHECK(got[12] == 3 + 1);
}

/* Vectors of every width, from shared memory too. */
template <typename T> __global__ void copy(T *to, const T *from)
{
    __shared__ T s[32];
    s[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = s[31 - threadIdx.x];
}

template <typename T> static void try_vector()
{
    std::vector<T> in(32);
    for (size_t i = 0; i < sizeof(T) * 32; i++) ((unsigned char *)in.data())[i] = i * 7 + i / 256;
    T *out = device_array<T>(32);
    copy<<<1, 32>>>(out, to_device(in));
    SYNC();
    std::vector<T> got = to_host(out, 32);
    for (int i = 0; i < 32; i++) CHECK(!memcmp(&got[i], &in[31 - i], sizeof(T)));
}

CASE(vectors)
{
    try_vector<char2>(), try_vector<uchar4>(), try_vector<short2>(), try_vector<ushort4>();
    try_vector<int2>(), try_vector<int3>(), try_vector<uint4>(), try_vector<float4>();
    try_vector<longlong2>(), try_vector<double2>(), try_vector<float2>(), try_vector<char3>();
}

/* More than 48 KB of dynamic shared memory, up to what the device has. */
__global__ void much_shared_memory(int *out, int words)
{
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) s[i] = i;
    __syncthreads();
    int sum = 0;
    for (int i = threadIdx.x; i < words; i += blockDim.x) sum += s[words - 1 - i] & 1;
    atomicAdd(out, sum);
}

CASE(large_shared_memory)
{
    int bytes = 160 * 1024, *out = to_device(std::vector<int>(1));
    OK(cudaFuncSetAttribute(much_shared_memory, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            bytes));
    much_shared_memory<<<2, 128, bytes>>>(out, bytes / 4);
    SYNC();
    CHECK(to_host(out, 1)[0] == bytes / 4);
}

__global__ void timers(long long *out)
{
    unsigned long long ns0, ns1;
    long long start = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns0));
    __nanosleep(100);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns1));
    out[0] = clock64() - start;
    out[1] = (long long)(ns1 - ns0);
}

CASE(timers)
{
    long long *out = device_array<long long>(2);
    timers<<<1, 1>>>(out);
    SYNC();
    CHECK(to_host(out, 2)[0] > 0 && to_host(out, 2)[1] >= 0);
}
