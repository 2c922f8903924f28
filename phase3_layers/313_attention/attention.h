/*
 * attention.h: the contract of exercise 313. The conventions are in layers.h.
 *
 * q, k, v, out and their gradients are [batch x heads x seq x dim]. In each head, query t has the
 * scores s[t][u] = scale * (q[t] . k[u]) over the keys u. If causal is not 0, it has only those
 * with u <= t; the others are masked. A score of -infinity has weight 0; a query with only such
 * scores gets zeros. A NaN among a query's scores makes its whole output NaN. Masked scores have no
 * effect. At masked positions v is finite; for the gradients, so are q, k and grad_out. No two
 * arrays overlap. A call allocates and frees the memory it needs besides its arrays on the stream.
 */
#ifndef COURSE_ATTENTION_H
#define COURSE_ATTENTION_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** out[t] = the sum of softmax(s[t])[u] * v[u]. */
cudaError_t attention_naive(float *out, const float *q, const float *k, const float *v, int batch,
                            int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream);
/** Gradients of attention_naive; the same bits every time. */
cudaError_t attention_naive_backward(float *grad_q, float *grad_k, float *grad_v,
                                     const float *grad_out, const float *q, const float *k,
                                     const float *v, int batch, int heads, int seq, int dim,
                                     int causal, float scale, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
