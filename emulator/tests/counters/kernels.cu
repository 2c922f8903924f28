/*
 * kernels.cu: launches whose cost is known: counted by softgpu, and measured on a GPU by ncu.sh.
 * First what one meets in courses, then the probes of probes.cuh.
 */
#include "launch.cuh"

__device__ static int thread()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* ---- copies ---------------------------------------------------------------------------------- */

template <typename T> __global__ void copy(const T *from, T *to, int n)
{
    int i = thread();
    if (i < n) to[i] = from[i];
}

LAUNCH("copy")
{
    copy<<<N / 256, 256>>>(in.f, out.f, N);
}

LAUNCH("copy with a tail")
{
    copy<<<40, 256>>>(in.f, out.f, 10007);
}

LAUNCH("copy bytes")
{
    copy<<<N / 256, 256>>>(in.c, out.c, N);
}

LAUNCH("copy half")
{
    copy<<<N / 256, 256>>>(in.h, out.h, N);
}

LAUNCH("copy half2")
{
    copy<<<N / 256, 256>>>(in.h2, out.h2, N);
}

LAUNCH("copy double")
{
    copy<<<N / 256, 256>>>(in.d, out.d, N);
}

LAUNCH("copy float2")
{
    copy<<<N / 256, 256>>>(in.f2, out.f2, N);
}

LAUNCH("copy float4")
{
    copy<<<N / 256, 256>>>(in.f4, out.f4, N);
}

LAUNCH("copy float4 with a tail")
{
    copy<<<4, 256>>>(in.f4, out.f4, 1003);
}

LAUNCH("copy misaligned by 1 byte")
{
    copy<<<N / 256, 256>>>(in.c + 1, out.c + 1, N);
}

LAUNCH("copy misaligned by 4 bytes")
{
    copy<<<N / 256, 256>>>(in.f + 1, out.f + 1, N);
}

LAUNCH("copy misaligned by 16 bytes")
{
    copy<<<N / 256, 256>>>(in.f4 + 1, out.f4 + 1, N / 2);
}

LAUNCH("copy from misaligned by 8 bytes")
{
    copy<<<N / 256, 256>>>(in.d + 1, out.d, N);
}

__global__ void copy_apart(const float *from, float *to, int stride)
{
    to[thread()] = from[thread() * stride];
}

LAUNCH("stride 2")
{
    copy_apart<<<N / 256, 256>>>(in.f, out.f, 2);
}

LAUNCH("stride 4")
{
    copy_apart<<<N / 256, 256>>>(in.f, out.f, 4);
}

LAUNCH("stride 8")
{
    copy_apart<<<N / 256, 256>>>(in.f, out.f, 8);
}

LAUNCH("stride 32")
{
    copy_apart<<<8, 256>>>(in.f, out.f, 32);
}

__global__ void store_apart(const float *from, float *to, int stride)
{
    to[thread() * stride] = from[thread()];
}

LAUNCH("store stride 8")
{
    store_apart<<<N / 256, 256>>>(in.f, out.f, 8);
}

__global__ void broadcast(const float *from, float *to)
{
    to[thread()] = from[blockIdx.x];
}

LAUNCH("broadcast")
{
    broadcast<<<N / 256, 256>>>(in.f, out.f);
}

__global__ void reverse(const float *from, float *to, int n)
{
    to[thread()] = from[n - 1 - thread()];
}

LAUNCH("reverse")
{
    reverse<<<N / 256, 256>>>(in.f, out.f, N);
}

__global__ void gather(const float *from, const int *index, float *to)
{
    to[thread()] = from[index[thread()]];
}

LAUNCH("gather at random")
{
    gather<<<N / 256, 256>>>(in.f, numbers.i, out.f);
}

__global__ void scatter(const float *from, const int *index, float *to)
{
    to[index[thread()]] = from[thread()];
}

LAUNCH("scatter at random")
{
    scatter<<<N / 256, 256>>>(in.f, numbers.i, out.f);
}

__global__ void copy_ldg(const float *from, float *to)
{
    to[thread()] = __ldg(from + thread());
}

LAUNCH("copy by __ldg")
{
    copy_ldg<<<N / 256, 256>>>(in.f, out.f);
}

__global__ void grid_stride(const float *from, float *to, int n)
{
    for (int i = thread(); i < n; i += gridDim.x * blockDim.x) to[i] = 2 * from[i];
}

