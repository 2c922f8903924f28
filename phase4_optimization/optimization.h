/*
 * optimization.h: the contract of phase 4, the same mathematics, faster. Conventions as in
 * layers.h: pointers are aligned to their elements and to nothing more, those of the host too.
 */
#ifndef COURSE_OPTIMIZATION_H
#define COURSE_OPTIMIZATION_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 401_matmul_vectorized.cu */

/**
 * c[m x n] = a[m x k] * b[k x n], row-major, with loads and stores of 16 bytes. Any size, 0 too:
 * without outputs nothing is launched, and k = 0 gives zeros. Any addresses of floats: what does
 * not lie at a multiple of 16 bytes is loaded otherwise.
 */
cudaError_t matmul_vectorized(float *c, const float *a, const float *b, int m, int n, int k,
                              cudaStream_t stream);

/* 402_matmul_tensorcore.cu */

typedef struct __nv_bfloat16 __nv_bfloat16; /* of cuda_bf16.h */
typedef struct __half __half;               /* of cuda_fp16.h */

/**
 * As matmul_vectorized, on tensor cores: a and b are bf16, products and sums fp32. Any size, and
 * any addresses of elements.
 */
cudaError_t matmul_tensorcore(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m,
                              int n, int k, cudaStream_t stream);
/** The same with a and b in fp16. */
cudaError_t matmul_tensorcore_half(float *c, const __half *a, const __half *b, int m, int n, int k,
                                   cudaStream_t stream);

/* 403_memory_analysis.cu. The five kernels are in matmul_launches.h, which it includes. */

typedef enum matmul_kernel {
    MATMUL_ROWS,       /**< an element of c a thread, lanes along rows: not coalesced */
    MATMUL_COLUMNS,    /**< the same, lanes along columns: coalesced */
    MATMUL_TILED,      /**< tiles in shared memory */
    MATMUL_REGISTERS,  /**< 8 x 4 elements of c a thread */
    MATMUL_VECTORIZED, /**< the same, four floats a load */
    MATMUL_OWN,        /**< the student's */
} matmul_kernel;

/** kernel<<<grid, block, shared>>>(c, a, b, m, n, k, tile), c[m x n] = a[m x k] * b[k x n] */
typedef struct matmul_launch {
    const void *kernel;
    dim3 grid, block;
    size_t shared; /**< bytes of dynamic shared memory */
} matmul_launch;

/** What a launch costs. A request is an instruction of one warp that loads, for as many of its
 * lanes as are active, of any width; none without an active lane. A sector is 32 aligned bytes. */
typedef struct matmul_metrics {
    size_t global_loads;      /**< requests of global memory */
    size_t shared_loads;      /**< requests of shared memory */
    size_t register_usage;    /**< registers of a thread */
    float achieved_occupancy; /**< warps that a multiprocessor holds, if there are blocks enough, of
                                 those that it can hold at most */
    float memory_efficiency;  /**< the bytes of a and b, each once, of those that the sectors hold
                                 which all requests of global memory fetch: at most 1 */
} matmul_metrics;

/**
 * Loads and efficiency by arithmetic; registers and occupancy of the device, which is asked.
 * a and b begin at multiples of 32 bytes.
 * @param kernel of matmul_kernel; others are cudaErrorInvalidValue
 * @param m      at least 1
 * @param n, k   multiples of 8, at least 8
 * @param tile   8, 16, 24 or 32
 */
cudaError_t analyze_memory(matmul_metrics *metrics, int kernel, int m, int n, int k, int tile);

/** The launch of a kernel of the student's, for such sizes. It may do with `tile` what it likes.
 *  matmul_describe and matmul_run (matmul_launches.h) call it. */
cudaError_t matmul_own_launch(matmul_launch *launch, int m, int n, int k, int tile);

/* 404_fusion.cu */

/**
 * Linear layer, bias and ReLU in one kernel: pre = x * w^T + bias; y = max(pre, 0).
 * @param y    [batch x out_features]
 * @param pre  [batch x out_features], what the backward pass needs; NULL when not wanted
 * @param x    [batch x in_features]
 * @param w    [out_features x in_features]
 * @param bias [out_features]
 */
