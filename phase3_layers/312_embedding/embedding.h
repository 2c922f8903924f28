/*
 * embedding.h: the contract of exercise 312. The conventions are in layers.h.
 *
 * The parts of a transformer around its matrix products. A token is a number in 0 .. vocab-1.
 */
#ifndef COURSE_EMBEDDING_H
#define COURSE_EMBEDDING_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * y[batch x seq x dim]: y[b, t] = table[tokens[b, t]] + positions[t].
 * @param table     [vocab x dim]
 * @param positions at least [seq x dim], or NULL: nothing is added
 */
cudaError_t embedding_forward(float *y, const int *tokens, const float *table,
                              const float *positions, int batch, int seq, int dim,
                              cudaStream_t stream);
/**
 * Gradients of embedding_forward.
 * @param grad_table     [vocab x dim], the only gradient that is ADDED to: a table that also makes
 *                       the logits gets the gradients of both uses
 * @param grad_positions [seq x dim] sums over the batch; NULL when not wanted
 */
cudaError_t embedding_backward(float *grad_table, float *grad_positions, const float *grad_y,
                               const int *tokens, int batch, int seq, int dim, int vocab,
                               cudaStream_t stream);
/** y = a + b, n floats each. y may be a or b. */
cudaError_t residual_forward(float *y, const float *a, const float *b, size_t n,
                             cudaStream_t stream);
/**
 * y[i] = x[i] / (1 - p) where u[i] >= p, else 0, whatever x[i] is. y may be x. p = 0 keeps all
 * elements, p = 1 none. u[i] = word i % 4 of Philox4x32-10 with the counter i / 4 and the key
 * `seed`, low half first, times 2^-32.
 */
cudaError_t dropout_forward(float *y, const float *x, size_t n, float p, unsigned long long seed,
                            cudaStream_t stream);
/** grad_x of dropout_forward with the same p and seed. grad_x may be grad_y. */
cudaError_t dropout_backward(float *grad_x, const float *grad_y, size_t n, float p,
                             unsigned long long seed, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
