/*
 * graphs.h: the contract of exercise 407. The conventions are in optimization.h.
 *
 * A step is `rounds` launches of one small kernel, each of which reads what the one before wrote:
 *
 *     to[i] = from[i] + rate * (from[i-1] - 2 from[i] + from[i+1])        0 <= i < n
 *
 * where a neighbour beyond an end is from[i] itself. The first round reads x, the last writes y.
 * With 0 rounds y is a copy of x. Arrays do not overlap, and every round is a launch of its own.
 */
#ifndef COURSE_GRAPHS_H
#define COURSE_GRAPHS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The step as plain launches. It neither waits nor allocates, so that a stream may capture it.
 * @param y       [n]
 * @param x       [n]
 * @param scratch [2 x n] for the results of the rounds in between
 */
cudaError_t step_launch(float *y, const float *x, float *scratch, int n, int rounds, float rate,
                        cudaStream_t stream);

/** The same step as a graph, created once and launched often, with its own scratch memory. */
typedef struct step_graph step_graph;

/** @param graph receives it, or NULL on an error */
cudaError_t step_graph_create(step_graph **graph, int n, int rounds, float rate);
/** One launch of the graph; does not wait. y and x [n] may differ from call to call. */
cudaError_t step_graph_run(step_graph *graph, float *y, const float *x, cudaStream_t stream);
/** Waits for work that still runs. NULL is allowed. */
cudaError_t step_graph_free(step_graph *graph);

/**
 * The cost of launching a kernel that does nothing, in nanoseconds: means over `launches` of them.
 * @param h_submit_ns time on the host until <<<>>> returns, with room in the stream
 * @param h_launch_ns plain launches, from the first until the last has run
 * @param h_node_ns   the same for one graph with `launches` nodes, one after the other
 * @param launches    1 .. 1000
 */
cudaError_t launch_overhead_ns(float *h_submit_ns, float *h_launch_ns, float *h_node_ns,
                               int launches, cudaStream_t stream);

/**
 * y[batch x out] = x[batch x in] * w[out x in]^T + bias[out], by a grid of as many blocks as the
 * device holds at once (one per tile if there are fewer tiles). Each block loops over tiles. bias
 * may be NULL.
 */
cudaError_t linear_forward_persistent(float *y, const float *x, const float *w, const float *bias,
                                      int batch, int in_features, int out_features,
                                      cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
