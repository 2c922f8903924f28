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
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
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
    /* SOLUTION: nothing for n = 0, a copy for rounds = 0; else x to scratch, back and forth between
       its halves, and the last round to y (about 8 lines). */
    if (n == 0) return cudaSuccess; /* an empty grid is a launch error */
    if (rounds == 0) return cudaMemcpyAsync(y, x, n * sizeof *y, cudaMemcpyDeviceToDevice, stream);
    for (int i = 0; i < rounds; i++) {
        const float *from = i == 0 ? x : scratch + (size_t)((i - 1) % 2) * n;
        float *to = i == rounds - 1 ? y : scratch + (size_t)(i % 2) * n;
        smooth_kernel<<<blocks_for(n), BLOCK, 0, stream>>>(to, from, n, rate);
    }
    /* END SOLUTION */
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
    /* SOLUTION: capture step_launch in a stream of your own, in any mode. End the capture, also
       after an error of step_launch; destroy the stream; instantiate the graph (about 8 lines). */
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (!error) error = step_launch(NULL, NULL, g->scratch, g->n, g->rounds, g->rate, stream);
    cudaError_t ended = cudaStreamEndCapture(stream, &g->graph); /* also after an error */
    cudaStreamDestroy(stream);
    if (!error) error = ended;
    return error ? error : cudaGraphInstantiate(&g->exec, g->graph, 0);
    /* END SOLUTION */
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
        /* SOLUTION: p.kernelParams are the addresses of smooth_kernel's arguments, in their order.
           g->last is the node whose `to` is NULL, g->first the one whose `from` is NULL (about 2
           lines). */
        if (*(float **)p.kernelParams[0] == NULL) g->last = nodes[i];
        if (*(float **)p.kernelParams[1] == NULL) g->first = nodes[i];
        /* END SOLUTION */
    }
    free(nodes);
    return error;
}

/** From the next launch of g->exec on, the node reads `from` and writes `to`. */
static cudaError_t set_node(step_graph *g, cudaGraphNode_t node, float *to, const float *from)
{
    /* SOLUTION: set all of its parameters: function, grid, block, arguments (about 7 lines). */
    void *arguments[] = {&to, &from, &g->n, &g->rate};
    cudaKernelNodeParams p = {};
    p.func = (void *)smooth_kernel;
    p.gridDim = dim3(blocks_for(g->n));
    p.blockDim = dim3(BLOCK);
    p.kernelParams = arguments; /* copied before the call returns */
    return cudaGraphExecKernelNodeSetParams(g->exec, node, &p);
    /* END SOLUTION */
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
    /* SOLUTION: unless there is nothing to do: scratch, graph and its ends (about 5 lines). */
    if (n > 0 && rounds > 0) {
        error = cudaMalloc((void **)&g->scratch, 2 * sizeof(float) * (size_t)n);
        if (!error) error = capture(g);
        if (!error) error = find_ends(g);
    }
    /* END SOLUTION */
    if (error) {
        step_graph_free(g);
        return error;
    }
    *graph = g;
    return cudaSuccess;
}