LAUNCH("grid-stride loop")
{
    grid_stride<<<7, 224>>>(in.f, out.f, N);
}

__global__ void odd_lanes(const float *from, float *to)
{
    if (threadIdx.x % 2) to[thread()] = from[thread()];
}

LAUNCH("odd lanes")
{
    odd_lanes<<<N / 256, 256>>>(in.f, out.f);
}

struct particle {
    float x, y, z, mass;
};

__global__ void move_structures(const particle *from, particle *to)
{
    int i = thread();
    to[i].x = from[i].x + 1;
    to[i].z = from[i].z * 2;
}

LAUNCH("array of structures")
{
    move_structures<<<N / 256, 256>>>((particle *)in.any, (particle *)out.any);
}

__global__ void saxpy(float a, const float *x, float *y)
{
    y[thread()] = a * x[thread()] + y[thread()];
}

LAUNCH("saxpy")
{
    saxpy<<<N / 256, 256>>>(2, in.f, out.f);
}

__global__ void pick(const float *a, const float *b, float *to)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = b[thread()];
    __syncthreads();
    const float *from = a[thread()] > 1.5f ? tile + threadIdx.x : a + thread();
    to[thread()] = *from;
}

LAUNCH("generic pointers")
{
    pick<<<N / 256, 256>>>(in.f, in.f + N, out.f);
}

/* ---- matrices -------------------------------------------------------------------------------- */

enum { M = 64 };

__global__ void matmul_rows(const float *a, const float *b, float *c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < M; k++) sum += a[y * M + k] * b[k * M + x];
    c[y * M + x] = sum;
}

LAUNCH("matmul naive, lanes along a row")
{
    matmul_rows<<<dim3(M / 16, M / 16), dim3(16, 16)>>>(in.f, in.f + M * M, out.f);
}

LAUNCH("matmul naive, 32 lanes along a row")
{
    matmul_rows<<<dim3(M / 32, M / 8), dim3(32, 8)>>>(in.f, in.f + M * M, out.f);
}

__global__ void matmul_columns(const float *a, const float *b, float *c)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < M; k++) sum += a[y * M + k] * b[k * M + x];
    c[y * M + x] = sum;
}

LAUNCH("matmul naive, lanes along a column")
{
    matmul_columns<<<dim3(M / 16, M / 16), dim3(16, 16)>>>(in.f, in.f + M * M, out.f);
}

template <int tile> __global__ void matmul_tiled(const float *a, const float *b, float *c)
{
    __shared__ float as[tile][tile], bs[tile][tile];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * tile + y,
        column = blockIdx.x * tile + x;
    float sum = 0;
    for (int t = 0; t < M; t += tile) {
        as[y][x] = a[row * M + t + x];
        bs[y][x] = b[(t + y) * M + column];
        __syncthreads();
        for (int k = 0; k < tile; k++) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * M + column] = sum;
}

LAUNCH("matmul tiled 16")
{
    matmul_tiled<16><<<dim3(M / 16, M / 16), dim3(16, 16)>>>(in.f, in.f + M * M, out.f);
}

LAUNCH("matmul tiled 32")
{
    matmul_tiled<32><<<dim3(M / 32, M / 32), dim3(32, 32)>>>(in.f, in.f + M * M, out.f);
}

__global__ void transpose_naive(const float *from, float *to, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    to[x * n + y] = from[y * n + x];
}

LAUNCH("transpose naive")
{
    transpose_naive<<<dim3(4, 4), dim3(32, 32)>>>(in.f, out.f, 128);
}

template <int pitch> __global__ void transpose_tiled(const float *from, float *to, int n)
{
    __shared__ float tile[32][pitch];
    int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int k = 0; k < 32; k += 8) tile[y + k][x] = from[(top + y + k) * n + left + x];
    __syncthreads();
    for (int k = 0; k < 32; k += 8) to[(left + y + k) * n + top + x] = tile[x][y + k];
}

LAUNCH("transpose tiled")
{
    transpose_tiled<32><<<dim3(4, 4), dim3(32, 8)>>>(in.f, out.f, 128);
}

LAUNCH("transpose padded")
{
    transpose_tiled<33><<<dim3(4, 4), dim3(32, 8)>>>(in.f, out.f, 128);
}

/* ---- reductions and histograms --------------------------------------------------------------- */

