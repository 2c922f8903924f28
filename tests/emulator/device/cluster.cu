/* cluster.cu: blocks of a cluster: what each is, their barrier, the shared memory of the others. */
// FLAGS: -arch=sm_90
#include "check.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <class... Parameters, class... Arguments>
static cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, dim3 size,
                          Arguments... arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = size.x;
    attribute.val.clusterDim.y = size.y;
    attribute.val.clusterDim.z = size.z;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

/* ---- who is where ---------------------------------------------------------------------------- */

enum { FACTS = 17 };

__global__ void tell(int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    const dim3 at = cluster.block_index(), size = cluster.dim_blocks();
    const dim3 number = __clusterIdx(), count = __clusterGridDimInClusters();
    const int facts[FACTS] = {
        (int)cluster.block_rank(),        (int)cluster.num_blocks(), (int)at.x,
        (int)at.y,                        (int)at.z,                 (int)size.x,
        (int)size.y,                      (int)size.z,               (int)number.x,
        (int)number.y,                    (int)number.z,             (int)count.x,
        (int)count.y,                     (int)count.z,              (int)cluster.thread_rank(),
        (int)cluster.num_threads(),       (int)__clusterDimIsSpecified()};
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    if (threadIdx.x == 5)
        for (int i = 0; i < FACTS; i++) out[block * FACTS + i] = facts[i];
}

static void check_facts(dim3 grid, dim3 size, bool given)
{
    int blocks = grid.x * grid.y * grid.z, *out = device_array<int>(blocks * FACTS);
    if (given)
        OK(launch(tell, grid, 32, size, out));
    else
        tell<<<grid, 32>>>(out);
    SYNC();
    std::vector<int> got = to_host(out, blocks * FACTS);
    for (int b = 0; b < blocks; b++) {
        const int x = b % grid.x, y = b / grid.x % grid.y, z = b / grid.x / grid.y;
        const int ax = x % size.x, ay = y % size.y, az = z % size.z;
        const int rank = (az * size.y + ay) * size.x + ax, count = size.x * size.y * size.z;
        const int want[] = {rank,
                            count,
                            ax,
                            ay,
                            az,
                            (int)size.x,
                            (int)size.y,
                            (int)size.z,
                            x / (int)size.x,
                            y / (int)size.y,
                            z / (int)size.z,
                            (int)(grid.x / size.x),
                            (int)(grid.y / size.y),
                            (int)(grid.z / size.z),
                            rank * 32 + 5,
                            count * 32,
                            given};
        for (int i = 0; i < FACTS; i++) CHECK(got[b * FACTS + i] == want[i]);
    }
}

CASE(places)
{
    check_facts(8, 2, true);
    check_facts(dim3(4, 6, 2), dim3(2, 3, 1), true);
    check_facts(dim3(2, 2, 4), dim3(1, 2, 4), true);
    check_facts(dim3(3, 2), dim3(1, 1, 1), true);
}

CASE(no_cluster)
{
    check_facts(dim3(3, 2), dim3(1, 1, 1), false);
}

/* ---- shared memory of the others ------------------------------------------------------------- */

/* Each block gives the next one its values, again and again. */
__global__ void rotate(int *out, int rounds)
{
    __shared__ int s[2][64];
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, next = (cluster.block_rank() + 1) % cluster.num_blocks();
    s[0][t] = blockIdx.x * 1000 + t;
    cluster.sync();
    for (int i = 0; i < rounds; i++) {
        cluster.map_shared_rank(s[(i + 1) % 2], next)[(t + 7) % 64] = s[i % 2][t];
        cluster.sync();
    }
    out[blockIdx.x * 64 + t] = s[rounds % 2][t];
}

static void check_rotation(int blocks, int size, int rounds)
{
    int *out = device_array<int>(blocks * 64);
    OK(launch(rotate, blocks, 64, size, out, rounds));
    SYNC();
    std::vector<int> got = to_host(out, blocks * 64);
    for (int i = 0; i < blocks * 64; i++) {
        const int b = i / 64, first = b / size * size;
        const int from = first + ((b - first - rounds) % size + size) % size;
        CHECK(got[i] == from * 1000 + ((i % 64 - 7 * rounds) % 64 + 64) % 64);
    }
}

CASE(remote_stores)
{
    check_rotation(8, 4, 5);
    check_rotation(64, 8, 3);
    check_rotation(6, 3, 10);
}

