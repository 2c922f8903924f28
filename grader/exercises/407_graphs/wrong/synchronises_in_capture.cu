// WRONG: graph_1_by_1 | StreamCapture
/* Waits for each round, "to be sure". A stream that captures has nothing to wait for. */
#include "optimization.h"
#include "cuda_check.h"
#include "timer.h"
#include <stdlib.h>

#define BLOCK 256

__global__ static void smooth_kernel(float *to, const float *from, int n, float rate)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    float here = from[i];
    float left = i > 0 ? from[i - 1] : here, right = i + 1 < n ? from[i + 1] : here;
    to[i] = here + rate * (left - 2.0f * here + right);
}

static unsigned blocks_for(int n)
{
    return (unsigned)((n + BLOCK - 1) / BLOCK);
}

cudaError_t step_launch(float *y, const float *x, float *scratch, int n, int rounds, float rate,
                        cudaStream_t stream)
{
    if (n == 0) return cudaSuccess; /* an empty grid is a launch error */
    if (rounds == 0) return cudaMemcpyAsync(y, x, n * sizeof *y, cudaMemcpyDeviceToDevice, stream);
    for (int i = 0; i < rounds; i++) {
        const float *from = i == 0 ? x : scratch + (size_t)((i - 1) % 2) * n;
        float *to = i == rounds - 1 ? y : scratch + (size_t)(i % 2) * n;
        smooth_kernel<<<blocks_for(n), BLOCK, 0, stream>>>(to, from, n, rate);
        CUDA_CHECK(cudaStreamSynchronize(stream));
    }
    return cudaGetLastError();
}

/* ---- the step as a graph --------------------------------------------------------------------- */

struct step_graph {
    int n, rounds;
    float rate;
    float *scratch;              /* [2 x n] */
    cudaGraph_t graph;           /* stays: it is what names the nodes */
    cudaGraphExec_t exec;        /* NULL: no rounds or no elements, so there is nothing to replay */
    cudaGraphNode_t first, last; /* the readers of x and writers of y; of one round, the same */
};

static cudaError_t capture(step_graph *g)
{
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (!error) error = step_launch(NULL, NULL, g->scratch, g->n, g->rounds, g->rate, stream);
    cudaError_t ended = cudaStreamEndCapture(stream, &g->graph); /* also after an error */
    cudaStreamDestroy(stream);
    if (!error) error = ended;
    return error ? error : cudaGraphInstantiate(&g->exec, g->graph, 0);
}

static cudaError_t find_ends(step_graph *g)
{
    size_t count = (size_t)g->rounds;
    cudaGraphNode_t *nodes = (cudaGraphNode_t *)calloc(count, sizeof *nodes);
    cudaError_t error =
        nodes ? cudaGraphGetNodes(g->graph, nodes, &count) : cudaErrorMemoryAllocation;
    for (size_t i = 0; !error && i < count; i++) { /* in no order that is promised */
        cudaKernelNodeParams p;
        error = cudaGraphKernelNodeGetParams(nodes[i], &p);
        if (error) break;
        if (*(float **)p.kernelParams[0] == NULL) g->last = nodes[i];
        if (*(float **)p.kernelParams[1] == NULL) g->first = nodes[i];
    }
    free(nodes);
    return error;
}

static cudaError_t set_node(step_graph *g, cudaGraphNode_t node, float *to, const float *from)
{
    void *arguments[] = {&to, &from, &g->n, &g->rate};
    cudaKernelNodeParams p = {};
    p.func = (void *)smooth_kernel;
    p.gridDim = dim3(blocks_for(g->n));
    p.blockDim = dim3(BLOCK);
    p.kernelParams = arguments; /* copied before the call returns */
    return cudaGraphExecKernelNodeSetParams(g->exec, node, &p);
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
    if (n > 0 && rounds > 0) {
        error = cudaMalloc((void **)&g->scratch, 2 * sizeof(float) * (size_t)n);
        if (!error) error = capture(g);
        if (!error) error = find_ends(g);
    }
    if (error) {
        step_graph_free(g);
        return error;
    }
    *graph = g;
    return cudaSuccess;
}

cudaError_t step_graph_run(step_graph *graph, float *y, const float *x, cudaStream_t stream)
{
    step_graph *g = graph;
    if (g->exec == NULL) return step_launch(y, x, NULL, g->n, g->rounds, g->rate, stream);
    bool alone = g->rounds == 1;
    CUDA_CHECK(set_node(g, g->first, alone ? y : g->scratch, x));
    if (!alone) CUDA_CHECK(set_node(g, g->last, y, g->scratch + (size_t)(g->rounds % 2) * g->n));
    CUDA_CHECK(cudaGraphLaunch(g->exec, stream)); /* an earlier run keeps the pointers it had */
    return cudaSuccess;
}

