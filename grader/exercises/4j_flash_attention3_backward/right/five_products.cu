// RIGHT: five products: a group of threads has 64 keys, the gradients of queries are added in fp32
// by atomics | nvcc
#include "4d_flash_attention2_backward/flash_attention2_backward.h"
#include "4j_flash_attention3_backward/flash_attention3_backward.h"
#include "tma.h"
#include "wgmma.h"
#include <cuda_bf16.h>

typedef __nv_bfloat16 bf16;

#if TENSOR_MAPS

enum { SIDE = 64, BOX = SIDE * SIDE * 2 }; /* keys, queries of a tile, columns of a box */

#if ON_HOPPER

template <int DIM>
__device__ static void fetch(uint32_t to, const CUtensorMap *x, uint32_t barrier, int head, int row)
{
#pragma unroll
    for (int i = 0; i < DIM / SIDE; i++)
        copy_tile_3d(to + i * BOX, x, barrier, head, row, i * SIDE);
}

/* s = a b^T of [64 x DIM]. */
template <int DIM> __device__ static void compare(float (&s)[8][4], uint32_t a, uint32_t b)
{
#pragma unroll
    for (int i = 0; i < DIM / 16; i++) {
        const int at = i / 4 * BOX + i % 4 * 32;
        wgmma_bf16_n64<0>(s, descriptor(a + at, 16, 1024), descriptor(b + at, 16, 1024), i > 0);
    }
    commit_products();
}

template <typename A>
__device__ static void add_product(float (&sum)[8][4], const A &a, uint64_t b, bool add)
{
    wgmma_bf16_n64<1>(sum, a, b, add);
}

template <typename A>
__device__ static void add_product(float (&sum)[16][4], const A &a, uint64_t b, bool add)
{
    wgmma_bf16_n128<1>(sum, a, b, add);
}

/* sum += s b, s rounded to bf16. */
template <int N> __device__ static void add_rows(float (&sum)[N][4], float (&s)[8][4], uint32_t b)
{
    uint32_t p[4][4];
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const __nv_bfloat162 two =
            __floats2bfloat162_rn(s[i / 2][i % 2 * 2], s[i / 2][i % 2 * 2 + 1]);
        p[i / 4][i % 4] = *(const uint32_t *)&two;
    }
    fence_sums();
#pragma unroll
    for (int i = 0; i < 4; i++) add_product(sum, p[i], descriptor(b + i * 2048, BOX, 1024), true);
    commit_products();
    wait_for_products<0>();
}

template <int N>
__device__ static void store(bf16 *to, const float (&sum)[N][4], int row, int seq, float factor)
{
#pragma unroll
    for (int i = 0; i < 4 * N; i++) {
        const int at = row + i % 4 / 2 * 8, col = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (at < seq) to[(size_t)at * 8 * N + col] = __float2bfloat16(sum[i / 4][i % 4] * factor);
    }
}

#endif

template <int DIM>
__global__ static void
five_products(float *sum_q, bf16 *grad_k, bf16 *grad_v, const float *lse, const float *d,
              const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
              const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap grad_out,
              int blocks, int seq, int causal, float scale)
{
#if ON_HOPPER
    enum { TILE = DIM / SIDE * BOX };
    extern __shared__ __align__(1024) unsigned char tiles[];
    const uint32_t k_at = shared_address(tiles), v_at = k_at + TILE, q_at = v_at + TILE,
                   out_at = q_at + TILE, s_at = out_at + TILE, full = s_at + BOX;
    float2 *of_query = (float2 *)(tiles + 4 * TILE + BOX + 8); /* lse and D */
    const int head = blockIdx.x / blocks, key = blockIdx.x % blocks * SIDE;
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4; /* of the tile of keys */
    float of_k[DIM / 8][4] = {}, of_v[DIM / 8][4] = {};
    if (threadIdx.x == 0) {
        barrier_init(full, 1);
        fence_barriers();
    }
    __syncthreads();
    for (int first = causal ? key : 0, parity = 0, query = first; query < seq;
         query += SIDE, parity ^= 1) {
        if (threadIdx.x == 0) {
            barrier_expect(full, TILE * (query == first ? 4 : 2));
            if (query == first) fetch<DIM>(k_at, &k, full, head, key);
            if (query == first) fetch<DIM>(v_at, &v, full, head, key);
            fetch<DIM>(q_at, &q, full, head, query);
            fetch<DIM>(out_at, &grad_out, full, head, query);
        }
        if (threadIdx.x < SIDE) {
            const int at = query + threadIdx.x;
            const size_t all = (size_t)head * seq + at;
            of_query[threadIdx.x] = at < seq ? make_float2(lse[all], d[all]) : make_float2(0, 0);
        }
        __syncthreads();
        barrier_wait(full, parity);
        float s[8][4], g[8][4];
        fence_sums();
        compare<DIM>(s, k_at, q_at);
        compare<DIM>(g, v_at, out_at);
        wait_for_products<0>();
#pragma unroll
        for (int i = 0; i < 32; i++) {
            const int col = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2, r = row + i % 4 / 2 * 8;
            const float2 of = of_query[col];
            const bool seen = query + col < seq && (!causal || key + r <= query + col);
            float *x = &s[i / 4][i % 4], *y = &g[i / 4][i % 4];
            *x = seen ? expf(*x * scale - of.x) : 0.0f;
            *y = key + r < seq ? *x * (*y - of.y) : 0.0f;
            *(bf16 *)(tiles + 4 * TILE + col * 128 + ((r / 8 ^ col % 8) * 16 + r % 8 * 2)) =
                __float2bfloat16(*y);
        }
        add_rows(of_v, s, out_at);
        add_rows(of_k, g, q_at);
        fence_async();
        __syncthreads();
        float of_q[DIM / 8][4];
        fence_sums();
#pragma unroll
        for (int i = 0; i < 4; i++)
            add_product(of_q, descriptor(s_at + i * 32, 16, 1024),
                        descriptor(k_at + i * 2048, BOX, 1024), i > 0);
        commit_products();
        wait_for_products<0>();
#pragma unroll
        for (int i = 0; i < DIM / 2; i++) {
            const int at = query + row + i % 4 / 2 * 8,
                      col = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
            if (at < seq)
                atomicAdd(&sum_q[((size_t)head * seq + at) * DIM + col], of_q[i / 4][i % 4]);
        }
        __syncthreads(); /* the tiles may be overwritten */
    }
    store(grad_k + (size_t)head * seq * DIM, of_k, key + row, seq, scale);
    store(grad_v + (size_t)head * seq * DIM, of_v, key + row, seq, 1.0f);
#endif
}

