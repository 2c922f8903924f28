/*
 * 407_graphs.cu: many small kernels as one graph; what a launch costs; a kernel that stays.
 *
 * The idea: a launch costs the host microseconds, however little the kernel does, and the device
 * some more to begin it. A step of forty kernels that take a microsecond each is forty launches and
 * little else. A graph is the step written down once: the order of its kernels, and their
 * arguments. After that one call starts all of it, and the device goes from node to node by itself.
 *
 * What it saves: the host's time per kernel, and the device's time to receive kernels one by one.
 * What it costs: the capture keeps arguments as they were. A pointer that changes must be set in
 * each node that uses it, and each such node costs time. So only two nodes use one: the first round
 * reads x, the last writes y, and all others work on two arrays of the graph's own.
 *
 * What it leaves: the device still begins and ends a kernel per node. A persistent kernel avoids
 * the same cost for blocks: it has as many as fit, and each takes tile after tile.
 */
#include "../../phase2_cuda_basics/212_matmul_transposed/212_tile.cuh"
#include "212_matmul_transposed/matmul_transposed.h"
#include "407_graphs/graphs.h"
#include "cuda_check.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include "timer.h"
#include <stdlib.h>

/* ---- the step as launches -------------------------------------------------------------------- */

#define BLOCK 256

/** One round, to[n] from from[n], a thread per element. */
__global__ static void smooth_kernel(float *to, const float *from, int n, float rate)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    float here = from[i];
    float left = i > 0 ? from[i - 1] : here, right = i + 1 < n ? from[i + 1] : here;
    to[i] = here + rate * (left - 2.0f * here + right);
}

/** of smooth_kernel */
static unsigned blocks_for(int n)
{
    return (unsigned)((n + BLOCK - 1) / BLOCK);
}

cudaError_t step_launch(float *y, const float *x, float *scratch, int n, int rounds, float rate,
                        cudaStream_t stream)
{
    /* TODO: nothing for n = 0, a copy for rounds = 0; else x to scratch, back and forth between
       its halves, and the last round to y (about 8 lines). */
    NOT_IMPLEMENTED(y, x, scratch, n, rounds, rate, stream);
    return cudaGetLastError();
}

/* ---- the step as a graph --------------------------------------------------------------------- */

struct step_graph {
    float *scratch; /* [2 x n] */
    int n, rounds;
    float rate;
    cudaGraph_t graph;           /* kept: its nodes belong to it */
    cudaGraphExec_t exec;        /* NULL: no rounds or no elements, so there is nothing to replay */
    cudaGraphNode_t first, last; /* the reader of x, the writer of y; with one round, the same */
};

/** g->graph and g->exec: step_launch of n, rounds, rate and scratch, with NULL for y and x. */
static cudaError_t capture(step_graph *g)
{
    /* TODO: capture step_launch in a stream of your own, in any mode. End the capture, also
       after an error of step_launch; destroy the stream; instantiate the graph (about 8 lines). */
    NOT_IMPLEMENTED(g);
    return cudaSuccess;
}

/** g->first and g->last, of g->graph. */
static cudaError_t find_ends(step_graph *g)
{
    size_t count = (size_t)g->rounds;
    cudaGraphNode_t *nodes = (cudaGraphNode_t *)calloc(count, sizeof *nodes);
    cudaError_t error =
        nodes ? cudaGraphGetNodes(g->graph, nodes, &count) : cudaErrorMemoryAllocation;
    for (size_t i = 0; !error && i < count; i++) { /* their order is not specified */
        cudaKernelNodeParams p;
        error = cudaGraphKernelNodeGetParams(nodes[i], &p);
        if (error) break;
        /* TODO: p.kernelParams are the addresses of smooth_kernel's arguments, in their order.
           g->last is the node whose `to` is NULL, g->first the one whose `from` is NULL (about 2
           lines). */
        NOT_IMPLEMENTED(g);
    }
    free(nodes);
    return error;
}

/** From the next launch of g->exec on, the node reads `from` and writes `to`. */
static cudaError_t set_node(step_graph *g, cudaGraphNode_t node, float *to, const float *from)
{
    /* TODO: set all of its parameters: function, grid, block, arguments (about 7 lines). */
    NOT_IMPLEMENTED(g, node, to, from);
    return cudaSuccess;
}

