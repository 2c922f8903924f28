/*
 * elementwise.h: the contract of exercise 204. The conventions are in basics.h.
 */
#ifndef COURSE_ELEMENTWISE_H
#define COURSE_ELEMENTWISE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum elementwise_op {
    ELEMENTWISE_ADD,     /**< a + b */
    ELEMENTWISE_MUL,     /**< a * b */
    ELEMENTWISE_RELU,    /**< a, or 0 where a < 0; NaN stays NaN */
    ELEMENTWISE_SIGMOID, /**< 1 / (1 + exp(-a)), also where exp overflows */
} elementwise_op;

/**
 * y[i] = op(a[i], b[i]) for i < n, by `grid` blocks of `block` threads, however few they are. y may
 * be a or b.
 * @param b not read by relu and sigmoid, for which it may be NULL
 * @return cudaErrorInvalidValue, and does nothing, for another op
 */
cudaError_t elementwise(int op, float *y, const float *a, const float *b, size_t n, int grid,
                        int block, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