cudaError_t linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream);

/**
 * Convolution, batch normalization with the statistics of training, residual and ReLU in one
 * kernel, which writes nothing but y:
 * y = max((conv - mean) / sqrt(var + eps) * gamma + beta + residual, 0); NaN stays NaN.
 * out_h = (in_h + 2 pad - kernel_h) / stride + 1, rounded down, and out_w likewise;
 * batch * out_h * out_w is below 2^31.
 * @param y        [batch x out_channels x out_h x out_w]
 * @param x        [batch x in_channels x in_h x in_w]
 * @param w        [out_channels x in_channels x kernel_h x kernel_w]
 * @param mean, var, gamma, beta   [out_channels]
 * @param residual as y, and may be y; NULL: nothing is added
 */
cudaError_t conv_bn_relu(float *y, const float *x, const float *w, const float *mean,
                         const float *var, const float *gamma, const float *beta,
                         const float *residual, int batch, int in_channels, int in_h, int in_w,
                         int out_channels, int kernel_h, int kernel_w, int stride, int pad,
                         float eps, cudaStream_t stream);

/**
 * Residual and layer normalization in one kernel, as between two layers of a transformer:
 * sum = x + residual; y = (sum - mean) * rstd * gamma + beta, with mean and rstd =
 * 1 / sqrt(var + eps) of each row of sum, as layernorm_forward (311). Of no rows or no columns
 * nothing is written. No two arrays overlap.
 * @param y           [rows x cols]
 * @param sum         [rows x cols], what the next residual is; NULL when not wanted
 * @param mean, rstd  [rows]
 * @param x, residual [rows x cols]
 * @param gamma, beta [cols]
 */
cudaError_t residual_layernorm_forward(float *y, float *sum, float *mean, float *rstd,
                                       const float *x, const float *residual, const float *gamma,
                                       const float *beta, int rows, int cols, float eps,
                                       cudaStream_t stream);

/* 405_row_kernels.cu
 *
 * x and y are [rows x cols], gamma and beta [cols]. Sizes are free, so is the alignment of the
 * arrays. Of no rows or no columns nothing is written. */

/** y[r] = softmax of row x[r], as softmax_forward (304): an entry of -infinity has weight 0, a row
 *  of nothing else gives zeros, a NaN makes all of its row NaN. */
cudaError_t softmax_rows(float *y, const float *x, int rows, int cols, cudaStream_t stream);
/** y = (x - mean) / sqrt(var + eps) * gamma + beta, with mean and variance of each row, as
 *  layernorm_forward (311). */
cudaError_t layernorm_rows(float *y, const float *x, const float *gamma, const float *beta,
                           int rows, int cols, float eps, cudaStream_t stream);
/** y = x / sqrt(mean of x^2 + eps) * gamma, with the mean of each row. */
cudaError_t rmsnorm_rows(float *y, const float *x, const float *gamma, int rows, int cols,
                         float eps, cudaStream_t stream);

/* 406_streams.cu */

/**
 * Send an array through the device in chunks, so that one is copied in while another is worked on
 * and a third is copied out. The work on x: f(f(... f(x))), `iterations` times, f(x) = x - x^3.
 *
 * It overlaps when both arrays are page-locked, and is right when they are not. The call makes the
 * streams and the device memory that it needs, and frees them whatever happens. It returns when
 * h_out is complete; before, it waits for none of its work, and never uses the legacy stream.
 *
 * @param h_out   [n] not h_in
 * @param h_in    [n]
 * @param n       0 and n % chunks != 0 are legal
 * @param iterations at least 0
 * @param chunks  at least 1, also more than n: pieces of ceil(n / chunks) elements, the last may be
 *                shorter, and empty ones are none
 * @param streams at least 1: as many chunks are on the device at a time, and memory for no more
 * @return cudaErrorInvalidValue for numbers below those; cudaErrorMemoryAllocation; what CUDA says
 */
cudaError_t pipeline(float *h_out, const float *h_in, size_t n, int iterations, int chunks,
                     int streams);

