/*
 * optimization.h: the contract of phase 4, the same mathematics, faster. Conventions as in
 * layers.h.
 */
#ifndef COURSE_OPTIMIZATION_H
#define COURSE_OPTIMIZATION_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 404_fusion.cu */

/**
 * Linear layer, bias and ReLU in one kernel: pre = x * w^T + bias; y = max(pre, 0).
 * @param y    [batch x out_features]
 * @param pre  [batch x out_features], what the backward pass needs; NULL when not wanted
 * @param x    [batch x in_features]
 * @param w    [out_features x in_features]
 * @param bias [out_features]
 */
cudaError_t linear_forward_fused(float *y, float *pre, const float *x, const float *w,
                                 const float *bias, int batch, int in_features, int out_features,
                                 cudaStream_t stream);

/**
 * Convolution, batch normalization with the statistics of training, residual and ReLU in one
 * kernel, which writes nothing but y:
 * y = max((conv - mean) / sqrt(var + eps) * gamma + beta + residual, 0); NaN stays NaN.
 * out_h = (in_h + 2 pad - kernel_h) / stride + 1, rounded down, and out_w likewise;
 * batch * out_h * out_w is below 2^31.
 * @param y        [batch x out_channels x out_h x out_w]
 * @param x        [batch x in_channels x in_h x in_w]
 * @param w        [out_channels x in_channels x kernel_h x kernel_w]
 * @param mean, var, gamma, beta   [out_channels]
 * @param residual as y, and may be y; NULL: nothing is added
 */
cudaError_t conv_bn_relu(float *y, const float *x, const float *w, const float *mean,
                         const float *var, const float *gamma, const float *beta,
                         const float *residual, int batch, int in_channels, int in_h, int in_w,
                         int out_channels, int kernel_h, int kernel_w, int stride, int pad,
                         float eps, cudaStream_t stream);

/* 406_streams.cu */

/**
 * Send an array through the device in chunks, so that one is copied in while another is worked on
 * and a third is copied out. The work on x: f(f(... f(x))), `iterations` times, f(x) = x - x^3.
 *
 * It overlaps when both arrays are page-locked, and is right when they are not. The call makes the
 * streams and the device memory that it needs, and frees them whatever happens. It returns when
 * h_out is complete; before, it waits for none of its work, and never uses the legacy stream.
 *
 * @param h_out   [n] not h_in
 * @param h_in    [n]
 * @param n       0 and n % chunks != 0 are legal
 * @param iterations at least 0
 * @param chunks  at least 1, also more than n: pieces of ceil(n / chunks) elements, the last may be
 *                shorter, and empty ones are none
 * @param streams at least 1: as many chunks are on the device at a time, and memory for no more
 * @return cudaErrorInvalidValue for numbers below those; cudaErrorMemoryAllocation; what CUDA says
 */
cudaError_t pipeline(float *h_out, const float *h_in, size_t n, int iterations, int chunks,
                     int streams);

/* 407_graphs.cu
 *
 * A step is `rounds` launches of one small kernel, each of which reads what the one before wrote:
 *
 *     to[i] = from[i] + rate * (from[i-1] - 2 from[i] + from[i+1])        0 <= i < n
 *
 * where a neighbour beyond an end is from[i] itself. The first round reads x, the last writes y; of
 * 0 rounds, y is a copy of x. Arrays do not overlap, and every round is a launch of its own. */

/**
 * The step as plain launches. It neither waits nor allocates, so that a stream may capture it.
 * @param y       [n]
 * @param x       [n]
 * @param scratch [2 x n] for the rounds in between
 */
cudaError_t step_launch(float *y, const float *x, float *scratch, int n, int rounds, float rate,
                        cudaStream_t stream);

/** The same step as a graph that is made once and launched often; it has a scratch of its own. */
typedef struct step_graph step_graph;

/** @param graph receives it, or NULL on an error */
cudaError_t step_graph_create(step_graph **graph, int n, int rounds, float rate);
/** One launch of the graph; does not wait. y and x [n] may be others at each call. */
cudaError_t step_graph_run(step_graph *graph, float *y, const float *x, cudaStream_t stream);
/** Waits for what still runs. NULL is allowed. */
cudaError_t step_graph_free(step_graph *graph);

/**
 * What it costs to launch a kernel that does nothing; nanoseconds, means over `launches` of them.
 * @param h_submit_ns of the host: until <<<>>> returns, with room in the stream
 * @param h_launch_ns of plain launches, from the first until the last has run
 * @param h_node_ns   the same of one graph with so many nodes, one after the other
 * @param launches    1 .. 1000
 */
cudaError_t launch_overhead_ns(float *h_submit_ns, float *h_launch_ns, float *h_node_ns,
                               int launches, cudaStream_t stream);

/**
 * y[batch x out] = x[batch x in] * w[out x in]^T + bias[out], by a grid of as many blocks as the
 * device holds at once (one a tile where there are fewer tiles), each of which loops over tiles.
 * bias may be NULL.
 */
cudaError_t linear_forward_persistent(float *y, const float *x, const float *w, const float *bias,
                                      int batch, int in_features, int out_features,
                                      cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
