// RIGHT: kernels find x and y in a table on the device, which a launch before the graph fills
#include "212_matmul_transposed/matmul_transposed.h"
#include "407_graphs/graphs.h"
#include "cuda_check.h"
#include "timer.h"
#include <stdlib.h>

#define THREADS 128

typedef struct ends {
    const float *x;
    float *y;
} ends;

__device__ static void smooth(float *to, const float *from, int n, float rate)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float left = from[max(i - 1, 0)], right = from[min(i + 1, n - 1)];
    to[i] = (1.0f - 2.0f * rate) * from[i] + rate * (left + right);
}

/* NULL: look in the table. */
__global__ static void smooth_kernel(float *to, const float *from, const ends *table, int n,
                                     float rate)
{
    smooth(to ? to : table->y, from ? from : table->x, n, rate);
}

__global__ static void set_ends(ends *table, float *y, const float *x)
{
    table->x = x;
    table->y = y;
}

static cudaError_t launch_all(float *y, const float *x, float *scratch, const ends *table, int n,
                              int rounds, float rate, cudaStream_t stream)
{
    float *half[2] = {scratch, scratch + n};
    for (int i = 0; i < rounds; i++) {
        smooth_kernel<<<(n + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
            i + 1 < rounds ? half[i & 1] : y, i > 0 ? half[~i & 1] : x, table, n, rate);
    }
    return cudaGetLastError();
}

cudaError_t step_launch(float *y, const float *x, float *scratch, int n, int rounds, float rate,
                        cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    if (rounds > 0) return launch_all(y, x, scratch, NULL, n, rounds, rate, stream);
    return cudaMemcpyAsync(y, x, sizeof(float) * n, cudaMemcpyDeviceToDevice, stream);
}

struct step_graph {
    int n, rounds;
    float *scratch;
    ends *table;
    cudaGraphExec_t exec;
};

static cudaError_t build(step_graph *g, float rate)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    CUDA_CHECK(cudaMalloc((void **)&g->scratch, sizeof(float) * 2 * g->n));
    CUDA_CHECK(cudaMalloc((void **)&g->table, sizeof *g->table));
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaError_t error =
        launch_all(NULL, NULL, g->scratch, g->table, g->n, g->rounds, rate, stream);
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (!error) error = ended;
    if (!error) error = cudaGraphInstantiate(&g->exec, graph, 0);
    if (!ended) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    return error;
}

cudaError_t step_graph_create(step_graph **graph, int n, int rounds, float rate)
{
    step_graph *g = *graph = (step_graph *)calloc(1, sizeof *g);
    if (g == NULL) return cudaErrorMemoryAllocation;
    g->n = n;
    g->rounds = rounds;
    if (n == 0 || rounds == 0) return cudaSuccess;
    cudaError_t error = build(g, rate);
    if (!error) return cudaSuccess;
    step_graph_free(g);
    *graph = NULL;
    return error;
}

cudaError_t step_graph_run(step_graph *graph, float *y, const float *x, cudaStream_t stream)
{
    if (graph->exec == NULL) return step_launch(y, x, NULL, graph->n, 0, 0.0f, stream);
    set_ends<<<1, 1, 0, stream>>>(graph->table, y, x);
    CUDA_CHECK(cudaGetLastError());
    return cudaGraphLaunch(graph->exec, stream);
}

cudaError_t step_graph_free(step_graph *graph)
{
    if (graph == NULL) return cudaSuccess;
    if (graph->exec) CUDA_CHECK(cudaGraphExecDestroy(graph->exec));
    CUDA_CHECK(cudaFree(graph->scratch)); /* waits */
    CUDA_CHECK(cudaFree(graph->table));
    free(graph);
    return cudaSuccess;
}

__global__ static void empty(void)
{
}

/* From an idle stream to an idle stream; @param h_submit_ns NULL: one launch of the graph. */
static cudaError_t measure(float *h_submit_ns, float *h_ns, int launches, cudaGraphExec_t exec,
                           cudaStream_t stream)
{
    CUDA_CHECK(cudaStreamSynchronize(stream));
    double began = seconds_now();
    for (int i = 0; h_submit_ns && i < launches; i++) empty<<<1, 32, 0, stream>>>();
    if (h_submit_ns) *h_submit_ns = (float)(1e9 * (seconds_now() - began) / launches);
    CUDA_CHECK(cudaGetLastError());
    if (!h_submit_ns) CUDA_CHECK(cudaGraphLaunch(exec, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    *h_ns = (float)(1e9 * (seconds_now() - began) / launches);
    return cudaSuccess;
}

/* The second of two measurements counts. */
cudaError_t launch_overhead_ns(float *h_submit_ns, float *h_launch_ns, float *h_node_ns,
                               int launches, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStream_t side;
    CUDA_CHECK(cudaStreamCreate(&side));
    CUDA_CHECK(cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < launches; i++) empty<<<1, 32, 0, side>>>();
    CUDA_CHECK(cudaStreamEndCapture(side, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        CUDA_CHECK(measure(h_submit_ns, h_launch_ns, launches, exec, stream));
        CUDA_CHECK(measure(NULL, h_node_ns, launches, exec, stream));
    }
    CUDA_CHECK(cudaGraphExecDestroy(exec));
    CUDA_CHECK(cudaGraphDestroy(graph));
    return cudaStreamDestroy(side);
}

/* A tile is a row of x and 64 outputs: a warp an output, its lanes share the sum. */
#define OUTPUTS 64

__global__ static void rows_kernel(float *y, const float *x, const float *w, const float *bias,
                                   int in, int out, int parts, int tiles)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int row = tile / parts, first = tile % parts * OUTPUTS;
        const float *features = x + (size_t)row * in;
        for (int c = first + warp; c < min(first + OUTPUTS, out); c += warps) {
            float sum = 0.0f;
            for (int k = lane; k < in; k += 32) sum += features[k] * w[(size_t)c * in + k];
            for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
            if (lane == 0) y[(size_t)row * out + c] = bias ? sum + bias[c] : sum;
        }
    }
}

cudaError_t linear_forward_persistent(float *y, const float *x, const float *w, const float *bias,
                                      int batch, int in_features, int out_features,
                                      cudaStream_t stream)
{
    int parts = (out_features + OUTPUTS - 1) / OUTPUTS, tiles = batch * parts, each, count;
    CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, rows_kernel, THREADS, 0));
    int blocks = min(tiles, each * count);
    if (blocks > 0)
        rows_kernel<<<blocks, THREADS, 0, stream>>>(y, x, w, bias, in_features, out_features, parts,
                                                    tiles);
    return cudaGetLastError();
}