/* 407_graphs.cu
 *
 * A step is `rounds` launches of one small kernel, each of which reads what the one before wrote:
 *
 *     to[i] = from[i] + rate * (from[i-1] - 2 from[i] + from[i+1])        0 <= i < n
 *
 * where a neighbour beyond an end is from[i] itself. The first round reads x, the last writes y; of
 * 0 rounds, y is a copy of x. Arrays do not overlap, and every round is a launch of its own. */

/**
 * The step as plain launches. It neither waits nor allocates, so that a stream may capture it.
 * @param y       [n]
 * @param x       [n]
 * @param scratch [2 x n] for the rounds in between
 */
cudaError_t step_launch(float *y, const float *x, float *scratch, int n, int rounds, float rate,
                        cudaStream_t stream);

/** The same step as a graph that is made once and launched often; it has a scratch of its own. */
typedef struct step_graph step_graph;

/** @param graph receives it, or NULL on an error */
cudaError_t step_graph_create(step_graph **graph, int n, int rounds, float rate);
/** One launch of the graph; does not wait. y and x [n] may be others at each call. */
cudaError_t step_graph_run(step_graph *graph, float *y, const float *x, cudaStream_t stream);
/** Waits for what still runs. NULL is allowed. */
cudaError_t step_graph_free(step_graph *graph);

/**
 * What it costs to launch a kernel that does nothing; nanoseconds, means over `launches` of them.
 * @param h_submit_ns of the host: until <<<>>> returns, with room in the stream
 * @param h_launch_ns of plain launches, from the first until the last has run
 * @param h_node_ns   the same of one graph with so many nodes, one after the other
 * @param launches    1 .. 1000
 */
cudaError_t launch_overhead_ns(float *h_submit_ns, float *h_launch_ns, float *h_node_ns,
                               int launches, cudaStream_t stream);

/**
 * y[batch x out] = x[batch x in] * w[out x in]^T + bias[out], by a grid of as many blocks as the
 * device holds at once (one a tile where there are fewer tiles), each of which loops over tiles.
 * bias may be NULL.
 */
cudaError_t linear_forward_persistent(float *y, const float *x, const float *w, const float *bias,
                                      int batch, int in_features, int out_features,
                                      cudaStream_t stream);

/* 408_memory_pool.cu
 *
 * Memory of the device, kept when it is freed and handed out again: what a library of tensors
 * allocates with. The pool belongs to the device that is current when it is made, which is current
 * in its other calls, too; one thread calls it at a time. None of the calls waits for the device
 * but pool_reset and pool_destroy, and pool_alloc where memory must go back to the device first.
 *
 * Sizes are rounded up to classes, to at most 1.25 * (bytes + 255). As long as what is in use,
 * rounded so, is within the limit, the pool never runs out, whatever sizes came before. */

typedef struct pool pool;

typedef struct pool_statistics {
    size_t in_use;   /**< bytes that were asked for, of the blocks that are out */
    size_t peak;     /**< the most that in_use has been */
    size_t reserved; /**< bytes of the device that the pool has: of blocks that are out or free */
    size_t allocations; /**< blocks handed out so far */
    size_t hits;        /**< of them, without memory from the device */
} pool_statistics;

/**
 * @param p             receives the pool, or NULL on an error
 * @param reserve_limit the most that `reserved` may be; SIZE_MAX: what the device has
 */
cudaError_t pool_create(pool **p, size_t reserve_limit);
/**
 * What the stream does from now on may use the block: it comes after all that used it before,
 * whichever stream that was. The host may not touch it.
 * @param ptr    receives a multiple of 256; NULL of 0 bytes, and on an error
 * @param stream the first to use the block
 * @return cudaErrorMemoryAllocation beyond the limit or what the device has: blocks that are out
 *         stay, cudaGetLastError knows nothing of it, and what there is room for can still be had
 */
cudaError_t pool_alloc(pool *p, void **ptr, size_t bytes, cudaStream_t stream);
/**
 * The block may be handed out at once, to come after what `stream` has been asked for so far: who
 * used it in other streams has made this one wait for them. The stream may be destroyed then.
 * @param ptr NULL is allowed; what is free already, or is not the beginning of a block that
 *            pool_alloc returned, is cudaErrorInvalidValue, and nothing is changed
 */
