/* counts.cu: what softgpu_count_start and softgpu_count_stop say a program costs. */
#include "check.h"

#include "softgpu.h"

#include <mma.h>

enum { N = 1000 };

static device_counts counts;

__global__ void copy(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

__global__ void copy_strided(const float *from, float *to, int stride, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    if (i < n) to[i] = from[i];
}

static void launch_copy(const float *from, float *to)
{
    copy<<<4, 256>>>(from, to, N);
    SYNC();
}

CASE(a_coalesced_copy)
{
    float *from = to_device(std::vector<float>(N, 1.0f)), *to = device_array<float>(N);
    softgpu_count_start();
    launch_copy(from, to);
    softgpu_count_stop(&counts);
    CHECK(counts.launches == 1);
    CHECK(counts.blocks == 4);
    CHECK(counts.warps == 32);
    CHECK(counts.threads == 1024);
    CHECK(counts.host_launches == 1);
    CHECK(counts.resident == 8 * 2048 / 256); /* nothing but its threads limits it */
    CHECK(counts.global_load.requests == 32);
    CHECK(counts.global_load.sectors == N * 4 / 32);
    CHECK(counts.global_load.bytes == N * 4);
    CHECK(counts.global_store.requests == 32);
    CHECK(counts.global_store.sectors == N * 4 / 32);
    CHECK(counts.footprint == 2 * N * 4);
    CHECK(counts.instructions > 32 && counts.lanes <= 32 * counts.instructions);
    CHECK(counts.operations == 0);
}

__global__ void copy_texels(cudaTextureObject_t from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = tex1Dfetch<float>(from, i);
}

CASE(a_copy_through_a_texture)
{
    float *from = to_device(std::vector<float>(N, 1.0f)), *to = device_array<float>(N);
    cudaTextureObject_t texture = 0;
    cudaTextureDesc plain = {};
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypeLinear;
    memory.res.linear.devPtr = from;
    memory.res.linear.desc = cudaCreateChannelDesc<float>();
    memory.res.linear.sizeInBytes = N * sizeof(float);
    OK(cudaCreateTextureObject(&texture, &memory, &plain, nullptr));
    softgpu_count_start();
    copy_texels<<<4, 256>>>(texture, to, N);
    SYNC();
    softgpu_count_stop(&counts);
    CHECK(counts.read_only.requests == 32);
    CHECK(counts.read_only.sectors == N * 4 / 32);
    CHECK(counts.read_only.bytes == N * 4);
    CHECK(counts.global_load.requests == 0);
    CHECK(counts.footprint == 2 * N * 4);
}

/* From the middle of a sector: 17 of them for 512 bytes. */
__global__ void copy_in_bulk(const float *from, float *to)
{
    __shared__ __align__(16) float there[128];
    __shared__ unsigned long long barrier;
    const unsigned tile = (unsigned)__cvta_generic_to_shared(there);
    const unsigned full = (unsigned)__cvta_generic_to_shared(&barrier);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(full) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                 "512, [%2];" ::"r"(tile),
                 "l"(from + 4), "r"(full)
                 : "memory");
    asm volatile("{\n.reg .pred over;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], 0;\n"
                 "@!over bra again;\n}" ::"r"(full)
                 : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(
                     to + 64 * blockIdx.x),
                 "r"(tile)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

CASE(copies_in_bulk)
{
    float *from = to_device(std::vector<float>(N, 1.0f)), *to = device_array<float>(N);
    softgpu_count_start();
    copy_in_bulk<<<2, 1>>>(from, to);
    SYNC();
    softgpu_count_stop(&counts);
    CHECK(counts.bulk_load.requests == 2 && counts.bulk_store.requests == 2);
    CHECK(counts.bulk_load.bytes == 2 * 512 && counts.bulk_store.bytes == 2 * 256);
    CHECK(counts.bulk_load.sectors == 2 * 17 && counts.bulk_store.sectors == 2 * 8);
    CHECK(counts.global_load.requests == 0 && counts.global_store.requests == 0);
    CHECK(counts.footprint == 17 * 32 + 2 * 8 * 32);
}

CASE(a_strided_copy)
{
    float *from = to_device(std::vector<float>(8 * N, 1.0f)), *to = device_array<float>(8 * N);
    softgpu_count_start();
    copy_strided<<<4, 256>>>(from, to, 8, 8 * N);
    SYNC();
    softgpu_count_stop(&counts);
    CHECK(counts.global_load.requests == 32);
    CHECK(counts.global_load.sectors == N);
    CHECK(counts.global_load.bytes == N * 4);
}

CASE(only_between_start_and_stop)
{
    float *from = to_device(std::vector<float>(N, 1.0f)), *to = device_array<float>(N);
    launch_copy(from, to);
    softgpu_count_start();
    launch_copy(from, to);
    launch_copy(from, to);
    softgpu_count_stop(&counts);
    CHECK(counts.launches == 2);
    CHECK(counts.global_load.requests == 64);
    launch_copy(from, to);
    softgpu_count_start();
    softgpu_count_stop(&counts);
    CHECK(counts.launches == 0);
    CHECK(counts.instructions == 0);
}

CASE(before_the_device_is_open)
{
    softgpu_count_start();
    float *from = to_device(std::vector<float>(N, 1.0f)), *to = device_array<float>(N);
    launch_copy(from, to);
    softgpu_count_stop(&counts);
    CHECK(counts.launches == 1);
    CHECK(counts.to_device.count == 1);
}

CASE(a_reset_loses_nothing)
{
    softgpu_count_start();
    launch_copy(to_device(std::vector<float>(N, 1.0f)), device_array<float>(N));
    OK(cudaDeviceReset());
    launch_copy(to_device(std::vector<float>(N, 1.0f)), device_array<float>(N));
    softgpu_count_stop(&counts);
    CHECK(counts.launches == 2);
    CHECK(counts.global_store.bytes == 2 * N * 4);
}

/* A graph is submitted once, whatever it launches; a launch after it counts for itself again. */
CASE(a_graph_is_one_submission)
{
    float *from = to_device(std::vector<float>(N, 1.0f)), *to = device_array<float>(N);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 5; i++) copy<<<4, 256, 0, stream>>>(from, to, N);
    OK(cudaMemsetAsync(to, 0, 4, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    softgpu_count_start();
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaGraphLaunch(exec, stream));
    launch_copy(from, to);
    softgpu_count_stop(&counts);
    CHECK(counts.launches == 11 && counts.host_launches == 3);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

/* Who switches on another node each time submits each of them. */
CASE(a_graph_in_parts_is_many_host_launches)
{
    float *from = to_device(std::vector<float>(N, 1.0f)), *to = device_array<float>(N);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t nodes[4];
    size_t count = 4;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 4; i++) copy<<<4, 256, 0, stream>>>(from, to, N);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphGetNodes(graph, nodes, &count));
    softgpu_count_start();
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) OK(cudaGraphNodeSetEnabled(exec, nodes[k], k == i));
        OK(cudaGraphLaunch(exec, stream));
    }
    softgpu_count_stop(&counts);
    CHECK(counts.launches == 4 && counts.host_launches == 4);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

