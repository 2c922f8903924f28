/*
 * 4d_flash_attention2_backward.cu: the gradients of attention without a matrix of seq x seq.
 *
 * The forward pass left one number per query, lse, and that is enough: a score and an exponential
 * give a weight.
 *
 *     p      = e^(scale q k^T - lse)
 *     grad_p = grad_out v^T              grad_s = p (grad_p - D),  D = row sums of grad_out * out
 *     grad_v = p^T grad_out
 *     grad_k = scale grad_s^T q
 *     grad_q = scale grad_s k
 *
 * D equals the row sums of p * grad_p, but needs neither. The gradients of a key are sums over
 * queries, that of a query is a sum over keys. Each block should own the sums that it adds to, so
 * there are two kernels like that of 4c:
 *
 *     keys_kernel      a block has 64 keys and walks along the queries:   grad_k, grad_v
 *     queries_kernel   a block has 64 queries and walks along the keys:   grad_q
 *
 * The first one has its scores transposed, keys q^T. So p^T and grad_s^T lie in registers as `mma`
 * takes them, like the weights of 4c.
 *
 * Registers: 16 keys per warp, so that a lane has 64 for grad_k, 64 for grad_v, 32 for scores, 32
 * for grad_p and 8 for operands: two blocks per multiprocessor. Shared memory: 64 rows of two
 * arrays, two stages of 64 rows of two others, 96 KB, and 1 KB of lse and D; twice 97 of Hopper's
 * 227 KB.
 *
 * The cost removed: seq x seq probabilities, and their gradients. The cost left: scores and grad_p
 * are computed twice, seven products where five would do. Five need atomic additions to grad_q in
 * fp32, in an order that changes from run to run. And a warp of 16 rows loads 512 bytes of shared
 * memory for two products, twice what 4c does: 32 rows would take too many registers.
 */
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "../../phase4_optimization/4c_flash_attention2/4c_tile.cuh"
#include "4c_flash_attention2/flash_attention2.h"
#include "4d_flash_attention2_backward/flash_attention2_backward.h"
#include "not_implemented.h"
#include <cuda_pipeline.h>

#define TILE   64 /* rows of a block, and of a stage */
#define ACROSS (TILE / 8)
#define LOG2_E 1.4426950408889634f

/** Of a query: lse in base 2, and D. */
struct alignas(8) query_sums {
    float lse, d;
};

/** A warp per query. */
__global__ static void sums_kernel(query_sums *sums, const float *lse, const bf16 *grad_out,
                                   const bf16 *out, size_t queries, int dim)
{
    /* SOLUTION: D, of 32 products at a time; lane 0 stores both (about 8 lines). */
    const size_t query = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    float d = 0.0f;
    if (query >= queries) return;
    for (size_t i = query * dim + lane; i < (query + 1) * dim; i += 32)
        d += __bfloat162float(grad_out[i]) * __bfloat162float(out[i]);
    for (int i = 16; i > 0; i /= 2) d += __shfl_xor_sync(0xffffffffu, d, i);
    if (lane == 0) sums[query].lse = lse[query] * LOG2_E, sums[query].d = d;
    /* END SOLUTION */
}

/** The row of the block's tile to which element e of this lane's products belongs. */
__device__ __forceinline__ static int row_of(int e)
{
    return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + e / 2 * 8;
}

/** The row of the stage's tile to which element e of product j belongs. */
__device__ __forceinline__ static int col_of(int j, int e)
{
    return j * 8 + threadIdx.x % 4 * 2 + e % 2;
}

/** A score and a grad_p become p and grad_s. */
__device__ __forceinline__ static void differentiate(float *s, float *d, query_sums sums,
                                                     float scale, bool seen)
{
    /* SOLUTION: p of a score, 0 where it is not seen; grad_s (about 2 lines). */
    *s = seen ? exp2_fast(*s * scale - sums.lse) : 0.0f;
    *d = *s * (*d - sums.d);
    /* END SOLUTION */
}

/** A stage of keys_kernel: what passes. */
template <int DIM> struct keys_stage {
    bf16 q[TILE][DIM], grad_out[TILE][DIM];
    query_sums sums[TILE];
};

template <int DIM> struct keys_tiles {
    bf16 k[TILE][DIM], v[TILE][DIM];
    keys_stage<DIM> stage[2];
};

/** Ask for a stage: rows `query`, ... of q and grad_out, and their sums; copies_done waits for it.
 */
template <int DIM>
__device__ __forceinline__ static void copy_queries(keys_stage<DIM> *stage, const bf16 *q,
                                                    const bf16 *grad_out, const query_sums *sums,
                                                    int query, int seq, bool wide)
{
    const int i = threadIdx.x;
    copy_tile(stage->q, q, query, seq, wide);
    copy_tile(stage->grad_out, grad_out, query, seq, wide);
    if (i < TILE)
        __pipeline_memcpy_async(&stage->sums[i], &sums[query + i], sizeof *sums,
                                query + i < seq ? 0 : sizeof *sums);
}