__global__ void reduce_divergent(const float *from, float *to)
{
    __shared__ float part[256];
    int i = threadIdx.x;
    part[i] = from[thread()];
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        if (i % (2 * s) == 0) part[i] += part[i + s];
        __syncthreads();
    }
    if (i == 0) to[blockIdx.x] = part[0];
}

LAUNCH("reduce, divergent tree")
{
    reduce_divergent<<<N / 256, 256>>>(in.f, out.f);
}

__global__ void reduce_conflicting(const float *from, float *to)
{
    __shared__ float part[256];
    int i = threadIdx.x;
    part[i] = from[thread()];
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        int at = 2 * s * i;
        if (at < 256) part[at] += part[at + s];
        __syncthreads();
    }
    if (i == 0) to[blockIdx.x] = part[0];
}

LAUNCH("reduce, tree with bank conflicts")
{
    reduce_conflicting<<<N / 256, 256>>>(in.f, out.f);
}

__global__ void reduce_sequential(const float *from, float *to)
{
    __shared__ float part[256];
    int i = threadIdx.x;
    part[i] = from[thread()];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (i < s) part[i] += part[i + s];
        __syncthreads();
    }
    if (i == 0) to[blockIdx.x] = part[0];
}

LAUNCH("reduce, sequential tree")
{
    reduce_sequential<<<N / 256, 256>>>(in.f, out.f);
}

__device__ static float warp_sum(float value)
{
    for (int s = 16; s > 0; s /= 2) value += __shfl_xor_sync(~0u, value, s);
    return value;
}

__global__ void reduce_shuffle(const float *from, float *to)
{
    float sum = warp_sum(from[thread()]);
    if (threadIdx.x % 32 == 0) atomicAdd(to, sum);
}

LAUNCH("reduce, warp shuffle and atomics")
{
    reduce_shuffle<<<N / 256, 256>>>(in.f, out.f);
}

__global__ void reduce_atomic(const float *from, float *to)
{
    atomicAdd(to, from[thread()]);
}

LAUNCH("reduce, atomics only")
{
    reduce_atomic<<<16, 256>>>(in.f, out.f);
}

__global__ void histogram_global(const unsigned *from, unsigned *bins)
{
    atomicAdd(&bins[from[thread()] % 256], 1);
}

LAUNCH("histogram, global atomics")
{
    histogram_global<<<N / 256, 256>>>(numbers.u, out.u);
}

__global__ void histogram_shared(const unsigned *from, unsigned *bins)
{
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = thread(); i < N; i += gridDim.x * blockDim.x) atomicAdd(&mine[from[i] % 256], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

LAUNCH("histogram, shared atomics")
{
    histogram_shared<<<8, 256>>>(numbers.u, out.u);
}

/* ---- layers of networks ---------------------------------------------------------------------- */

enum { ROW = 200 };

__device__ static float warp_max(float value)
{
    for (int s = 16; s > 0; s /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, s));
    return value;
}

/* A warp a row. */
__global__ void softmax(const float *from, float *to)
{
    int lane = threadIdx.x % 32, row = thread() / 32;
    const float *x = from + row * ROW;
    float most = -INFINITY, sum = 0;
    for (int i = lane; i < ROW; i += 32) most = fmaxf(most, x[i]);
    most = warp_max(most);
    for (int i = lane; i < ROW; i += 32) sum += expf(x[i] - most);
    sum = warp_sum(sum);
    for (int i = lane; i < ROW; i += 32) to[row * ROW + i] = expf(x[i] - most) / sum;
}

LAUNCH("softmax, a warp a row")
{
    softmax<<<16, 128>>>(in.f, out.f);
}

/* A thread a row: as uncoalesced as can be. */
__global__ void softmax_thread(const float *from, float *to)
{
    const float *x = from + thread() * ROW;
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < ROW; i++) most = fmaxf(most, x[i]);
    for (int i = 0; i < ROW; i++) sum += expf(x[i] - most);
    for (int i = 0; i < ROW; i++) to[thread() * ROW + i] = expf(x[i] - most) / sum;
}

LAUNCH("softmax, a thread a row")
{
    softmax_thread<<<1, 64>>>(in.f, out.f);
}