__constant__ float table[16];
__device__ float cells[16];

CASE(copies_and_fills)
{
    std::vector<float> host(N, 1.0f);
    float *p = device_array<float>(N), *q = device_array<float>(N);
    softgpu_count_start();
    OK(cudaMemcpy(p, host.data(), N * 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToSymbol(table, host.data(), 64));
    OK(cudaMemcpy(q, p, N * 4, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy2D(host.data(), 40, q, 80, 20, 10, cudaMemcpyDeviceToHost));
    OK(cudaMemcpyFromSymbol(host.data(), cells, 64));
    OK(cudaMemset(p, 0, 100));
    OK(cudaMemcpy(p, host.data(), 0, cudaMemcpyHostToDevice));
    softgpu_count_stop(&counts);
    CHECK(counts.to_device.count == 2 && counts.to_device.bytes == N * 4 + 64);
    CHECK(counts.on_device.count == 1 && counts.on_device.bytes == N * 4);
    CHECK(counts.to_host.count == 2 && counts.to_host.bytes == 200 + 64);
    CHECK(counts.fills.count == 1 && counts.fills.bytes == 100);
}

template <int pitch> __global__ void transpose(const float *from, float *to)
{
    __shared__ float tile[32][pitch];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = from[y * 32 + x];
    __syncthreads();
    to[y * 32 + x] = tile[x][y];
}

template <int pitch> static void count_transpose()
{
    float *from = to_device(std::vector<float>(1024, 1.0f)), *to = device_array<float>(1024);
    softgpu_count_start();
    transpose<pitch><<<1, dim3(32, 32)>>>(from, to);
    SYNC();
    softgpu_count_stop(&counts);
    CHECK(counts.shared_load.requests == 32);
    CHECK(counts.shared_store.requests == 32);
    CHECK(counts.shared_store.wavefronts == 32);
    CHECK(counts.shared_store.conflicts == 0);
    CHECK(counts.barriers == 32);
}

CASE(bank_conflicts)
{
    count_transpose<32>();
    CHECK(counts.shared_load.wavefronts == 32 * 32);
    CHECK(counts.shared_load.conflicts == 32 * 31);
}

CASE(padding_has_no_bank_conflicts)
{
    count_transpose<33>();
    CHECK(counts.shared_load.wavefronts == 32);
    CHECK(counts.shared_load.conflicts == 0);
}

__global__ void add_all(const int *from, int *sum, int *last)
{
    atomicAdd(sum, from[threadIdx.x]);
    if (threadIdx.x % 2) last[threadIdx.x] = atomicAdd(sum + 64 + threadIdx.x, 1);
}

CASE(atomics)
{
    int *p = to_device(std::vector<int>(128, 1)), *q = to_device(std::vector<int>(128, 1));
    softgpu_count_start();
    add_all<<<1, 32>>>(p, q, p + 32);
    SYNC();
    softgpu_count_stop(&counts);
    CHECK(counts.global_atomic.requests == 2);
    CHECK(counts.global_atomic.sectors == 32 + 4); /* lanes at one address take turns */
    CHECK(counts.global_atomic.bytes == 32 * 4 + 16 * 4);
}

__global__ void polynomial(const float *x, float *y)
{
    float v = x[threadIdx.x];
    y[threadIdx.x] = fmaf(v, fmaf(v, 3.0f, 2.0f), 1.0f) + v;
}

CASE(floating_point_operations)
{
    float *x = to_device(std::vector<float>(64, 1.0f)), *y = device_array<float>(64);
    softgpu_count_start();
    polynomial<<<1, 64>>>(x, y);
    SYNC();
    softgpu_count_stop(&counts);
    CHECK(counts.operations == 64 * 5);
    CHECK(counts.by_class[CLASS_FLOAT] == 2 * 3);
}

__global__ void product(float *c, const __half *a, const __half *b)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    for (int i = 0; i < 3; i++) wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

CASE(tensor_cores)
{
    __half *x = to_device(std::vector<__half>(256, __float2half(1.0f)));
    float *c = device_array<float>(256);
    softgpu_count_start();
    product<<<1, 64>>>(c, x, x);
    SYNC();
    softgpu_count_stop(&counts);
    CHECK(counts.by_class[CLASS_TENSOR] == 2 * 3); /* two warps; loads and stores are memory's */
}

__device__ __noinline__ float twice(const float *x, int i)
{
    return 2 * x[i];
}

__global__ void call_twice(const float *x, float *y, int depth)
{
    float (*f)(const float *, int) = twice;
    y[threadIdx.x] = twice(x, threadIdx.x) + (depth ? f(x, 31 - threadIdx.x) : 0);
}

CASE(called_functions_count)
{
    float *x = to_device(std::vector<float>(32, 1.0f)), *y = device_array<float>(32);
    softgpu_count_start();
    call_twice<<<1, 32>>>(x, y, 1);
    SYNC();
    softgpu_count_stop(&counts);
    CHECK(to_host(y, 32)[7] == 4);
    CHECK(counts.global_load.requests == 2);
    CHECK(counts.global_load.sectors == 8);
}

__global__ void pick(const float *global, float *to, int where)
{
    __shared__ float shared[32];
    float local[32];
    for (int i = 0; i < 32; i++) local[i] = global[i];
    shared[threadIdx.x] = global[threadIdx.x];
    __syncwarp();
    const float *from = where == 0 ? global : where == 1 ? shared : local;
    if (threadIdx.x % 2) from = global;
    to[threadIdx.x] = from[threadIdx.x];
}

static device_counts count_pick(int where)
{
    float *x = to_device(std::vector<float>(32, 1.0f)), *y = device_array<float>(32);
    softgpu_count_start();
    pick<<<1, 32>>>(x, y, where);
    SYNC();
    softgpu_count_stop(&counts);
    return counts;
}

CASE(generic_addresses)
{
    device_counts global = count_pick(0), shared = count_pick(1), local = count_pick(2);
    CHECK(global.shared_load.requests == 0);
    CHECK(shared.shared_load.requests == 1);
    CHECK(shared.global_load.requests == global.global_load.requests);
    CHECK(shared.global_load.bytes == global.global_load.bytes - 16 * 4);
    CHECK(local.local_load.requests == 1);
    CHECK(local.local_load.sectors == 16);
    CHECK(local.local_store.requests == global.local_store.requests);
}

__global__ void out_of_bounds(float *p)
{
    p[threadIdx.x + 90] = 1; // FINDING a_fault_is_counted: out-of-bounds
}

CASE(a_fault_is_counted)
{
    float *p = device_array<float>(100);
    softgpu_count_start();
    out_of_bounds<<<1, 32>>>(p);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    softgpu_count_stop(&counts);
    CHECK(counts.launches == 1);
    CHECK(counts.global_store.requests == 1);
}
