/*
 * layers.h: the contract of phase 3, the layers of a network, forward and backward.
 *
 * Conventions: device pointers; row-major; weights [out_features, in_features]; the destination
 * first, a stream last; outputs are overwritten; a gradient is grad_<what it belongs to>. fp32
 * throughout. Launchers return the error of their launches and do not wait. Sizes of 0 are legal:
 * an empty sum is 0. What makes no sense (a stride of 0, a window larger than the padded image) is
 * the caller's duty.
 */
#ifndef COURSE_LAYERS_H
#define COURSE_LAYERS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 301_activations.cu
 *
 * Element by element over n floats. y may be x, grad_x may be grad_y. Every backward takes the
 * input x of the forward. relu passes NaN on, and its derivative at 0 is 0. gelu is the tanh form:
 * 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). */

cudaError_t relu_forward(float *y, const float *x, size_t n, cudaStream_t stream);
cudaError_t relu_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream);
cudaError_t sigmoid_forward(float *y, const float *x, size_t n, cudaStream_t stream);
cudaError_t sigmoid_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                             cudaStream_t stream);
cudaError_t tanh_forward(float *y, const float *x, size_t n, cudaStream_t stream);
cudaError_t tanh_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream);
cudaError_t gelu_forward(float *y, const float *x, size_t n, cudaStream_t stream);
cudaError_t gelu_backward(float *grad_x, const float *grad_y, const float *x, size_t n,
                          cudaStream_t stream);

/* 302_bias.cu */

/** y[rows x cols] = x[rows x cols] + bias[cols]. y may be x. */
cudaError_t bias_forward(float *y, const float *x, const float *bias, int rows, int cols,
                         cudaStream_t stream);
/** grad_bias[cols] = column sums of grad_y[rows x cols]; the same bits every time. */
cudaError_t bias_backward(float *grad_bias, const float *grad_y, int rows, int cols,
                          cudaStream_t stream);

/* 303_linear.cu */

/** y[batch x out] = x[batch x in] * w[out x in]^T + bias[out]. bias may be NULL. */
cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_features, int out_features, cudaStream_t stream);
/**
 * Gradients of linear_forward.
 * @param grad_x    [batch x in_features] = grad_y * w; NULL when not wanted
 * @param grad_w    [out_features x in_features] = grad_y^T * x; NULL when not wanted
 * @param grad_bias [out_features] = column sums of grad_y; NULL when not wanted
 */
cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_features,
                            int out_features, cudaStream_t stream);

/* 304_softmax.cu */

/** y[r] = softmax of row x[r]. An entry of -infinity has weight 0; a row of nothing else gives
 *  zeros. A NaN makes all of its row NaN. rows and cols are free: more than 65,535 rows, more than
 * 1,024 columns. */
cudaError_t softmax_forward(float *y, const float *x, int rows, int cols, cudaStream_t stream);
/** grad_x = y * (grad_y - sum over the row of grad_y * y). Takes the output y of the forward. */
cudaError_t softmax_backward(float *grad_x, const float *grad_y, const float *y, int rows, int cols,
                             cudaStream_t stream);

/* 305_cross_entropy.cu */

/**
 * Loss of every row and gradient of the mean loss, in one.
 * @param loss         [rows] -log softmax(logits)[label]; 0 where the label is ignore_index
 * @param grad_logits  [rows x classes] (softmax - onehot) / number of labels that are not
 *                     ignore_index; zeros in ignored rows
 * @param labels       [rows] each in 0 .. classes-1, or ignore_index
 */
cudaError_t softmax_cross_entropy(float *loss, float *grad_logits, const float *logits,
                                  const int *labels, int rows, int classes, int ignore_index,
                                  cudaStream_t stream);

/* 306_conv2d.cu */

/**
 * Convolution, the kernel not flipped, `pad` zeros around the image; as conv2d_cpu (110).
 * out_h = (in_h + 2 pad - kernel_h) / stride + 1, rounded down, and out_w likewise.
 * @param y    [batch x out_channels x out_h x out_w]
 * @param x    [batch x in_channels x in_h x in_w]
 * @param w    [out_channels x in_channels x kernel_h x kernel_w]
 * @param bias [out_channels], or NULL
 */
cudaError_t conv2d_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_channels, int in_h, int in_w, int out_channels, int kernel_h,
                           int kernel_w, int stride, int pad, cudaStream_t stream);

/* 307_conv2d_implicit_gemm.cu */

/** As conv2d_forward, as a tiled matrix product whose one factor, the columns of im2col (110), is
 *  never written down. batch * out_h * out_w is below 2^31. */
