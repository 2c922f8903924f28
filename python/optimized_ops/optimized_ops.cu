/*
 * optimized_ops.cu: the operations of 512 for a program in C. Memory and bf16, which Python leaves
 * to torch, are handled here.
 */
#include "optimized_ops.h"

#include "layers.h"
#include <cuda_bf16.h>

#define ALIGNED(bytes) (((size_t)(bytes) + 255) / 256 * 256)

cudaError_t optimized_matmul(float *c, const float *a, const float *b, int m, int n, int k,
                             cudaStream_t stream)
{
    const cudaError_t error = matmul_vectorized(c, a, b, m, n, k, stream);
    return error;
}

cudaError_t optimized_attention(float *out, const float *q, const float *k, const float *v,
                                int batch, int heads, int seq, int dim, int causal, float scale,
                                cudaStream_t stream)
{
    return attention_flash(out, NULL, q, k, v, batch, heads, seq, dim, causal, scale, stream);
}

cudaError_t optimized_layernorm(float *y, const float *x, const float *gamma, const float *beta,
                                int rows, int cols, float eps, cudaStream_t stream)
{
    float *mean;
    if (rows <= 0) return rows ? cudaErrorInvalidValue : cudaSuccess;
    cudaError_t error = cudaMallocAsync((void **)&mean, 2 * (size_t)rows * sizeof *mean, stream);
    if (error != cudaSuccess) return error;
    error = layernorm_forward(y, mean, mean + rows, x, gamma, beta, rows, cols, eps, stream);
    const cudaError_t freed = cudaFreeAsync(mean, stream);
    return error ? error : freed;
}

/** What a call of the mixture needs, all in one piece of memory. */
typedef struct moe_memory {
    __nv_bfloat16 *input, *hidden;    /* [tokens x width], [tokens * top_k x inner] */
    const __nv_bfloat16 **weights;    /* [2 x experts] */
    moe_metrics *metrics;             /* [1] */
    moe_segment *segments;            /* [MOE_SEGMENTS x experts] */
    float *gates, *probs, *share;     /* [tokens x top_k], [tokens x experts], [experts] */
    int *ids, *permutation, *offsets; /* [tokens x top_k] twice, [experts + 1] */
} moe_memory;

/* @return its bytes; NULL as `begin` counts only */
static size_t lay_out(moe_memory *w, char *begin, size_t tokens, size_t experts, size_t top_k,
                      size_t width, size_t inner)
{
    size_t at = 0;
#define TAKE(field, count)                                                                         \
    (*(void **)&w->field = begin + at, at += ALIGNED((count) * sizeof *w->field))
    TAKE(input, tokens * width);
    TAKE(hidden, tokens * top_k * inner);
    TAKE(weights, 2 * experts);
    TAKE(metrics, 1);
    TAKE(segments, MOE_SEGMENTS * experts);
    TAKE(gates, tokens * top_k);
    TAKE(probs, tokens * experts);
    TAKE(share, experts);
    TAKE(ids, tokens * top_k);
    TAKE(permutation, tokens * top_k);
    TAKE(offsets, experts + 1);
#undef TAKE
    return at;
}

/* x in bf16; and where the weights and the metrics lie, which only the device is to know. */
__global__ static void prepare_kernel(moe_memory w, const float *x, const __nv_bfloat16 *up,
                                      const __nv_bfloat16 *down, size_t elements, int experts,
                                      size_t size)
{
    const size_t first = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    const size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t i = first; i < elements; i += step) w.input[i] = __float2bfloat16(x[i]);
    for (size_t e = first; e < (size_t)experts; e += step) {
        w.weights[e] = up + e * size;
        w.weights[experts + e] = down + e * size;
    }
    if (first == 0) w.metrics->expert_utilization = w.share;
}

static cudaError_t mixture(float *out, const moe_memory *w, const float *x, const float *router,
                           int tokens, int experts, int top_k, int width, int inner,
                           cudaStream_t stream)
{
    cudaError_t error =
        moe_router(w->ids, w->gates, w->probs, x, router, tokens, experts, top_k, width, stream);
    if (error == cudaSuccess)
        error = moe_permute(w->permutation, w->offsets, w->metrics, w->segments, w->ids, w->probs,
                            tokens, experts, top_k, 0, stream);
    if (error == cudaSuccess)
        error =
            moe_experts_compute(out, w->hidden, w->input, w->weights, w->permutation, w->offsets,
                                w->gates, tokens, experts, top_k, width, inner, stream);
    return error;
}

cudaError_t optimized_moe(float *out, const float *x, const float *router, const __nv_bfloat16 *up,
                          const __nv_bfloat16 *down, int tokens, int experts, int top_k, int width,
                          int inner, cudaStream_t stream)
{
    moe_memory w;
    char *memory;
    if (tokens < 0 || top_k < 1 || top_k > experts || width < 0 || width % 8 || inner < 0 ||
        inner % 8)
        return cudaErrorInvalidValue;
    const size_t t = tokens, e = experts, k = top_k, d = width, f = inner;
    cudaError_t error = cudaMallocAsync((void **)&memory, lay_out(&w, NULL, t, e, k, d, f), stream);
    if (error != cudaSuccess) return error;
    lay_out(&w, memory, t, e, k, d, f);
    const size_t wanted = t * d / 1024 + 1;
    const unsigned blocks = wanted > 4096 ? 4096 : (unsigned)wanted;
    prepare_kernel<<<blocks, 256, 0, stream>>>(w, x, up, down, t * d, experts, d * f);
    error = cudaGetLastError();
    if (error == cudaSuccess)
        error = mixture(out, &w, x, router, tokens, experts, top_k, width, inner, stream);
    const cudaError_t freed = cudaFreeAsync(memory, stream);
    return error ? error : freed;
}