cudaError_t pool_free(pool *p, void *ptr, cudaStream_t stream);
/** All blocks are free. Waits for the device; the pool keeps its memory, and counts on. */
cudaError_t pool_reset(pool *p);
cudaError_t pool_stats(const pool *p, pool_statistics *statistics);
/** Waits for the device, and gives back all memory, of blocks that are out, too. NULL is allowed.
 */
cudaError_t pool_destroy(pool *p);

/* 409_flash_attention.cu */

/**
 * As attention_naive (313), and without memory for the scores: it allocates nothing, and touches
 * none but its arrays. A score of -infinity has weight 0; a query with nothing else gets zeros.
 * @param out     [batch x heads x seq x dim]
 * @param lse     [batch x heads x seq] log of the sum of exp(s) over the keys that a query sees;
 *                -infinity where none has weight; NULL when not wanted
 * @param q, k, v as out
 * @param dim     at most 128: more is cudaErrorInvalidValue
 * @param batch   batch x heads x (seq / 32, rounded up) is below 2^31
 */
cudaError_t attention_flash(float *out, float *lse, const float *q, const float *k, const float *v,
                            int batch, int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream);
/* 410_paged_attention.cu
 *
 * A step of decoding: each sequence has one new token, which attends to the keys and values that a
 * cache holds of its context. q and out are [sequences x q_heads x dim]; head h of them belongs to
 * head h / (q_heads / kv_heads) of the cache. Of the tokens t of a context:
 *
 *     out = sum of p[t] v[t]        p = softmax of scale * (q . k[t])
 *
 * All is bf16, products, weights and sums are fp32. A context of 0 gives zeros. Nothing beyond a
 * context is read, nor does it have an effect: it may hold anything. No two arrays overlap, and
 * neither call waits.
 *
 * context_lengths [sequences], each 0 .. what there is room for
 * q_heads         a multiple of kv_heads
 * dim             a multiple of 8 up to 128
 * Others of these two, and negative numbers, are cudaErrorInvalidValue. Without sequences, heads or
 * dimensions nothing is launched. The cache has fewer than 2^31 tokens. */

/** k, v [sequences x max_context x kv_heads x dim]: each sequence has room of its own. */
cudaError_t multi_query_attention(__nv_bfloat16 *out, const __nv_bfloat16 *q,
                                  const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                                  const int *context_lengths, int sequences, int q_heads,
                                  int kv_heads, int max_context, int dim, float scale,
                                  cudaStream_t stream);
/**
 * k_pool, v_pool [pages x page x kv_heads x dim]: token t of a sequence s is number t % page of the
 * page block_table[s][t / page]. Sequences may share pages. Entries of pages that a context does
 * not reach hold anything.
 * @param block_table [sequences x max_pages]
 * @param page        tokens of a page, at least 1
 */
cudaError_t attention_paged(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k_pool,
                            const __nv_bfloat16 *v_pool, const int *block_table,
                            const int *context_lengths, int sequences, int q_heads, int kv_heads,
                            int page, int max_pages, int dim, float scale, cudaStream_t stream);
/* 411_moe_router.cu
 *
 * A mixture of experts: each token is worked on by top_k of num_experts small networks, which the
 * router chooses, and their results are added with weights, the gates. An *entry* is one choice of
 * one token: entry token * top_k + j is its j-th. There are fewer than 2^31 of them.
 *
 * Both functions return cudaErrorInvalidValue, and do nothing, unless 1 <= top_k <= num_experts and
 * capacity >= 0. There may be no tokens, and hidden_dim may be 0. All arrays are of the device, and
 * no two overlap. */

/**
 * probs = softmax(input * gate_weights^T) by rows. expert_ids: the top_k experts with the largest
 * logits, the largest first; of equal logits, the lower expert first. gate_scores: their
 * probabilities, divided by the sum of these top_k. Of a token that has NaN or +infinity among its
 * logits, probs and gates are NaN, and its experts are any top_k different ones.
 * @param expert_ids   [num_tokens x top_k]
 * @param gate_scores  [num_tokens x top_k]
 * @param probs        [num_tokens x num_experts]
 * @param input        [num_tokens x hidden_dim]
 * @param gate_weights [num_experts x hidden_dim]
 */
