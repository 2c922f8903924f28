/*
 * cpu.h: the contract of phase 1, plain C11 on the CPU. One exercise a file.
 *
 * Conventions of the whole course: row-major arrays; c[m x n] = a[m x k] * b[k x n]; the
 * destination comes first; outputs are overwritten, whatever they held; weights are [out_features,
 * in_features].
 */
#ifndef COURSE_CPU_H
#define COURSE_CPU_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 103_matmul_cpu.c */

/** c[m x n] = a[m x k] * b[k x n], the triple loop. k = 0 gives zeros. */
void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k);

/* 104_matmul_cpu_ikj.c */

/** As matmul_cpu, with the loops in the order i, k, j: every inner access walks along a row. */
void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k);

/* 105_matmul_cpu_blocked.c */

/** As matmul_cpu, block by block, so that the block of b in use stays in the cache. */
void matmul_cpu_blocked(float *c, const float *a, const float *b, int m, int n, int k);

/* 106_matmul_cpu_vectorized.c */

/** As matmul_cpu, with a tile of c held in vector registers. Pointers are aligned to a float only.
 */
void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k);

/* 109_softmax_cross_entropy.c */

/**
 * Softmax and cross-entropy in one.
 * @param grad_logits [rows x classes] gradient of the mean loss: (softmax - onehot) / rows
 * @param logits      [rows x classes] any finite values, however large
 * @param labels      [rows] each in 0 .. classes-1
 * @return the mean over rows of -log softmax(logits)[label]; 0 for no rows
 */
float softmax_cross_entropy_cpu(float *grad_logits, const float *logits, const int *labels,
                                int rows, int classes);

/* 110_conv2d_cpu.c
 *
 * Convolution as networks mean it: the kernel is not flipped, and the image is surrounded by `pad`
 * zeros. out_h = (in_h + 2 pad - kernel_h) / stride + 1, rounded down, and out_w likewise. */

/**
 * y[b][o][i][j] = bias[o] + the sum over channels c, rows r, columns s of
 *                 w[o][c][r][s] * x[b][c][i * stride - pad + r][j * stride - pad + s]
 * @param y    [batch x out_channels x out_h x out_w]
 * @param x    [batch x in_channels x in_h x in_w]
 * @param w    [out_channels x in_channels x kernel_h x kernel_w]
 * @param bias [out_channels], or NULL
 */
void conv2d_cpu(float *y, const float *x, const float *w, const float *bias, int batch,
                int in_channels, int in_h, int in_w, int out_channels, int kernel_h, int kernel_w,
                int stride, int pad);
/**
 * The windows of one image, side by side: column i * out_w + j holds the window of output (i, j).
 * @param columns [(in_channels * kernel_h * kernel_w) x (out_h * out_w)]
 * @param x       [in_channels x in_h x in_w]
 */
void im2col_cpu(float *columns, const float *x, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad);
/** The way back: every element of x becomes the sum of its copies in columns. */
void col2im_cpu(float *x, const float *columns, int in_channels, int in_h, int in_w, int kernel_h,
                int kernel_w, int stride, int pad);
/** As conv2d_cpu, by im2col_cpu and matmul_cpu_vectorized. @param columns scratch, as large as
 *  im2col_cpu needs it for one image */
void conv2d_cpu_im2col(float *y, float *columns, const float *x, const float *w, const float *bias,
                       int batch, int in_channels, int in_h, int in_w, int out_channels,
                       int kernel_h, int kernel_w, int stride, int pad);

/* 111_linear_backward.c */

/**
 * Gradients of y[batch x out] = x[batch x in] * w[out x in]^T + bias[out].
 * @param grad_x    [batch x in_features] = grad_y * w
 * @param grad_w    [out_features x in_features] = grad_y^T * x, summed over the batch
 * @param grad_bias [out_features] = column sums of grad_y
 */
void linear_backward_cpu(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                         const float *x, const float *w, int batch, int in_features,
                         int out_features);

/**
 * Compare an analytic gradient with central differences.
 * @param loss    the function of theta[n] whose gradient is meant; takes `context` unchanged
 * @param theta   [n] the point; restored before return
 * @param grad    [n] the gradient to be checked
 * @param samples how many coordinates to try (all of them when samples >= n)
 * @param seed    chooses the coordinates
 * @return the largest relative error |grad - numeric| / max(|grad|, |numeric|, floor) seen. A right
 *         gradient of a smooth loss gives less than 1e-2, a wrong one more; NaN counts as wrong.
 */
double gradcheck(double (*loss)(const float *theta, void *context), void *context, float *theta,
                 const float *grad, size_t n, int samples, unsigned long long seed);

/* 112_mlp_cpu.c */

/* The network of exercises 112 and 501: 784 inputs, 128 hidden units with ReLU, 10 logits. Its
 * parameters are one array, in this order: w1[128 x 784], bias1[128], w2[10 x 128], bias2[10]. */
#define MLP_INPUTS  784
#define MLP_HIDDEN  128
#define MLP_CLASSES 10
#define MLP_PARAMS  (MLP_HIDDEN * MLP_INPUTS + MLP_HIDDEN + MLP_CLASSES * MLP_HIDDEN + MLP_CLASSES)

typedef struct mlp_cpu mlp_cpu;

/** @param params [MLP_PARAMS] copied. @return a network at step 0, or NULL when memory is short. */
mlp_cpu *mlp_create_cpu(const float *params);
/**
 * One step of Adam (beta 0.9 and 0.999, epsilon 1e-8, no decay) on one batch.
 * @param x      [batch x MLP_INPUTS]
 * @param labels [batch]
 * @return the mean loss of the batch before the step
 */
float mlp_train_batch_cpu(mlp_cpu *net, const float *x, const int *labels, int batch, float lr);
/** @param logits [batch x MLP_CLASSES] */
void mlp_predict_cpu(const mlp_cpu *net, float *logits, const float *x, int batch);
/** @param params [MLP_PARAMS] receives a copy */
void mlp_get_params_cpu(const mlp_cpu *net, float *params);
/** NULL is allowed. */
void mlp_free_cpu(mlp_cpu *net);

#ifdef __cplusplus
}
#endif

#endif