/* Loads of all widths, scattered and not. */
__global__ void gather(int *out)
{
    __shared__ __align__(16) int s[256];
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank();
    for (int i = t; i < 256; i += 64) s[i] = rank * 256 + i;
    cluster.sync();
    int sum = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); r++) {
        const int *other = cluster.map_shared_rank(s, r);
        const int4 four = ((const int4 *)other)[t];
        const short2 two = ((const short2 *)other)[t * 5 % 256];
        sum += four.x + four.y + four.z + four.w + two.x + other[t] + other[t * 37 % 256];
        sum += ((const unsigned char *)other)[t * 3];
    }
    out[blockIdx.x * 64 + t] = sum;
    cluster.sync();
}

CASE(remote_loads)
{
    int *out = device_array<int>(4 * 64);
    OK(launch(gather, 4, 64, 4, out));
    SYNC();
    std::vector<int> got = to_host(out, 4 * 64);
    for (int i = 0; i < 4 * 64; i++) {
        int want = 0;
        for (int r = 0; r < 4; r++) {
            const int t = i % 64, at = t * 3;
            for (int k = 0; k < 4; k++) want += r * 256 + 4 * t + k;
            want += (short)(r * 256 + t * 5 % 256) + r * 256 + t + r * 256 + t * 37 % 256;
            want += (r * 256 + at / 4) >> at % 4 * 8 & 255;
        }
        CHECK(got[i] == want);
    }
}

/* A histogram of which each block has a part. */
__global__ void count(const int *values, int n, int *bins)
{
    __shared__ int s[16];
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    if (t < 16) s[t] = 0;
    cluster.sync();
    for (int i = rank * blockDim.x + t; i < n; i += blocks * blockDim.x)
        atomicAdd(cluster.map_shared_rank(s, values[i] / 16) + values[i] % 16, 1);
    cluster.sync();
    if (t < 16) bins[rank * 16 + t] = s[t];
}

CASE(remote_atomics)
{
    std::vector<int> values(1000), want(64);
    for (int i = 0; i < 1000; i++) want[values[i] = i * i % 64]++;
    int *bins = device_array<int>(64);
    OK(launch(count, 4, 128, 4, to_device(values), 1000, bins));
    SYNC();
    CHECK(to_host(bins, 64) == want);
}

/* By addresses of 32 bits; and a sum of what comes back. */
__global__ void by_address(int *out)
{
    __shared__ int s[32];
    const unsigned here = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    unsigned rank, there, back;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    s[threadIdx.x] = 0;
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank ^ 1));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(back) : "r"(there));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(10 * threadIdx.x + back)
                 : "memory");
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    int old, now;
    asm volatile("atom.shared::cluster.add.u32 %0, [%1], 7;" : "=r"(old) : "r"(there) : "memory");
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(here) : "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(now) : "r"(here) : "memory");
    out[blockIdx.x * 32 + threadIdx.x] = 1000 * old + now;
}

CASE(addresses)
{
    int *out = device_array<int>(4 * 32);
    OK(launch(by_address, 4, 32, 2, out));
    SYNC();
    std::vector<int> got = to_host(out, 4 * 32);
    for (int i = 0; i < 4 * 32; i++) {
        const int rank = i / 32 % 2, mine = 10 * (i % 32) + rank, others = 10 * (i % 32) + 1 - rank;
        CHECK(got[i] == 1000 * others + mine + 8);
    }
}

/* Which kind of memory is it? */
__global__ void kinds(unsigned *out)
{
    __shared__ int s;
    const int *other = cg::this_cluster().map_shared_rank(&s, 1 - blockIdx.x);
    const int *own = cg::this_cluster().map_shared_rank(&s, blockIdx.x);
    if (blockIdx.x) return;
    out[0] = __isShared(&s) << 3 | __isShared(own) << 2 | __isShared(other) << 1 | __isShared(out);
    out[1] = __isClusterShared(&s) << 3 | __isClusterShared(own) << 2 |
             __isClusterShared(other) << 1 | __isClusterShared(out);
}

CASE(kinds_of_memory)
{
    unsigned *out = device_array<unsigned>(2);
    OK(launch(kinds, 2, 1, 2, out));
    SYNC();
    std::vector<unsigned> got = to_host(out, 2);
    CHECK(got[0] == 12 && got[1] == 14);
}

/* ---- the barrier ----------------------------------------------------------------------------- */

/* Other work between arriving and waiting; blocks whose threads have ended are not waited for. */
__global__ void split(int *out)
{
    __shared__ int s;
    cg::cluster_group cluster = cg::this_cluster();
    const int rank = cluster.block_rank();
    if (rank == 3) return;
    if (threadIdx.x >= 40) return;
    if (threadIdx.x == 0) s = rank + 1;
    for (int i = 0; i < 3; i++) {
        cluster.barrier_arrive();
        if (threadIdx.x == 0) out[blockIdx.x] = i;
        cluster.barrier_wait();
    }
    int sum = 0;
    for (int r = 0; r < 3; r++) sum += *cluster.map_shared_rank(&s, r);
    if (threadIdx.x == 39) out[blockIdx.x] = sum;
    cluster.sync();
}