/** grad_k and grad_v of the block's 64 keys. A warp has 16 of them: rows `warp_row`, ... of the
 * tiles.
 *  @param scale, base_2 of scores, and log2(e) times that */
template <int DIM>
__global__ static void __launch_bounds__(TILE_THREADS, 2)
    keys_kernel(bf16 *grad_k, bf16 *grad_v, const bf16 *grad_out, const query_sums *sums,
                const bf16 *q, const bf16 *k, const bf16 *v, int seq, bool causal, float scale,
                float base_2, bool wide)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    keys_tiles<DIM> *t = (keys_tiles<DIM> *)shared;
    const unsigned blocks = (seq - 1) / TILE + 1; /* of a head; causal: the first does most */
    const size_t head = blockIdx.x / blocks, at = head * seq * DIM;
    const int key = (int)(blockIdx.x % blocks) * TILE, warp_row = threadIdx.x / 32 * 16;
    const int first = causal ? key : 0;
    const float ones[2] = {1.0f, 1.0f}, scales[2] = {scale, scale};
    float of_k[1][DIM / 8][4] = {}, of_v[1][DIM / 8][4] = {};

    q += at, grad_out += at, sums += head * seq;
    copy_tile(t->k, k + at, key, seq, wide);
    copy_tile(t->v, v + at, key, seq, wide);
    copy_queries(&t->stage[0], q, grad_out, sums, first, seq, wide);
    /* SOLUTION: for all queries from `first` on: this stage is complete, the next one is asked for;
       the scores and grad_p of 16 keys a warp; which of them are seen; p and grad_s; what they add
       to of_v and of_k. Then store both (about 26 lines). */
    for (int query = first, now = 0; query < seq; query += TILE, now ^= 1) {
        keys_stage<DIM> *stage = &t->stage[now];
        float s[1][ACROSS][4] = {}, d[1][ACROSS][4] = {}; /* [keys x queries] */
        copies_done();
        __syncthreads(); /* this stage is complete, and no thread reads the other one any more */
        if (query + TILE < seq)
            copy_queries(&t->stage[now ^ 1], q, grad_out, sums, query + TILE, seq, wide);
        multiply_rows(s, t->k + warp_row, stage->q);
        multiply_rows(d, t->v + warp_row, stage->grad_out);
        const bool cut = query + TILE > seq || (causal && query == key);
#pragma unroll
        for (int i = 0; i < 4 * ACROSS; i++) {
            const int j = i / 4, e = i % 4, col = col_of(j, e);
            const bool seen =
                !cut || (query + col < seq && (!causal || key + row_of(e) <= query + col));
            differentiate(&s[0][j][e], &d[0][j][e], stage->sums[col], base_2, seen);
        }
        multiply_weights(of_v, s, stage->grad_out);
        multiply_weights(of_k, d, stage->q);
    }
    store_rows(grad_k + at, of_k, scales, key + warp_row, seq, wide);
    store_rows(grad_v + at, of_v, ones, key + warp_row, seq, wide);
    /* END SOLUTION */
}

template <int DIM> struct queries_tiles {
    bf16 q[TILE][DIM], grad_out[TILE][DIM];
    struct {
        bf16 k[TILE][DIM], v[TILE][DIM];
    } stage[2];
};

/** grad_q of the block's 64 queries, 16 a warp. */
template <int DIM>
__global__ static void __launch_bounds__(TILE_THREADS, 2)
    queries_kernel(bf16 *grad_q, const bf16 *grad_out, const query_sums *sums, const bf16 *q,
                   const bf16 *k, const bf16 *v, int seq, bool causal, float scale, float base_2,
                   bool wide)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    queries_tiles<DIM> *t = (queries_tiles<DIM> *)shared;
    const unsigned blocks = (seq - 1) / TILE + 1; /* of a head; the last one is the first */
    const size_t head = blockIdx.x / blocks, at = head * seq * DIM;
    const int query = (int)(blocks - 1 - blockIdx.x % blocks) * TILE;
    const int warp_row = threadIdx.x / 32 * 16, end = causal ? min(query + TILE, seq) : seq;
    const float scales[2] = {scale, scale};
    float of_q[1][DIM / 8][4] = {};
    query_sums of_row[2] = {};

    /* SOLUTION: this lane's two rows of sums; the tiles that stay, the first stage; the loop of
       keys_kernel with the sides exchanged, and one sum (about 32 lines). */
    for (int r = 0; r < 2; r++) {
        const int row = query + row_of(2 * r);
        if (row < seq) of_row[r] = sums[head * seq + row];
    }
    copy_tile(t->q, q + at, query, seq, wide);
    copy_tile(t->grad_out, grad_out + at, query, seq, wide);
    copy_tile(t->stage[0].k, k + at, 0, seq, wide);
    copy_tile(t->stage[0].v, v + at, 0, seq, wide);
    for (int key = 0, now = 0; key < end; key += TILE, now ^= 1) {
        float s[1][ACROSS][4] = {}, d[1][ACROSS][4] = {}; /* [queries x keys] */
        copies_done();
        __syncthreads(); /* this stage is complete, and no thread reads the other one any more */
        if (key + TILE < end) {
            copy_tile(t->stage[now ^ 1].k, k + at, key + TILE, seq, wide);
            copy_tile(t->stage[now ^ 1].v, v + at, key + TILE, seq, wide);
        }
        multiply_rows(s, t->q + warp_row, t->stage[now].k);
        multiply_rows(d, t->grad_out + warp_row, t->stage[now].v);
        const bool cut = key + TILE > seq || (causal && key == query);
#pragma unroll
        for (int i = 0; i < 4 * ACROSS; i++) {
            const int j = i / 4, e = i % 4, col = key + col_of(j, e);
            const bool seen = !cut || (col < seq && (!causal || col <= query + row_of(e)));
            differentiate(&s[0][j][e], &d[0][j][e], of_row[e / 2], base_2, seen);
        }
        multiply_weights(of_q, d, t->stage[now].k);
    }
    store_rows(grad_q + at, of_q, scales, query + warp_row, seq, wide);
    /* END SOLUTION */
}