/* A thread per query. */
__global__ static void row_sums(float *d, const bf16 *grad_out, const bf16 *out, size_t rows,
                                int dim)
{
    const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    if (row >= rows) return;
    for (size_t i = row * dim; i < (row + 1) * dim; i++)
        sum += __bfloat162float(grad_out[i]) * __bfloat162float(out[i]);
    d[row] = sum;
}

__global__ static void round_all(bf16 *to, const float *from, size_t count, float scale)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = __float2bfloat16(from[i] * scale);
}

template <int DIM>
static cudaError_t launch(bf16 *const grad[3], const bf16 *const x[4], const bf16 *out,
                          const float *lse, int heads, int seq, int causal, float scale,
                          cudaStream_t stream)
{
    CUtensorMap map[4];
    for (int i = 0; i < 4; i++) {
        const cudaError_t error =
            describe_3d(&map[i], CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, x[i], heads, seq, DIM, SIDE,
                        SIDE, CU_TENSOR_MAP_SWIZZLE_128B);
        if (error != cudaSuccess) return error;
    }
    const int blocks = (seq - 1) / SIDE + 1, bytes = 4 * DIM / SIDE * BOX + BOX + 8 + SIDE * 8;
    const size_t rows = (size_t)heads * seq, count = rows * DIM;
    cudaError_t error = cudaFuncSetAttribute(five_products<DIM>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return error;
    float *sums; /* grad_q, then D */
    error = cudaMallocAsync(&sums, (count + rows) * sizeof *sums, stream);
    if (error != cudaSuccess) return error;
    error = cudaMemsetAsync(sums, 0, count * sizeof *sums, stream);
    if (error == cudaSuccess) {
        row_sums<<<(unsigned)((rows - 1) / 128 + 1), 128, 0, stream>>>(sums + count, x[3], out,
                                                                       rows, DIM);
        five_products<DIM><<<(unsigned)heads * blocks, 128, bytes, stream>>>(
            sums, grad[1], grad[2], lse, sums + count, map[0], map[1], map[2], map[3], blocks, seq,
            causal, scale);
        round_all<<<(unsigned)((count - 1) / 256 + 1), 256, 0, stream>>>(grad[0], sums, count,
                                                                         scale);
        error = cudaGetLastError();
    }
    const cudaError_t freed = cudaFreeAsync(sums, stream);
    return error == cudaSuccess ? freed : error;
}

#endif

extern "C" cudaError_t attention_flash3_backward(bf16 *grad_q, bf16 *grad_k, bf16 *grad_v,
                                                 const bf16 *grad_out, const bf16 *out,
                                                 const float *lse, const bf16 *q, const bf16 *k,
                                                 const bf16 *v, int batch, int heads, int seq,
                                                 int dim, int causal, float scale,
                                                 cudaStream_t stream)
{
#if TENSOR_MAPS
    bf16 *const grad[3] = {grad_q, grad_k, grad_v};
    const bf16 *const x[4] = {q, k, v, grad_out};
    const int all = batch * heads;
    uintptr_t bits = 0;
    for (int i = 0; i < 4; i++) bits |= (uintptr_t)x[i];
    if (hopper_multiprocessors() > 0 && bits % 16 == 0 && all > 0 && seq > 0 && dim == 64)
        return launch<64>(grad, x, out, lse, all, seq, causal, scale, stream);
    if (hopper_multiprocessors() > 0 && bits % 16 == 0 && all > 0 && seq > 0 && dim == 128)
        return launch<128>(grad, x, out, lse, all, seq, causal, scale, stream);
#endif
    return attention_flash2_backward(grad_q, grad_k, grad_v, grad_out, out, lse, q, k, v, batch,
                                     heads, seq, dim, causal, scale, stream);
}
