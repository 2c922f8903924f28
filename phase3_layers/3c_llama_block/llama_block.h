/*
 * llama_block.h: the contract of exercise 3c. The conventions are in layers.h.
 *
 * fp32 throughout, arrays aligned to a float and no more. No output overlaps an input or another
 * output, except where a function says "may be": then both are the same array. With a size of 0
 * nothing is launched, and grad_gamma of no rows is zeros. Each element is computed from its own
 * row, pair or place, so a NaN reaches no other. No function waits. rmsnorm_backward alone
 * allocates: cudaMallocAsync, freed on the same stream, even after errors.
 */
#ifndef COURSE_LLAMA_BLOCK_H
#define COURSE_LLAMA_BLOCK_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * y = x * inv_rms * gamma, where inv_rms = 1 / sqrt(mean of x^2 over the row + eps). y may be x.
 * A row's sum of x^2 must be finite in fp32: |x| up to 1.8e19 / sqrt(cols). Otherwise inv_rms is 0
 * or NaN, and y what the formula makes of it. Without columns nothing is written.
 * @param y, x    [rows x cols]
 * @param inv_rms [rows], for the backward pass
 * @param gamma   [cols]
 */
cudaError_t rmsnorm_forward(float *y, float *inv_rms, const float *x, const float *gamma, int rows,
                            int cols, float eps, cudaStream_t stream);
/**
 * Gradients of rmsnorm_forward, where inv_rms depends on x; the same bits every time. Both are
 * overwritten. grad_x may be grad_y.
 * @param grad_x     [rows x cols]
 * @param grad_gamma [cols], the sum over the rows of grad_y * x * inv_rms
 */
cudaError_t rmsnorm_backward(float *grad_x, float *grad_gamma, const float *grad_y, const float *x,
                             const float *gamma, const float *inv_rms, int rows, int cols,
                             cudaStream_t stream);

/**
 * Rotary embedding. Element i of a vector and element i + dim/2 are a pair (the halves, as in
 * Hugging Face's code; Meta's pairs 2i with 2i + 1). At place t of its sequence, pair i is turned
 * by the angle (offset + t) * base^(-2i/dim), in radians:
 *
 *     y[i]         = x[i] cos - x[i + dim/2] sin
 *     y[i + dim/2] = x[i + dim/2] cos + x[i] sin
 *
 * Each is right to 1e-6 of |x[i]| + |x[i + dim/2]| at positions up to 2^24. y may be x. An odd dim
 * is cudaErrorInvalidValue.
 * @param y, x   [count x seq x dim]; q and k of 313 have count = batch * heads
 * @param offset position of the first vector of each sequence, at least 0: how many tokens are in
 *               the cache of keys already
 * @param base   of the angles, above 0: 10000 in Llama 1 and 2, 500000 in Llama 3
 */
cudaError_t rope_forward(float *y, const float *x, int count, int seq, int dim, int offset,
                         float base, cudaStream_t stream);
/** Gradient of rope_forward, as accurate. It is overwritten. grad_x may be grad_y. */
cudaError_t rope_backward(float *grad_x, const float *grad_y, int count, int seq, int dim,
                          int offset, float base, cudaStream_t stream);

/**
 * y = silu(gate) * up over n elements, where silu(x) = x / (1 + e^-x). y may be gate. Finite also
 * where e^-x overflows; a gate of -infinity gives NaN.
 */
cudaError_t swiglu_forward(float *y, const float *gate, const float *up, size_t n,
                           cudaStream_t stream);
/** Gradients of swiglu_forward. Both are overwritten. grad_gate may be gate, and grad_up may be up.
 *  Where the gate is infinite they may be anything. */
cudaError_t swiglu_backward(float *grad_gate, float *grad_up, const float *grad_y,
                            const float *gate, const float *up, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