CASE(arrive_and_wait)
{
    int *out = device_array<int>(4);
    OK(cudaMemset(out, 0, 4 * sizeof *out));
    OK(launch(split, 4, 64, 4, out));
    SYNC();
    std::vector<int> got = to_host(out, 4);
    CHECK(got[0] == 6 && got[1] == 6 && got[2] == 6 && got[3] == 0);
}

/* Through global memory. */
__global__ void through_global(int *p, int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    const int n = cluster.num_threads(), i = cluster.thread_rank();
    p += blockIdx.x / cluster.num_blocks() * n;
    for (int round = 0; round < 4; round++) {
        p[i] = i + round;
        cluster.sync();
        out[blockIdx.x * blockDim.x + threadIdx.x] = p[(i + 77) % n];
        cluster.sync();
    }
}

CASE(global_memory)
{
    int *p = device_array<int>(8 * 64), *out = device_array<int>(8 * 64);
    OK(launch(through_global, 8, 64, 4, p, out));
    SYNC();
    std::vector<int> got = to_host(out, 8 * 64);
    for (int i = 0; i < 8 * 64; i++) CHECK(got[i] == (i % 256 + 77) % 256 + 3);
}

/* ---- mbarriers of other blocks --------------------------------------------------------------- */

/* Block 0 collects what the others send; each of them arrives at its mbarrier. */
__global__ void collect(int *out)
{
    __shared__ int s[4][32];
    __shared__ __align__(8) unsigned long long full;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), t = threadIdx.x;
    const unsigned here = (unsigned)__cvta_generic_to_shared(&full);
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(here), "r"(3 * 32) : "memory");
    cluster.sync();
    if (rank) {
        unsigned there;
        cluster.map_shared_rank(s[rank], 0)[t] = 100 * rank + t;
        asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(here));
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there)
                     : "memory");
    } else {
        asm volatile("{\n.reg .pred over;\n"
                     "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%0], "
                     "0;\n@!over bra again;\n}" ::"r"(here)
                     : "memory");
        out[t] = s[1][t] + s[2][t] + s[3][t];
    }
    cluster.sync();
}

CASE(remote_arrivals)
{
    int *out = device_array<int>(32);
    OK(launch(collect, 4, 32, 4, out));
    SYNC();
    std::vector<int> got = to_host(out, 32);
    for (int i = 0; i < 32; i++) CHECK(got[i] == 600 + 3 * i);
}

/* ---- bulk copies ----------------------------------------------------------------------------- */

__device__ static unsigned at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ static void expect(unsigned long long *barrier, int bytes)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "fence.mbarrier_init.release.cluster;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ static void wait(unsigned long long *barrier)
{
    asm volatile("{\n.reg .pred over;\nagain: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], "
                 "0;\n@!over bra again;\n}" ::"r"(at(barrier))
                 : "memory");
}

/* Two blocks bring a half each, for all four. */
__global__ void multicast(const int *in, int *out)
{
    __shared__ __align__(128) int s[2][64];
    __shared__ __align__(8) unsigned long long full;
    cg::cluster_group cluster = cg::this_cluster();
    const int rank = cluster.block_rank(), t = threadIdx.x;
    if (t == 0) expect(&full, sizeof s);
    cluster.sync();
    if (t == 0 && rank < 2)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
                     "multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(at(s[rank])),
                     "l"(in + 64 * rank), "r"(at(&full)), "h"((short)15)
                     : "memory");
    wait(&full);
    out[blockIdx.x * 64 + t] = s[0][t] + 1000 * s[1][63 - t];
    cluster.sync();
}

CASE(one_copy_for_all)
{
    std::vector<int> in(128);
    for (int i = 0; i < 128; i++) in[i] = i;
    int *out = device_array<int>(8 * 64);
    OK(launch(multicast, 8, 64, 4, to_device(in), out));
    SYNC();
    std::vector<int> got = to_host(out, 8 * 64);
    for (int i = 0; i < 8 * 64; i++) CHECK(got[i] == i % 64 + 1000 * (127 - i % 64));
}

/* Each block sends what it has to the next one. */
__global__ void send(int *out)
{
    __shared__ __align__(128) int from[64], to[64];
    __shared__ __align__(8) unsigned long long full;
    cg::cluster_group cluster = cg::this_cluster();
    const int rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
    const int t = threadIdx.x;
    from[t] = 100 * rank + t;
    asm volatile("fence.proxy.async;" ::: "memory");
    if (t == 0) expect(&full, sizeof to);
    cluster.sync();
    if (t == 0) {
        unsigned there, ready;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(to)), "r"(next));
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(ready)
                     : "r"(at(&full)), "r"(next));
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], "
                     "[%1], 256, [%2];" ::"r"(there),
                     "r"(at(from)), "r"(ready)
                     : "memory");
    }
    wait(&full);
    out[blockIdx.x * 64 + t] = to[t];
    cluster.sync();
}