cudaError_t moe_router(int *expert_ids, float *gate_scores, float *probs, const float *input,
                       const float *gate_weights, int num_tokens, int num_experts, int top_k,
                       int hidden_dim, cudaStream_t stream);

/** How the tokens spread over the experts. The struct lies in memory of the device, for it is a
 *  result; there the caller has stored where expert_utilization lies, in memory of the device too.
 */
typedef struct moe_metrics {
    float *expert_utilization; /**< [num_experts] share of all entries that chose the expert */
    float load_balance_loss;   /**< num_experts * sum over the experts of utilization * mean of
                                    their probabilities: 1 when both are the same for all */
    int dropped_tokens;        /**< entries whose expert was full */
} moe_metrics;

#define MOE_SEGMENTS 128 /* the tokens are counted in so many pieces */

/** What a piece of the tokens brings an expert. */
typedef struct moe_segment {
    int entries;
    float probs; /**< sum */
} moe_segment;

/**
 * The list of entries of each expert, in the order of the tokens: those of expert e are
 * permutation[offsets[e]] .. permutation[offsets[e + 1] - 1]. With a capacity each expert keeps its
 * first so many, and later tokens are dropped. The lists leave no gaps: the end of permutation is
 * as many -1 as entries were dropped. Without tokens, offsets and all metrics are 0.
 * @param permutation [num_tokens x top_k]
 * @param offsets     [num_experts + 1]
 * @param scratch     [MOE_SEGMENTS x num_experts]
 * @param expert_ids  [num_tokens x top_k] of a token all different, as of moe_router
 * @param probs       [num_tokens x num_experts] as of moe_router
 * @param capacity    entries that an expert takes at most; 0: all
 */
cudaError_t moe_permute(int *permutation, int *offsets, moe_metrics *metrics, moe_segment *scratch,
                        const int *expert_ids, const float *probs, int num_tokens, int num_experts,
                        int top_k, int capacity, cudaStream_t stream);

/* 412_moe_experts.cu */

/**
 * The experts at work on the lists of moe_permute, in at most two launches. Expert e, of weights
 * up[ffn_dim x hidden_dim] and down[hidden_dim x ffn_dim], makes of a token x
 *
 *     hidden = gelu(x * up^T), rounded to bf16      y = hidden * down^T
 *
 * and output of a token is the sum of gate * y over its entries; of a token whose entries were all
 * dropped, 0. Sums are fp32, gelu is that of gelu_forward (301). Sums over more than two entries
 * may come in any order.
 *
 * input, hidden and the weights of each expert begin at multiples of 16 bytes. Returns
 * cudaErrorInvalidValue, and does nothing, unless hidden_dim and ffn_dim are multiples of 8 and
 * num_experts and top_k at least 1. There may be no tokens, and either size may be 0.
 * @param output         [num_tokens x hidden_dim]
 * @param hidden         [num_tokens * top_k x ffn_dim] scratch
 * @param input          [num_tokens x hidden_dim]
 * @param expert_weights [2 x num_experts] pointers in memory of the device: up of each expert, then
 *                       down of each
 * @param permutation    [num_tokens x top_k], offsets [num_experts + 1]: as of moe_permute
 * @param gate_scores    [num_tokens x top_k] as of moe_router
 */
cudaError_t moe_experts_compute(float *output, __nv_bfloat16 *hidden, const __nv_bfloat16 *input,
                                const __nv_bfloat16 *const *expert_weights, const int *permutation,
                                const int *offsets, const float *gate_scores, int num_tokens,
                                int num_experts, int top_k, int hidden_dim, int ffn_dim,
                                cudaStream_t stream);

/* 413_int8.cu
 *
 * Matrices of 8-bit whole numbers. A number q of row r stands for scale[r] * (q - zero_point[r]).
 * Arrays may begin anywhere where their elements may. No two of them overlap. */

