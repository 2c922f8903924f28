/*
 * cpu.h: the contract of phase 1, plain C11 on the CPU. One exercise a file.
 *
 * Conventions of the whole course: row-major arrays; c[m x n] = a[m x k] * b[k x n]; the
 * destination comes first; outputs are overwritten, whatever they held; weights are [out_features,
 * in_features]. Arrays are aligned to their elements and to nothing more; sizes have no bound but
 * memory. NaN and infinities go where the arithmetic takes them, unless it says otherwise.
 */
#ifndef COURSE_CPU_H
#define COURSE_CPU_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 101_compare.c */

/**
 * Is got what ref says, up to rounding? Element i is, if
 *   ref[i] is NaN:                       got[i] is NaN, too;
 *   else got[i] and ref[i] are equal:    always (infinities too; 0 and -0 are equal);
 *   else both are finite and their difference is at most tol * scale[i]. The difference and the
 *   bound are computed in double.
 * A bound that is NaN allows no difference.
 * @param got, ref  [n]
 * @param scale     [n] what the error of each element is held against, not negative; NULL:
 *                  max(1, |ref[i]|)
 * @param first_bad receives the least i that is wrong, n where none is; may be NULL
 * @return 1 if all n elements are right, also for n = 0; else 0
 */
int approx_equal(const float *got, const float *ref, const float *scale, size_t n, double tol,
                 size_t *first_bad);

/* 102_stopwatch.c */

/**
 * How long does f(arg) take? Calls it warm times, then reps times, and times each of the latter
 * alone by the clock of the wall (CLOCK_MONOTONIC). warm below 0 is as 0. reps below 1: f is not
 * called at all, the result and the spread are 0.
 * @param spread receives (t[reps - 1 - reps/4] - t[reps/4]) / median, where t[reps] are the times
 *               in ascending order: the middle half's width. 0 where the median is 0; may be NULL
 * @return the median of the reps times in nanoseconds; of an even number the mean of the two in the
 *         middle. NaN when memory is short
 */
double bench_ns(void (*f)(void *), void *arg, int warm, int reps, double *spread);

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

/** As matmul_cpu, with a tile of c held in vector registers. */
void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k);

/* 107_matmul_cpu_threads.c */

/**
 * As matmul_cpu, with up to `threads` threads at work, the caller's among them.
 * @param threads any number; below 1 it counts as 1. A thread that cannot be started is no error:
 *        the others compute its part. All that were started have ended when the call returns.
 */
void matmul_cpu_threads(float *c, const float *a, const float *b, int m, int n, int k, int threads);

/* 108_gemm_cpu.c */

/**
 * c = alpha * op(a) * op(b) + beta * c, the general product of BLAS, with row-major matrices.
 * op(x) is x, or x transposed where its trans_ is not 0. A leading dimension (ld) is how many
 * floats further the next row begins, at least as many as a row has. What lies between the end of a
 * row and the next one belongs to somebody else: it is neither used nor written, and after the last
 * row there is nothing.
 * @param a [m x k], transposed [k x m]; not read where alpha is 0
 * @param b [k x n], transposed [n x k]; not read where alpha is 0
 * @param c [m x n]; what it holds does not matter where beta is 0, even if it is NaN
 */
void gemm_cpu(int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
              const float *b, int ldb, float beta, float *c, int ldc);

/* 109_softmax_cross_entropy.c */

/**
 * Softmax and cross-entropy in one.
 * @param grad_logits [rows x classes] gradient of the mean loss: (softmax - onehot) / rows
 * @param logits      [rows x classes] any finite values, however large; a NaN makes its row of
 *                    grad_logits and the loss NaN
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

/* 1a_matmul_cpu_packed.c: a challenge */

/** As matmul_cpu_threads, with both matrices packed in blocks for the caches: at the speed of a
 *  library, with one thread and with many. */
void matmul_cpu_packed(float *c, const float *a, const float *b, int m, int n, int k, int threads);

#ifdef __cplusplus
}
#endif

#endif