cudaError_t step_graph_create(step_graph **graph, int n, int rounds, float rate)
{
    *graph = NULL;
    step_graph *g = (step_graph *)calloc(1, sizeof *g);
    if (g == NULL) return cudaErrorMemoryAllocation;
    g->n = n;
    g->rounds = rounds;
    g->rate = rate;
    cudaError_t error = cudaSuccess;
    /* TODO: unless there is nothing to do: scratch, graph and its ends (about 5 lines). */
    NOT_IMPLEMENTED(graph, n, rounds, rate);
    if (error) {
        step_graph_free(g);
        return error;
    }
    *graph = g;
    return cudaSuccess;
}

cudaError_t step_graph_run(step_graph *graph, float *y, const float *x, cudaStream_t stream)
{
    /* TODO: nothing captured: step_launch; else x into the first node, y into the last, and one
       launch. set_node sets both pointers: the other one of each is the half of the scratch that
       step_launch gave it. With one round both nodes are the same (about 6 lines). */
    NOT_IMPLEMENTED(graph, y, x, stream);
    return cudaSuccess;
}

cudaError_t step_graph_free(step_graph *graph)
{
    /* TODO: nothing for NULL; else wait for the device, and free what step_graph_create made,
       which may be incomplete after an error (about 6 lines). */
    NOT_IMPLEMENTED(graph);
    return cudaSuccess;
}

/* ---- what a launch costs --------------------------------------------------------------------- */

__global__ static void empty_kernel(void)
{
}

/** Launch empty_kernel so many times. @return nanoseconds of each until the last has returned */
static float submit(int launches, cudaStream_t stream)
{
    double began = seconds_now();
    for (int i = 0; i < launches; i++) empty_kernel<<<1, 1, 0, stream>>>();
    return (float)((seconds_now() - began) * 1e9 / launches);
}

/** The same launches, as an executable graph. The caller destroys it. */
static cudaError_t capture_empty(cudaGraphExec_t *exec, int launches)
{
    /* TODO: capture submit as capture does step_launch; then destroy graph and stream, since
       only *exec is needed (about 9 lines). */
    NOT_IMPLEMENTED(exec, launches);
    return cudaSuccess;
}

cudaError_t launch_overhead_ns(float *h_submit_ns, float *h_launch_ns, float *h_node_ns,
                               int launches, cudaStream_t stream)
{
    cudaGraphExec_t exec;
    CUDA_CHECK(capture_empty(&exec, launches));
    /* TODO: run launches and graph once, to load them, and wait. Then time both: a clock from
       the first launch until the stream is idle, over `launches`. What submit returns is
       *h_submit_ns (about 11 lines). */
    NOT_IMPLEMENTED(h_submit_ns, h_launch_ns, h_node_ns, launches, stream);
    CUDA_CHECK(cudaGraphExecDestroy(exec));
    return cudaGetLastError();
}

/* ---- a kernel that stays --------------------------------------------------------------------- */

#define TILE 16 /* TILE x TILE threads per block, and as many outputs */

/** y[batch x out_features] has `tiles` tiles, counted row by row. Any number of blocks shares them.
 *  bias may be NULL. */
__global__ static void persistent_kernel(float *y, const float *x, const float *w,
                                         const float *bias, int batch, int in_features,
                                         int out_features, int tiles)
{
    __shared__ float x_tile[TILE][TILE + 1], w_tile[TILE][TILE + 1];
    operand x_rows = row_major(x, batch, in_features);
    operand w_rows = row_major(w, out_features, in_features);
    int tiles_across = (out_features + TILE - 1) / TILE;

    /* TODO: a loop over the tiles of this block, around the tiled product of rows of x and rows
       of w, as in 404; every thread takes part in every tile (about 15 lines). */
}

/** How many blocks of persistent_kernel the device holds at once. */
static cudaError_t resident_blocks(int *blocks)
{
    /* TODO: of one multiprocessor by the occupancy API, times how many there are (about 6
       lines). */
    NOT_IMPLEMENTED(blocks);
    return cudaSuccess;
}

cudaError_t linear_forward_persistent(float *y, const float *x, const float *w, const float *bias,
                                      int batch, int in_features, int out_features,
                                      cudaStream_t stream)
{
    /* TODO: count tiles, none for an empty y; launch as many blocks as fit, and no more than
       there are tiles (about 6 lines). */
    NOT_IMPLEMENTED(y, x, w, bias, batch, in_features, out_features, stream);
    return cudaGetLastError();
}