cudaError_t step_graph_free(step_graph *graph)
{
    if (graph == NULL) return cudaSuccess;
    CUDA_CHECK(cudaDeviceSynchronize());
    if (graph->exec) CUDA_CHECK(cudaGraphExecDestroy(graph->exec));
    if (graph->graph) CUDA_CHECK(cudaGraphDestroy(graph->graph));
    CUDA_CHECK(cudaFree(graph->scratch));
    free(graph);
    return cudaSuccess;
}

/* ---- what a launch costs --------------------------------------------------------------------- */

__global__ static void empty_kernel(void)
{
}

static float submit(int launches, cudaStream_t stream)
{
    double began = seconds_now();
    for (int i = 0; i < launches; i++) empty_kernel<<<1, 1, 0, stream>>>();
    return (float)((seconds_now() - began) * 1e9 / launches);
}

static cudaError_t capture_empty(cudaGraphExec_t *exec, int launches)
{
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    submit(launches, stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(exec, graph, 0));
    CUDA_CHECK(cudaGraphDestroy(graph));
    return cudaStreamDestroy(stream);
}

cudaError_t launch_overhead_ns(float *h_submit_ns, float *h_launch_ns, float *h_node_ns,
                               int launches, cudaStream_t stream)
{
    cudaGraphExec_t exec;
    CUDA_CHECK(capture_empty(&exec, launches));
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
    CUDA_CHECK(cudaGraphExecDestroy(exec));
    return cudaGetLastError();
}

/* ---- a kernel that stays --------------------------------------------------------------------- */

#define TILE 16

/** Load the tile of a matrix [rows x cols] at (row, col), with zeros where it hangs over the edge.
 */
__device__ static void load_tile(float (*tile)[TILE + 1], const float *matrix, int rows, int cols,
                                 int row, int col)
{
    row += threadIdx.y;
    col += threadIdx.x;
    bool inside = row < rows && col < cols;
    tile[threadIdx.y][threadIdx.x] = inside ? matrix[(size_t)row * cols + col] : 0.0f;
}

__global__ static void persistent_kernel(float *y, const float *x, const float *w,
                                         const float *bias, int batch, int in_features,
                                         int out_features, int tiles)
{
    __shared__ float x_tile[TILE][TILE + 1], w_tile[TILE][TILE + 1];
    int tiles_across = (out_features + TILE - 1) / TILE;

    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int row = tile / tiles_across * TILE, col = tile % tiles_across * TILE;
        float sum = 0.0f;
        for (int k = 0; k < in_features; k += TILE) {
            load_tile(x_tile, x, batch, in_features, row, k);
            load_tile(w_tile, w, out_features, in_features, col, k);
            __syncthreads(); /* both tiles are complete before anybody reads them */
            for (int i = 0; i < TILE; i++) sum += x_tile[threadIdx.y][i] * w_tile[threadIdx.x][i];
            __syncthreads(); /* everybody has read before the next load, of this tile or another */
        }
        row += threadIdx.y;
        col += threadIdx.x;
        if (row < batch && col < out_features)
            y[(size_t)row * out_features + col] = sum + (bias ? bias[col] : 0.0f);
    } /* no return: a thread beyond the edge of one tile is needed in the next */
}

static cudaError_t resident_blocks(int *blocks)
{
    int device, multiprocessors, each;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, persistent_kernel, TILE * TILE, 0));
    *blocks = each * multiprocessors;
    return cudaSuccess;
}

cudaError_t linear_forward_persistent(float *y, const float *x, const float *w, const float *bias,
                                      int batch, int in_features, int out_features,
                                      cudaStream_t stream)
{
    if (batch == 0 || out_features == 0) return cudaSuccess; /* an empty grid is a launch error */
    int tiles = ((batch + TILE - 1) / TILE) * ((out_features + TILE - 1) / TILE), blocks;
    dim3 block(TILE, TILE);
    CUDA_CHECK(resident_blocks(&blocks));
    if (blocks > tiles) blocks = tiles;
    persistent_kernel<<<blocks, block, 0, stream>>>(y, x, w, bias, batch, in_features, out_features,
                                                    tiles);
    return cudaGetLastError();
}
