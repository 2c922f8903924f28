/*
 * dropout.c: dropout behind attention while a network trains (make gpt DROPOUT=0.2), by 312. 508
 * has no parameter for it, but it calls 313: the linker puts functions of this file in that place
 * (--wrap, in programs.mk).
 *
 * The dropped elements are a function of the seed, the step and the layer, so that a resumed run
 * drops the same. The forward pass counts the layers up, the backward pass counts them down.
 */
#include "cuda_check.h"
#include "dropout.h"
#include "layers.h"

#include <stdio.h>

#define LAYERS_MOST 4096

static struct {
    float p; /* 0: off */
    unsigned long long seed;
    int step, layer;
    bool seen; /* by now attention was called both ways */
} drop;

void dropout_begin(float p, unsigned long long seed, int step)
{
    drop.p = p, drop.seed = seed, drop.step = step, drop.layer = 0;
}

bool dropout_end(void)
{
    const bool missed = drop.p > 0 && !drop.seen;
    drop.p = 0;
    if (missed)
        fputs("gpt: --dropout: your network does not call attention of 313, or of 4c and 4d\n",
              stderr);
    return !missed;
}

float dropout_share(void)
{
    return drop.p;
}

static unsigned long long key(int layer)
{
    return (drop.seed << 40) + (unsigned long long)drop.step * LAYERS_MOST + (unsigned)layer;
}

cudaError_t dropout_there(float *x, size_t n, cudaStream_t stream)
{
    return dropout_forward(x, x, n, drop.p, key(drop.layer++), stream);
}

cudaError_t dropout_back(float *grad_x, const float *grad_y, size_t n, cudaStream_t stream)
{
    const unsigned long long its = key(--drop.layer);
    drop.seen = true;
    if (drop.layer == 0) drop.step++;
    return dropout_backward(grad_x, grad_y, n, drop.p, its, stream);
}

__typeof__(attention_naive) __real_attention_naive, __wrap_attention_naive;
__typeof__(attention_naive_backward) __real_attention_naive_backward,
    __wrap_attention_naive_backward;

cudaError_t __wrap_attention_naive(float *out, const float *q, const float *k, const float *v,
                                   int batch, int heads, int seq, int dim, int causal, float scale,
                                   cudaStream_t stream)
{
    CUDA_CHECK(__real_attention_naive(out, q, k, v, batch, heads, seq, dim, causal, scale, stream));
    if (drop.p == 0) return cudaSuccess;
    return dropout_there(out, (size_t)batch * heads * seq * dim, stream);
}

cudaError_t __wrap_attention_naive_backward(float *grad_q, float *grad_k, float *grad_v,
                                            const float *grad_out, const float *q, const float *k,
                                            const float *v, int batch, int heads, int seq, int dim,
                                            int causal, float scale, cudaStream_t stream)
{
    const size_t n = drop.p > 0 ? (size_t)batch * heads * seq * dim : 0;
    float *grad = NULL; /* of what attention left before */
    cudaError_t error = cudaSuccess;
    if (n) CUDA_CHECK(cudaMallocAsync((void **)&grad, n * sizeof *grad, stream));
    if (n) error = dropout_back(grad, grad_out, n, stream);
    if (!error)
        error = __real_attention_naive_backward(grad_q, grad_k, grad_v, n ? grad : grad_out, q, k,
                                                v, batch, heads, seq, dim, causal, scale, stream);
    if (n) CUDA_CHECK(cudaFreeAsync(grad, stream));
    return error;
}