cudaError_t step_graph_run(step_graph *graph, float *y, const float *x, cudaStream_t stream)
{
    /* SOLUTION: nothing captured: step_launch; else x into the first node, y into the last, and one
       launch. set_node sets both pointers: the other one of each is the half of the scratch that
       step_launch gave it. With one round both nodes are the same (about 6 lines). */
    step_graph *g = graph;
    if (g->exec == NULL) return step_launch(y, x, NULL, g->n, g->rounds, g->rate, stream);
    bool alone = g->rounds == 1;
    CUDA_CHECK(set_node(g, g->first, alone ? y : g->scratch, x));
    if (!alone) CUDA_CHECK(set_node(g, g->last, y, g->scratch + (size_t)(g->rounds % 2) * g->n));
    CUDA_CHECK(cudaGraphLaunch(g->exec, stream)); /* an earlier run keeps the pointers it had */
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t step_graph_free(step_graph *graph)
{
    /* SOLUTION: nothing for NULL; else wait for the device, and free what step_graph_create made,
       which may be incomplete after an error (about 6 lines). */
    if (graph == NULL) return cudaSuccess;
    CUDA_CHECK(cudaDeviceSynchronize());
    if (graph->exec) CUDA_CHECK(cudaGraphExecDestroy(graph->exec));
    if (graph->graph) CUDA_CHECK(cudaGraphDestroy(graph->graph));
    CUDA_CHECK(cudaFree(graph->scratch));
    free(graph);
    /* END SOLUTION */
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
    /* SOLUTION: capture submit as capture does step_launch; then destroy graph and stream, since
       only *exec is needed (about 9 lines). */
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    submit(launches, stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(exec, graph, 0));
    CUDA_CHECK(cudaGraphDestroy(graph));
    return cudaStreamDestroy(stream);
    /* END SOLUTION */
}

cudaError_t launch_overhead_ns(float *h_submit_ns, float *h_launch_ns, float *h_node_ns,
                               int launches, cudaStream_t stream)
{
    cudaGraphExec_t exec;
    CUDA_CHECK(capture_empty(&exec, launches));
    /* SOLUTION: run launches and graph once, to load them, and wait. Then time both: a clock from
       the first launch until the stream is idle, over `launches`. What submit returns is
       *h_submit_ns (about 11 lines). */
    submit(launches, stream); /* the first launches load the kernel, and the graph */
    CUDA_CHECK(cudaGraphLaunch(exec, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));

    double began = seconds_now();
    *h_submit_ns = submit(launches, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    *h_launch_ns = (float)((seconds_now() - began) * 1e9 / launches);

    began = seconds_now();
    CUDA_CHECK(cudaGraphLaunch(exec, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    *h_node_ns = (float)((seconds_now() - began) * 1e9 / launches);
    /* END SOLUTION */
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

    /* SOLUTION: a loop over the tiles of this block, around the tiled product of rows of x and rows
       of w, as in 404; every thread takes part in every tile (about 15 lines). */
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int row = tile / tiles_across * TILE, col = tile % tiles_across * TILE;
        float sum = 0.0f;
        for (int k = 0; k < in_features; k += TILE) {
            load_tile(x_tile, x_rows, 0, row, k);
            load_tile(w_tile, w_rows, 0, col, k);
            __syncthreads(); /* both tiles are complete before any thread reads them */
            for (int i = 0; i < TILE; i++) sum += x_tile[threadIdx.y][i] * w_tile[threadIdx.x][i];
            __syncthreads(); /* all have read before the next load, of this tile or another */
        }
        row += threadIdx.y;
        col += threadIdx.x;
        if (row < batch && col < out_features)
            y[(size_t)row * out_features + col] = sum + (bias ? bias[col] : 0.0f);
    } /* no return: a thread beyond the edge of one tile is needed in the next */
    /* END SOLUTION */
}

/** How many blocks of persistent_kernel the device holds at once. */
static cudaError_t resident_blocks(int *blocks)
{
    /* SOLUTION: of one multiprocessor by the occupancy API, times how many there are (about 6
       lines). */
    int device, multiprocessors, each;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, persistent_kernel, TILE * TILE, 0));
    *blocks = each * multiprocessors;
    /* END SOLUTION */
    return cudaSuccess;
}

cudaError_t linear_forward_persistent(float *y, const float *x, const float *w, const float *bias,
                                      int batch, int in_features, int out_features,
                                      cudaStream_t stream)
{
    /* SOLUTION: count tiles, none for an empty y; launch as many blocks as fit, and no more than
       there are tiles (about 6 lines). */
    if (batch == 0 || out_features == 0) return cudaSuccess; /* an empty grid is a launch error */
    int tiles = ((batch + TILE - 1) / TILE) * ((out_features + TILE - 1) / TILE), blocks;
    dim3 block(TILE, TILE);
    CUDA_CHECK(resident_blocks(&blocks));
    if (blocks > tiles) blocks = tiles;
    persistent_kernel<<<blocks, block, 0, stream>>>(y, x, w, bias, batch, in_features, out_features,
                                                    tiles);
    /* END SOLUTION */
    return cudaGetLastError();
}
