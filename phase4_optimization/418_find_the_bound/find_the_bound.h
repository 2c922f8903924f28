/*
 * find_the_bound.h: the contract of exercise 418. The conventions are in optimization.h. Every
 * function is right as it is handed out, and slow. Inputs and outputs do not overlap; where a size
 * is 0 there is nothing to do, but for `dot_product`, which is 0 then. Calls on different streams
 * may run at the same time.
 */
#ifndef COURSE_FIND_THE_BOUND_H
#define COURSE_FIND_THE_BOUND_H

#include "half_types.h"
#include <cuda_runtime_api.h>
#include <stddef.h>

#define BLUR_REACH 4  /**< rows above and below of which `blur` takes the mean */
#define MODEL_SIDE 16 /**< features and outputs of a model */

#ifdef __cplusplus
extern "C" {
#endif

/** out[0] = the sum of a[i] * b[i] */
cudaError_t dot_product(float *out, const float *a, const float *b, size_t n, cudaStream_t stream);

/** y[i] = max(scale * x[i] + shift, 0) + residual[i] */
cudaError_t finish(float *y, const float *x, const float *residual, size_t n, float scale,
                   float shift, cudaStream_t stream);

/** y[cols x rows] = x[rows x cols], transposed */
cudaError_t turn(float *y, const float *x, int rows, int cols, cudaStream_t stream);

/** y[rows x cols] += bias[cols], in every row */
cudaError_t add_bias(float *y, const float *bias, int rows, int cols, cudaStream_t stream);

/** y[i] = the sum of coefficients[k] * x[i] to the power of k, k < terms; terms is at least 1 */
cudaError_t polynomial(float *y, const float *x, size_t n, const float *coefficients, int terms,
                       cudaStream_t stream);

/** h_out[rows x width] = the first `width` columns of x[rows x cols]. h_out is ordinary memory of
 *  the host, complete when the function returns; width is at most cols. */
cudaError_t fetch_left(float *h_out, const float *x, int rows, int cols, int width,
                       cudaStream_t stream);

/** y[r][c] = the mean of x[q][c], |q - r| <= BLUR_REACH, of the rows q that exist */
cudaError_t blur(float *y, const float *x, int rows, int cols, cudaStream_t stream);

/** y[n x 16] = the mean of x[n x 16] * w[m][16 x 16] over all m < models, which is at least 1 */
cudaError_t average_models(float *y, const __half *x, const __half *w, int n, int models,
                           cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