CASE(from_block_to_block)
{
    int *out = device_array<int>(4 * 64);
    OK(launch(send, 4, 64, 4, out));
    SYNC();
    std::vector<int> got = to_host(out, 4 * 64);
    for (int i = 0; i < 4 * 64; i++) CHECK(got[i] == 100 * ((i / 64 + 3) % 4) + i % 64);
}

/* ---- launches -------------------------------------------------------------------------------- */

__global__ void nothing()
{
}

CASE(sizes)
{
    FAILS(launch(nothing, 16, 32, 16), cudaErrorInvalidClusterSize);
    OK(cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    OK(launch(nothing, 16, 32, 16));
    FAILS(launch(nothing, 32, 32, 32), cudaErrorInvalidClusterSize);
    FAILS(launch(nothing, 6, 32, 4), cudaErrorInvalidClusterSize); /* as on an H200 */
    FAILS(cudaGetLastError(), cudaErrorInvalidClusterSize);
    SYNC();
}

/* Of a cluster whose blocks fill a multiprocessor each, eight fit, nine do not. */
extern __shared__ int much[];
__global__ void large(int *out)
{
    much[0] = 1;
    out[blockIdx.x] = much[0];
}

CASE(no_cluster_fits)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    int *out = device_array<int>(16);
    const int bytes = 160 << 10;
    OK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    OK(cudaFuncSetAttribute(large, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.blockDim = 32;
    config.dynamicSmemBytes = bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    config.gridDim = attribute.val.clusterDim.x = 16;
    FAILS(cudaLaunchKernelEx(&config, large, out), cudaErrorInvalidClusterSize);
    FAILS(cudaGetLastError(), cudaErrorInvalidClusterSize);
    config.gridDim = attribute.val.clusterDim.x = 8;
    OK(cudaLaunchKernelEx(&config, large, out));
    SYNC();
}

#ifdef __NVCC__ /* clang 14 knows no __cluster_dims__ */
__global__ void __cluster_dims__(2, 2) fixed(int *out)
{
    if (threadIdx.x == 0)
        out[blockIdx.y * gridDim.x + blockIdx.x] = cg::this_cluster().block_rank();
}

static void check_fixed()
{
    int *out = device_array<int>(16);
    fixed<<<dim3(4, 4), 32>>>(out);
    SYNC();
    std::vector<int> got = to_host(out, 16);
    for (int i = 0; i < 16; i++) CHECK(got[i] == i / 4 % 2 * 2 + i % 2);
    FAILS(launch(fixed, dim3(4, 4), 32, 4, out), cudaErrorInvalidClusterSize);
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, fixed));
    CHECK(attributes.requiredClusterWidth == 2 && attributes.requiredClusterHeight == 2);
}
#else
static void check_fixed()
{
}
#endif

CASE(of_the_kernel)
{
    check_fixed();
}

CASE(occupancy)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    int clusters = 0, size = 0, yes = 0;
    config.gridDim = 16;
    config.blockDim = 1024;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    OK(cudaOccupancyMaxActiveClusters(&clusters, nothing, &config));
    CHECK(clusters == 4);
    config.gridDim = 18; /* no multiple */
    FAILS(cudaOccupancyMaxActiveClusters(&clusters, nothing, &config), cudaErrorInvalidClusterSize);
    config.gridDim = 16;
    OK(cudaOccupancyMaxPotentialClusterSize(&size, nothing, &config));
    CHECK(size == 8);
    OK(cudaDeviceGetAttribute(&yes, cudaDevAttrClusterLaunch, 0));
    CHECK(yes);
}

/* In a graph. */
CASE(captured)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *out = device_array<int>(8 * 64);
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    OK(cudaStreamCreate(&stream));
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = 8;
    config.blockDim = 64;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaLaunchKernelEx(&config, rotate, out, 1));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    std::vector<int> got = to_host(out, 8 * 64);
    for (int i = 0; i < 8 * 64; i++)
        CHECK(got[i] == (i / 256 * 4 + (i / 64 + 3) % 4) * 1000 + (i % 64 + 57) % 64);
}

/* ---- launches that depend on each other ------------------------------------------------------ */

__global__ void adds_behind(int *p)
{
    asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
    *p += 1;
}

CASE(a_launch_waits_for_the_one_before)
{
    int *p = to_device(std::vector<int>{1});
    adds_behind<<<1, 1>>>(p);
    adds_behind<<<1, 1>>>(p);
    SYNC();
    CHECK(to_host(p, 1)[0] == 3);
}
