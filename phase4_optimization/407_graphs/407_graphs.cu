/*
 * 407_graphs.cu: many small kernels as one graph; what a launch costs; a kernel that stays.
 *
 * The idea: a launch costs the host microseconds, however little the kernel does, and the device
 * some more to begin it. A step of forty kernels that take a microsecond each is forty launches and
 * little else. A graph is the step written down once: who runs after whom, with which arguments.
 * After that one call starts all of it, and the device goes from node to node by itself.
 *
 * What it wins: the host's time per kernel, and the part of the device's that comes from being told
 * of kernels one by one. What it costs: the capture keeps arguments as they were. A pointer that
 * changes must be put into its nodes, and each node that knows one costs again. So only two do: the
 * first round reads x, the last writes y, and all others go between two arrays of the graph's own.
 *
 * What it leaves: the device still begins and ends a kernel per node. A persistent kernel takes
 * that away too, for blocks instead of kernels: as many as fit, and each takes tile after tile.
 */
#include "../../phase2_cuda_basics/212_matmul_transposed/212_tile.cuh"
#include "212_matmul_transposed/matmul_transposed.h"
#include "407_graphs/graphs.h"
#include "cuda_check.h"
#include "not_implemented.h"
#include "timer.h"
#include <stdlib.h>

/* TODO: smooth_kernel, a thread an element, and its number of blocks (about 10 lines). */

cudaError_t step_launch(float *y, const float *x, float *scratch, int n, int rounds, float rate,
                        cudaStream_t stream)
{
    /* TODO: nothing for n = 0, a copy for rounds = 0; else x to scratch, to and fro between its
       halves, and the last round to y (about 8 lines). */
    NOT_IMPLEMENTED(y, x, scratch, n, rounds, rate, stream);
    return cudaGetLastError();
}

/* ---- the step as a graph --------------------------------------------------------------------- */

struct step_graph {
    int n, rounds;
    float rate;
    /* TODO: the scratch, the graph, what can run of it, the nodes that a run changes (about 4
       lines). */
};

/* TODO: capture step_launch with a stream of its own and NULL for y and x, and instantiate
   (about 10 lines). */

/* TODO: find the nodes whose arguments are NULL (about 12 lines). */

/* TODO: put to and from into a node of what can run (about 8 lines). */

cudaError_t step_graph_create(step_graph **graph, int n, int rounds, float rate)
{
    *graph = NULL;
    /* TODO: allocate; capture and find the ends unless there is nothing to do; after an error
       free all of it (about 14 lines). */
    NOT_IMPLEMENTED(graph, n, rounds, rate);
    return cudaSuccess;
}

cudaError_t step_graph_run(step_graph *graph, float *y, const float *x, cudaStream_t stream)
{
    /* TODO: nothing captured: step_launch; else x into the first node, y into the last, and
       one launch (about 7 lines). */
    NOT_IMPLEMENTED(graph, y, x, stream);
    return cudaSuccess;
}

cudaError_t step_graph_free(step_graph *graph)
{
    /* TODO: nothing for NULL; else wait, and free what create made (about 6 lines). */
    NOT_IMPLEMENTED(graph);
    return cudaSuccess;
}

/* ---- what a launch costs --------------------------------------------------------------------- */

/* TODO: empty_kernel, and submit: that many launches of it; the nanoseconds until the last has
   returned, of each (about 7 lines). */

/* TODO: capture the same launches, as an instantiated graph (about 9 lines). */

cudaError_t launch_overhead_ns(float *h_submit_ns, float *h_launch_ns, float *h_node_ns,
                               int launches, cudaStream_t stream)
{
    /* TODO: warm up, then time launches and graph, each from an idle stream until it is idle
       again (about 14 lines). */
    NOT_IMPLEMENTED(h_submit_ns, h_launch_ns, h_node_ns, launches, stream);
    return cudaGetLastError();
}

/* ---- a kernel that stays --------------------------------------------------------------------- */

#define TILE 16 /* TILE x TILE threads a block, and so many outputs */

/* TODO: persistent_kernel: a loop over tiles, from blockIdx.x in steps of gridDim.x, around
   the tiled product (about 24 lines). */

/* TODO: resident_blocks: of one multiprocessor by the occupancy API, times how many there are
   (about 6 lines). */

cudaError_t linear_forward_persistent(float *y, const float *x, const float *w, const float *bias,
                                      int batch, int in_features, int out_features,
                                      cudaStream_t stream)
{
    /* TODO: count tiles, none for an empty y; launch as many blocks as fit, and no more than
       there are tiles (about 7 lines). */
    NOT_IMPLEMENTED(y, x, w, bias, batch, in_features, out_features, stream);
    return cudaGetLastError();
}