/* A block a row. */
__global__ void layernorm(const float *from, const float *scale, float *to)
{
    __shared__ float sums[4], squares[4];
    const float *x = from + blockIdx.x * ROW;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < ROW; i += 128) {
        sum += x[i];
        square += x[i] * x[i];
    }
    sum = warp_sum(sum);
    square = warp_sum(square);
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        squares[threadIdx.x / 32] = square;
    }
    __syncthreads();
    float mean = (sums[0] + sums[1] + sums[2] + sums[3]) / ROW;
    float variance = (squares[0] + squares[1] + squares[2] + squares[3]) / ROW - mean * mean;
    for (int i = threadIdx.x; i < ROW; i += 128)
        to[blockIdx.x * ROW + i] = (x[i] - mean) * rsqrtf(variance + 1e-5f) * scale[i];
}

LAUNCH("layernorm")
{
    layernorm<<<64, 128>>>(in.f, in.f + N, out.f);
}

__constant__ float filter[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

__global__ void conv2d(const float *from, float *to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int u = x + dx, v = y + dy;
            if (u < 0 || v < 0 || u >= width || v >= height) continue;
            sum += filter[(dy + 1) * 3 + dx + 1] * from[v * width + u];
        }
    }
    to[y * width + x] = sum;
}

LAUNCH("conv2d direct, filter in constant memory")
{
    conv2d<<<dim3(8, 8), dim3(16, 16)>>>(in.f, out.f, 128, 128);
}

__global__ void conv2d_shared(const float *from, float *to, int width)
{
    __shared__ float tile[18][18];
    int left = blockIdx.x * 16, top = blockIdx.y * 16, at = threadIdx.y * 16 + threadIdx.x;
    for (int i = at; i < 18 * 18; i += 256)
        tile[i / 18][i % 18] = from[(top + i / 18) * width + left + i % 18];
    __syncthreads();
    float sum = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            sum += filter[dy * 3 + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
    to[(top + threadIdx.y) * width + left + threadIdx.x] = sum;
}

LAUNCH("conv2d, tile in shared memory")
{
    conv2d_shared<<<dim3(7, 7), dim3(16, 16)>>>(in.f, out.f, 128);
}

__global__ void stencil_1d(const float *from, float *to, int n)
{
    __shared__ float tile[256 + 8];
    int i = thread() + 4, at = threadIdx.x + 4;
    tile[at] = from[i];
    if (threadIdx.x < 4) {
        tile[at - 4] = from[i - 4];
        tile[at + 256] = from[i + 256];
    }
    __syncthreads();
    float sum = 0;
    for (int k = -4; k <= 4; k++) sum += tile[at + k];
    if (i < n) to[i] = sum;
}

LAUNCH("stencil 1-D")
{
    stencil_1d<<<N / 256, 256>>>(in.f, out.f, N);
}

__global__ void stencil_2d(const float *from, float *to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    int i = y * width + x;
    to[i] = 0.25f * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width]);
}

LAUNCH("stencil 2-D")
{
    stencil_2d<<<dim3(4, 16), dim3(32, 8)>>>(in.f, out.f, 125, 125);
}

/* ---- other memories -------------------------------------------------------------------------- */

__global__ void sort_local(const float *from, float *to)
{
    float mine[16];
    for (int i = 0; i < 16; i++) mine[i] = from[i * 256 + threadIdx.x];
    for (int i = 1; i < 16; i++)
        for (int k = i; k > 0 && mine[k] < mine[k - 1]; k--) {
            float swap = mine[k];
            mine[k] = mine[k - 1];
            mine[k - 1] = swap;
        }
    for (int i = 0; i < 16; i++) to[i * 256 + threadIdx.x] = mine[i];
}

LAUNCH("local array, sorted")
{
    sort_local<<<1, 256>>>(in.f, out.f);
}

__constant__ float table[64] = {1, 2, 3};

__global__ void look_up(const int *index, float *to)
{
    to[thread()] = table[index[thread()] % 64];
}

LAUNCH("constant memory")
{
    look_up<<<N / 256, 256>>>(numbers.i, out.f);
}

__global__ void copy_async(const float4 *from, float4 *to)
{
    __shared__ float4 tile[128];
    unsigned at = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from + thread()));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    to[thread()] = tile[threadIdx.x ^ 1];
}

LAUNCH("asynchronous copy")
{
    copy_async<<<16, 128>>>(in.f4, out.f4);
}

__global__ void read_twice(const volatile float *from, float *to)
{
    to[thread()] = from[thread()] + from[thread()];
}

LAUNCH("volatile loads")
{
    read_twice<<<N / 256, 256>>>(in.f, out.f);
}

#include "probes.cuh"

int main(int argc, char **argv)
{
    return run_launches(argc, argv);
}
