/*
 * dropout.cu: ../dropout.c for 510, whose attention is 4i's and 4j's, in bf16. 312 is fp32, so that
 * numbers are widened for it and rounded again.
 *
 * 4j needs what attention left for the sum of grad_out * out over a row. Of the numbers that were
 * kept that is out times 1 - p, since dropout divided them; the others have a gradient of 0.
 */
#include "../dropout.h"
#include "4i_flash_attention3/flash_attention3.h"
#include "4j_flash_attention3_backward/flash_attention3_backward.h"
#include "cuda_check.h"
#include <cuda_bf16.h>

typedef __nv_bfloat16 bf16;

__global__ static void widen(float *to, const bf16 *from, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = __bfloat162float(from[i]);
}

__global__ static void narrow(bf16 *to, const float *from, size_t n, float factor)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = __float2bfloat16(factor * from[i]);
}

static unsigned blocks(size_t n)
{
    return (unsigned)((n + 255) / 256);
}

/* @param wide [n] for a moment */
static cudaError_t drop(bf16 *out, float *wide, size_t n, cudaStream_t stream)
{
    widen<<<blocks(n), 256, 0, stream>>>(wide, out, n);
    CUDA_CHECK(dropout_there(wide, n, stream));
    narrow<<<blocks(n), 256, 0, stream>>>(out, wide, n, 1.0f);
    return cudaGetLastError();
}

/* grad [n] and kept [n]: gradient and numbers of what attention left before. */
static cudaError_t drop_back(bf16 *grad, bf16 *kept, float *wide, const bf16 *grad_out,
                             const bf16 *out, size_t n, cudaStream_t stream)
{
    widen<<<blocks(n), 256, 0, stream>>>(wide, out, n);
    narrow<<<blocks(n), 256, 0, stream>>>(kept, wide, n, 1.0f - dropout_share());
    widen<<<blocks(n), 256, 0, stream>>>(wide, grad_out, n);
    CUDA_CHECK(dropout_back(wide, wide, n, stream));
    narrow<<<blocks(n), 256, 0, stream>>>(grad, wide, n, 1.0f);
    return cudaGetLastError();
}

extern "C" {

decltype(attention_flash3) __real_attention_flash3;
decltype(attention_flash3_backward) __real_attention_flash3_backward;

cudaError_t __wrap_attention_flash3(bf16 *out, float *lse, const bf16 *q, const bf16 *k,
                                    const bf16 *v, int batch, int heads, int seq, int dim,
                                    int causal, float scale, cudaStream_t stream)
{
    const size_t n = (size_t)batch * heads * seq * dim;
    float *wide;
    CUDA_CHECK(
        __real_attention_flash3(out, lse, q, k, v, batch, heads, seq, dim, causal, scale, stream));
    if (dropout_share() == 0 || n == 0) return cudaSuccess;
    CUDA_CHECK(cudaMallocAsync((void **)&wide, n * sizeof *wide, stream));
    const cudaError_t error = drop(out, wide, n, stream);
    CUDA_CHECK(cudaFreeAsync(wide, stream));
    return error;
}

cudaError_t __wrap_attention_flash3_backward(bf16 *grad_q, bf16 *grad_k, bf16 *grad_v,
                                             const bf16 *grad_out, const bf16 *out,
                                             const float *lse, const bf16 *q, const bf16 *k,
                                             const bf16 *v, int batch, int heads, int seq, int dim,
                                             int causal, float scale, cudaStream_t stream)
{
    const size_t n = (size_t)batch * heads * seq * dim;
    float *wide;
    if (dropout_share() == 0 || n == 0)
        return __real_attention_flash3_backward(grad_q, grad_k, grad_v, grad_out, out, lse, q, k, v,
                                                batch, heads, seq, dim, causal, scale, stream);
    CUDA_CHECK(cudaMallocAsync((void **)&wide, 2 * n * sizeof *wide, stream));
    bf16 *grad = (bf16 *)(wide + n), *kept = grad + n;
    cudaError_t error = drop_back(grad, kept, wide, grad_out, out, n, stream);
    if (!error)
        error = __real_attention_flash3_backward(grad_q, grad_k, grad_v, grad, kept, lse, q, k, v,
                                                 batch, heads, seq, dim, causal, scale, stream);
    CUDA_CHECK(cudaFreeAsync(wide, stream));
    return error;
}
}