/** Both kernels need more shared memory than a block has by default. */
template <int DIM> static cudaError_t ask_for_shared_memory(void)
{
    const cudaError_t error = cudaFuncSetAttribute(
        keys_kernel<DIM>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(keys_tiles<DIM>));
    if (error != cudaSuccess) return error;
    return cudaFuncSetAttribute(queries_kernel<DIM>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                sizeof(queries_tiles<DIM>));
}

template <int DIM>
static cudaError_t launch(bf16 *grad_q, bf16 *grad_k, bf16 *grad_v, const bf16 *grad_out,
                          const query_sums *sums, const bf16 *q, const bf16 *k, const bf16 *v,
                          size_t heads, int seq, bool causal, float scale, bool wide,
                          cudaStream_t stream)
{
    const unsigned blocks = (unsigned)(heads * ((seq - 1) / TILE + 1));
    const cudaError_t error = ask_for_shared_memory<DIM>();
    if (error != cudaSuccess) return error;
    keys_kernel<DIM><<<blocks, TILE_THREADS, sizeof(keys_tiles<DIM>), stream>>>(
        grad_k, grad_v, grad_out, sums, q, k, v, seq, causal, scale, scale * LOG2_E, wide);
    queries_kernel<DIM><<<blocks, TILE_THREADS, sizeof(queries_tiles<DIM>), stream>>>(
        grad_q, grad_out, sums, q, k, v, seq, causal, scale, scale * LOG2_E, wide);
    return cudaGetLastError();
}

cudaError_t attention_flash2_backward(__nv_bfloat16 *grad_q, __nv_bfloat16 *grad_k,
                                      __nv_bfloat16 *grad_v, const __nv_bfloat16 *grad_out,
                                      const __nv_bfloat16 *out, const float *lse,
                                      const __nv_bfloat16 *q, const __nv_bfloat16 *k,
                                      const __nv_bfloat16 *v, int batch, int heads, int seq,
                                      int dim, int causal, float scale, cudaStream_t stream)
{
    /* SOLUTION: calls that are refused or empty; memory in the stream for lse and D; three launches
       (about 20 lines). */
    const size_t all_heads = (size_t)batch * heads, queries = all_heads * seq;
    const bool wide = ((uintptr_t)grad_q | (uintptr_t)grad_k | (uintptr_t)grad_v |
                       (uintptr_t)grad_out | (uintptr_t)q | (uintptr_t)k | (uintptr_t)v) %
                          16 ==
                      0;
    query_sums *sums;
    if (dim != 64 && dim != 128) return cudaErrorInvalidValue;
    if (queries == 0) return cudaSuccess; /* an empty grid is a launch error */
    cudaError_t error = cudaMallocAsync(&sums, queries * sizeof *sums, stream);
    if (error != cudaSuccess) return error;
    sums_kernel<<<(unsigned)((queries - 1) / 4 + 1), 128, 0, stream>>>(sums, lse, grad_out, out,
                                                                       queries, dim);
    error = dim == 64 ? launch<64>(grad_q, grad_k, grad_v, grad_out, sums, q, k, v, all_heads, seq,
                                   causal, scale, wide, stream)
                      : launch<128>(grad_q, grad_k, grad_v, grad_out, sums, q, k, v, all_heads, seq,
                                    causal, scale, wide, stream);
    const cudaError_t freed = cudaFreeAsync(sums, stream);
    if (error == cudaSuccess) error = freed;
    if (error != cudaSuccess) return error;
    /* END SOLUTION */
    return cudaGetLastError();
}