cudaError_t conv2d_implicit_gemm(float *y, const float *x, const float *w, const float *bias,
                                 int batch, int in_channels, int in_h, int in_w, int out_channels,
                                 int kernel_h, int kernel_w, int stride, int pad,
                                 cudaStream_t stream);

/* 308_conv2d_backward.cu */

/**
 * Gradients of conv2d_forward, the same bits every time.
 * @param grad_x    [batch x in_channels x in_h x in_w]; pixels under no window get 0; NULL when not
 *                  wanted
 * @param grad_w    [out_channels x in_channels x kernel_h x kernel_w]; NULL when not wanted
 * @param grad_bias [out_channels]; NULL when not wanted
 * @param grad_y    [batch x out_channels x out_h x out_w]
 */
cudaError_t conv2d_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_channels, int in_h,
                            int in_w, int out_channels, int kernel_h, int kernel_w, int stride,
                            int pad, cudaStream_t stream);

/* 309_batchnorm.cu
 *
 * x is [batch x channels x h x w]; everything of a channel is [channels]. The statistics of a
 * channel are over its n = batch * h * w elements. */

/** y = (x - mean) / sqrt(var + eps) * gamma + beta, with the statistics of training. y may be x. */
cudaError_t batchnorm_infer(float *y, const float *x, const float *mean, const float *var,
                            const float *gamma, const float *beta, int batch, int channels, int h,
                            int w, float eps, cudaStream_t stream);
/**
 * The same with the statistics of this very batch.
 * @param mean, rstd   of the batch, for the backward pass: rstd = 1 / sqrt(var + eps), where var is
 *                     the mean of (x - mean)^2
 * @param running_mean, running_var   updated: (1 - momentum) * old + momentum * new, where the new
 *                     variance is divided by n - 1 (by 1 for n = 1)
 */
cudaError_t batchnorm_forward(float *y, float *mean, float *rstd, float *running_mean,
                              float *running_var, const float *x, const float *gamma,
                              const float *beta, int batch, int channels, int h, int w, float eps,
                              float momentum, cudaStream_t stream);
/** Gradients of batchnorm_forward, mean and variance not held constant. */
cudaError_t batchnorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *mean,
                               const float *rstd, const float *gamma, int batch, int channels,
                               int h, int w, cudaStream_t stream);
/**
 * A convolution that does what a convolution and batchnorm_infer behind it do.
 * @param folded_w    [channels x filter_size]
 * @param folded_bias [channels]
 * @param w           [channels x filter_size], the filters
 * @param bias        [channels], or NULL
 */
cudaError_t batchnorm_fold(float *folded_w, float *folded_bias, const float *w, const float *bias,
                           const float *mean, const float *var, const float *gamma,
                           const float *beta, int channels, int filter_size, float eps,
                           cudaStream_t stream);

/* 310_pooling.cu
 *
 * Every channel of every image, a plane, is pooled by itself. */

/**
 * y = the largest element of each window of kernel_size x kernel_size. What lies in the padding
 * does not take part; pad is at most kernel_size / 2. A NaN in the window is the largest. out_h =
 * (in_h + 2 pad - kernel_size) / stride + 1, rounded down, and out_w likewise.
 * @param y      [batch x channels x out_h x out_w]
 * @param argmax likewise: where in its plane of x the element stands, row * in_w + column; of equal
 *               ones the first
 * @param x      [batch x channels x in_h x in_w]
 */
cudaError_t maxpool2d_forward(float *y, int *argmax, const float *x, int batch, int channels,
                              int in_h, int in_w, int kernel_size, int stride, int pad,
                              cudaStream_t stream);
/** grad_x [batch x channels x in_h x in_w]: the sum of grad_y of all windows whose argmax the
 * element is, the same bits every time. */
cudaError_t maxpool2d_backward(float *grad_x, const float *grad_y, const int *argmax, int batch,
                               int channels, int in_h, int in_w, int kernel_size, int stride,
                               int pad, cudaStream_t stream);
/** y [batch x channels] = the mean of each plane of x [batch x channels x h x w]. */
cudaError_t global_avgpool_forward(float *y, const float *x, int batch, int channels, int h, int w,
                                   cudaStream_t stream);
/** grad_x [batch x channels x h x w] from grad_y [batch x channels]. */
cudaError_t global_avgpool_backward(float *grad_x, const float *grad_y, int batch, int channels,
                                    int h, int w, cudaStream_t stream);

/* 314_adam.cu */

/**
 * One step of AdamW on n parameters; param, m and v are updated in place.
 * m = beta1 m + (1 - beta1) grad; v = beta2 v + (1 - beta2) grad^2;
 * param -= lr (m / (1 - beta1^step) / (sqrt(v / (1 - beta2^step)) + eps) + weight_decay * param).
 * @param step counts from 1
 */
cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
