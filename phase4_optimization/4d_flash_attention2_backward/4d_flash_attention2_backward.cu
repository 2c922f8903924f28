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
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
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
    /* TODO: D, of 32 products at a time; lane 0 stores both (about 8 lines). */
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
    /* TODO: p of a score, 0 where it is not seen; grad_s (about 2 lines). */
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
    /* TODO: for all queries from `first` on: this stage is complete, the next one is asked for;
       the scores and grad_p of 16 keys a warp; which of them are seen; p and grad_s; what they add
       to of_v and of_k. Then store both (about 26 lines). */
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

    /* TODO: this lane's two rows of sums; the tiles that stay, the first stage; the loop of
       keys_kernel with the sides exchanged, and one sum (about 32 lines). */
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
    /* TODO: calls that are refused or empty; memory in the stream for lse and D; three launches
       (about 20 lines). */
    NOT_IMPLEMENTED(grad_q, grad_k, grad_v, grad_out, out, lse, q, k, v, batch, heads, seq, dim,
                    causal, scale, stream);
    return cudaGetLastError();
}