/**
 * q of x, with one scale for all of x, or one for each of its rows. Let low and high be the
 * smallest and the largest finite number of the group, and 0 among them. Then
 *
 *     symmetric        scale = max(-low, high) / 127      zero_point = 0
 *     asymmetric       scale = (high - low) / 255         zero_point = round(-128 - low / scale)
 *
 * with scale = 1 where it would be 0, as of a group of zeros; and
 *
 *     q = round(x / scale) + zero_point, clamped to -128 .. 127
 *
 * where round goes to the nearest, and halfway to the even number. So 0 is always exact. Infinities
 * give the ends, NaN gives zero_point. There is room for rounding of fp32 in the quotients. Of no
 * rows nothing is written; of no columns, the range is 0 .. 0.
 * @param q          [rows x cols]
 * @param scale      [rows] also for one group: then all are equal
 * @param zero_point [rows] likewise
 * @param row_sums   [rows] sums of q; cols < 2^24
 * @param x          [rows x cols]
 * @param per_channel 0: one group, else a group per row
 */
cudaError_t quantize_s8(int8_t *q, float *scale, int *zero_point, int *row_sums, const float *x,
                        int rows, int cols, int per_channel, int symmetric, cudaStream_t stream);

/**
 * c = a * b^T, exact where all sums fit in an int, as they do up to k = 131,071. k = 0 gives zeros.
 * @param c [m x n]
 * @param a [m x k]
 * @param b [n x k] as weights lie: a row for each output
 */
cudaError_t gemm_s8s8s32(int32_t *c, const int8_t *a, const int8_t *b, int m, int n, int k,
                         cudaStream_t stream);

/**
 * What the product of the quantized matrices stands for:
 *
 *     y[i][j] = scale_a[i] * scale_b[j] * sum over k of (a[i][k] - zero_a[i]) (b[j][k] - zero_b[j])
 *               + bias[j]
 *
 * where the sum is exact, and everything else in fp32.
 * @param y                       [m x n]
 * @param c                       [m x n] as of gemm_s8s8s32
 * @param scale_a, zero_a, sums_a [m] as of quantize_s8
 * @param scale_b, zero_b, sums_b [n] likewise
 * @param bias                    [n], or NULL
 * @param k                       how many terms the sums have
 */
cudaError_t dequantize_epilogue(float *y, const int32_t *c, const float *scale_a, const int *zero_a,
                                const int *sums_a, const float *scale_b, const int *zero_b,
                                const int *sums_b, const float *bias, int m, int n, int k,
                                cudaStream_t stream);
/* 414_loader.cu
 *
 * Batches of a file, which may be larger than memory, on their way to the device. The file holds
 * records of one size, one after the other; batch number i is the records i * batch up to, and
 * without, (i + 1) * batch, and the last batch may have fewer. Batches may be asked for in any
 * order, and more than once. `depth` buffers of page-locked memory hold what was read: a buffer is
 * written to again only when its copy to the device is over.
 *
 * One thread calls a loader at a time. The loader belongs to the device that is current when it is
 * opened. No call waits for the device but loader_close, except where all buffers are still being
 * copied from. A read may return early, or be interrupted: the loader reads on. */

typedef struct loader loader;

/**
 * @param l            receives the loader, or NULL on an error
 * @param record_bytes at least 1
 * @param batch        records of a batch, at least 1, also more than there are
 * @param depth        buffers, 1 .. 8
 * @return cudaErrorInvalidValue for other numbers; cudaErrorFileNotFound for what is no file that
 *         can be read; cudaErrorInvalidSource where the file ends within a record;
 *         cudaErrorMemoryAllocation
 */
cudaError_t loader_open(loader **l, const char *path, size_t record_bytes, int batch, int depth);
/**
 * Copies the batch to the device in the stream; waits until it has been read, and not for the copy.
 * It is read now, unless it was prefetched: then that is what is copied, and the buffer is free.
 * With no buffer free, a batch that was prefetched first gives way.
 * @param d_batch [batch * record_bytes], of the last batch only as much as there is of it
 * @return cudaErrorInvalidValue, and nothing is done, beyond the last batch;
 *         cudaErrorOperatingSystem where the file cannot be read, or has become shorter than it
 *         was: nothing is copied, and other batches can still be had
 */
