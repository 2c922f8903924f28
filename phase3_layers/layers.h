/*
 * layers.h: the contract of phase 3, the layers of a network, forward and backward.
 *
 * Conventions: device pointers, aligned to their elements and to nothing more; row-major; weights
 * [out_features, in_features]; the destination first, a stream last; outputs are overwritten; a
 * gradient is grad_<what it belongs to>. fp32 throughout. Launchers return the error of their
 * launches and do not wait. Sizes of 0 are legal: an empty sum is 0. Sizes have no bound but
 * memory. NaN and infinities go where the arithmetic takes them, unless it says otherwise. What
 * makes no sense (a stride of 0, a window larger than the padded image) is the caller's duty.
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
 * A NaN in a row that is not ignored makes its loss and all of its gradient NaN.
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

/* 311_layernorm.cu
 *
 * x and y are [rows x cols]; gamma, beta and their gradients [cols]; mean and rstd [rows]. Sizes
 * are free, so is the alignment of the arrays; without columns nothing is written. */

/**
 * y = (x - mean) * rstd * gamma + beta, with the statistics of each row.
 * @param mean, rstd for the backward pass: rstd = 1 / sqrt(var + eps), where var is the mean of
 *                   (x - mean)^2 over the row
 */
cudaError_t layernorm_forward(float *y, float *mean, float *rstd, const float *x,
                              const float *gamma, const float *beta, int rows, int cols, float eps,
                              cudaStream_t stream);
/**
 * Gradients of layernorm_forward, mean and variance not held constant; the same bits every time.
 * @param grad_x     [rows x cols]
 * @param grad_gamma [cols] sum over the rows of grad_y * (x - mean) * rstd; of no rows 0
 * @param grad_beta  [cols] sum over the rows of grad_y; of no rows 0
 */
cudaError_t layernorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *gamma,
                               const float *mean, const float *rstd, int rows, int cols,
                               cudaStream_t stream);

/* 312_embedding.cu
 *
 * What stands around the matrix products of a transformer. A token is one of 0 .. vocab-1. */

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
 * @param grad_table     [vocab x dim] is ADDED to, the one gradient that is: a table that makes the
 *                       logits too gets the gradients of both its uses
 * @param grad_positions [seq x dim] sums over the batch; NULL when not wanted
 */
cudaError_t embedding_backward(float *grad_table, float *grad_positions, const float *grad_y,
                               const int *tokens, int batch, int seq, int dim, int vocab,
                               cudaStream_t stream);
/** y = a + b, n floats each. y may be a or b. */
cudaError_t residual_forward(float *y, const float *a, const float *b, size_t n,
                             cudaStream_t stream);
/**
 * y[i] = x[i] / (1 - p) where u[i] >= p, else 0, whatever x[i] is. y may be x. p = 0 keeps all, p =
 * 1 nothing. u[i] = word i % 4 of Philox4x32-10 with the counter i / 4 and the key `seed`, low half
 * first, times 2^-32.
 */
cudaError_t dropout_forward(float *y, const float *x, size_t n, float p, unsigned long long seed,
                            cudaStream_t stream);
/** grad_x of the dropout_forward that had this p and this seed. grad_x may be grad_y. */
cudaError_t dropout_backward(float *grad_x, const float *grad_y, size_t n, float p,
                             unsigned long long seed, cudaStream_t stream);

/* 313_attention.cu
 *
 * q, k, v, out and their gradients are [batch x heads x seq x dim]. In each head, query t has the
 * scores s[t][u] = scale * (q[t] . k[u]) over the keys u, or, where causal is not 0, over u <= t:
 * the others take no part. A score of -infinity has weight 0; a query with nothing else gets zeros.
 * Behind the mask, q, k, v and grad_out are finite. No two arrays overlap. Memory that a call needs
 * beyond its arrays, it allocates and frees on the stream. */

/** out[t] = the sum of softmax(s[t])[u] * v[u]. */
cudaError_t attention_naive(float *out, const float *q, const float *k, const float *v, int batch,
                            int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream);
/** Gradients of attention_naive; the same bits every time. */
cudaError_t attention_naive_backward(float *grad_q, float *grad_k, float *grad_v,
                                     const float *grad_out, const float *q, const float *k,
                                     const float *v, int batch, int heads, int seq, int dim,
                                     int causal, float scale, cudaStream_t stream);

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
/**
 * One step of plain descent with momentum; param and velocity are updated in place.
 * velocity = momentum velocity + grad + weight_decay param; param -= lr velocity.
 */
cudaError_t sgd_momentum(float *param, float *velocity, const float *grad, size_t n, float lr,
                         float momentum, float weight_decay, cudaStream_t stream);
/**
 * Scale the gradient of a whole network to a norm that is not larger than max_norm.
 * A gradient whose norm is not finite stays as it is.
 * @param norm [1] the root of the sum of squares of grad as it was, the same bits every time; of
 *             nothing 0
 * @param grad [n] *= max_norm / norm where norm > max_norm
 */
cudaError_t global_norm_clip(float *norm, float *grad, size_t n, float max_norm,
                             cudaStream_t stream);

/** A piece of the parameters that has a decay of its own. */
typedef struct adam_group {
    size_t n;           /* parameters, 0 too */
    float weight_decay; /* of matrices; biases, gamma and beta have 0 */
} adam_group;

/**
 * As adam_update, on `count` groups that lie one behind the other in param, m, v and grad.
 * @param groups [count], on the host
 */
cudaError_t adam_update_groups(float *param, float *m, float *v, const float *grad,
                               const adam_group *groups, int count, float lr, float beta1,
                               float beta2, float eps, int step, cudaStream_t stream);

/* 3a_deterministic_backward.cu */

/** As embedding_backward (312), and grad_table has the same bits every time, too. batch * seq and
 *  seq * dim are below 2^31. */
cudaError_t embedding_backward_deterministic(float *grad_table, float *grad_positions,
                                             const float *grad_y, const int *tokens, int batch,
                                             int seq, int dim, int vocab, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