cudaError_t load_batch_to_gpu(loader *l, void *d_batch, size_t batch_idx, cudaStream_t stream);
/**
 * Begins to read a batch, and waits for nothing. An error in reading is told when it is loaded. A
 * batch that has been prefetched and not loaded is not read twice.
 * @return cudaErrorInvalidValue beyond the last batch; cudaErrorNotReady, and nothing is done,
 * where all buffers hold batches that were prefetched and not loaded
 */
cudaError_t prefetch_next_batch(loader *l, size_t batch_idx);
/**
 * Where the batch that was loaded last lies on the host, to be read until the next batch is loaded
 * or prefetched.
 * @param h_buffer NULL, of 0 bytes, before the first
 */
cudaError_t get_pinned_buffer(loader *l, void **h_buffer, size_t *bytes);
/** Waits for reads and copies that are under way. NULL is allowed. */
cudaError_t loader_close(loader *l);

/* 4a_matmul_mma.cu: a challenge */

/** As matmul_tensorcore, by mma.sync. n up to 8,388,480. */
cudaError_t matmul_mma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                       int k, cudaStream_t stream);

/* 4b_matmul_wgmma.cu: a challenge */

/**
 * As matmul_tensorcore, by TMA and wgmma where the device is of compute capability 9.0 and rows
 * begin at multiples of 16 bytes; right, and slower, elsewhere. m up to 2^31 - 256.
 */
cudaError_t matmul_wgmma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                         int k, cudaStream_t stream);

/* 4c_flash_attention2.cu: a challenge, with 4c_tile.cuh */

/**
 * As attention_flash (409), in bf16 on tensor cores. Scores, sums and the softmax are fp32; weights
 * may be rounded to bf16 before they meet v. It allocates nothing. Addresses are those of elements,
 * and no more.
 * @param out     [batch x heads x seq x dim]
 * @param lse     [batch x heads x seq] log of the sum of exp(s) over the keys that a query sees;
 *                -infinity where none has weight, and out is 0; NULL when not wanted
 * @param q, k, v as out
 * @param dim     64 or 128: others are cudaErrorInvalidValue
 * @param causal  not 0: a query sees the keys up to its own
 */
cudaError_t attention_flash2(__nv_bfloat16 *out, float *lse, const __nv_bfloat16 *q,
                             const __nv_bfloat16 *k, const __nv_bfloat16 *v, int batch, int heads,
                             int seq, int dim, int causal, float scale, cudaStream_t stream);

/* 4d_flash_attention2_backward.cu: a challenge */

/**
 * The gradients of attention_flash2, from what it was given and what it left. p and what comes of
 * it may be rounded to bf16 before they are multiplied; sums are fp32. Memory beyond the arrays is
 * taken from the stream, and for queries, not for scores. Numbers are finite; but where causal is
 * 0, a NaN in grad_out, q, k or v makes NaN of all in its head that it has part in, and of no more.
 * @param grad_q, grad_k, grad_v [batch x heads x seq x dim], overwritten
 * @param grad_out the gradient of out
 * @param out, lse of the forward call
 * @param dim      64 or 128: others are cudaErrorInvalidValue
 */
cudaError_t attention_flash2_backward(__nv_bfloat16 *grad_q, __nv_bfloat16 *grad_k,
                                      __nv_bfloat16 *grad_v, const __nv_bfloat16 *grad_out,
                                      const __nv_bfloat16 *out, const float *lse,
                                      const __nv_bfloat16 *q, const __nv_bfloat16 *k,
                                      const __nv_bfloat16 *v, int batch, int heads, int seq,
                                      int dim, int causal, float scale, cudaStream_t stream);

/* 4g_matmul_3xtf32.cu: a challenge */

/**
 * As matmul_vectorized, as accurate, on tensor cores. A NaN spreads as NaN, an infinity as infinity
 * or NaN; numbers from 3.4026e38 on may count as infinite. n up to 8,388,480.
 */
cudaError_t matmul_3xtf32(float *c, const float *a, const float *b, int m, int n, int k,
                          cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
