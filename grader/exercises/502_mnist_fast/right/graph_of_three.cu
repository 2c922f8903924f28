// RIGHT: an epoch is one graph of three kernels a step, captured anew each time, with floats
// throughout
#include "502_mnist_fast/mnist_fast.h"
#include <math.h>
#include <stdlib.h>

#define TILE 16

struct mlp_fast {
    float *all; /* parameters, then m, then v */
    float *x;   /* images as floats */
    float *hidden, *delta, *slope;
    int *labels, taken;
};

struct rates {
    float lr, c1, c2;
    int rows;
};

/* y[rows x MLP_HIDDEN], tile by tile */
__global__ static void hidden_tile(const mlp_fast net, const int *order, int rows)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, unit = blockIdx.x * TILE + tx;
    float sum = net.all[MLP_HIDDEN * MLP_INPUTS + unit];
    for (int k = 0; k < MLP_INPUTS; k += TILE) {
        a[ty][tx] = row < rows ? net.x[(size_t)order[row] * MLP_INPUTS + k + tx] : 0.0f;
        b[ty][tx] = net.all[(blockIdx.x * TILE + ty) * MLP_INPUTS + k + tx];
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += a[ty][i] * b[tx][i];
        __syncthreads();
    }
    if (row < rows) net.hidden[row * MLP_HIDDEN + unit] = sum > 0.0f ? sum : 0.0f;
}

/* One block: a thread an image, then each sum by a thread. */
__global__ static void __launch_bounds__(1024)
    losses_of_all(const mlp_fast net, const int *order, rates r, float *mean)
{
    __shared__ float loss[1024];
    const float *w2 = net.all + MLP_HIDDEN * (MLP_INPUTS + 1),
                *bias2 = w2 + MLP_CLASSES * MLP_HIDDEN;
    const int row = threadIdx.x;
    if (row < r.rows) {
        const float *h = net.hidden + row * MLP_HIDDEN;
        float z[MLP_CLASSES], top = -INFINITY, sum = 0.0f;
        const int label = net.labels[order[row]];
        for (int c = 0; c < MLP_CLASSES; c++) {
            z[c] = bias2[c];
            for (int i = 0; i < MLP_HIDDEN; i++) z[c] += w2[c * MLP_HIDDEN + i] * h[i];
            top = fmaxf(top, z[c]);
        }
        for (int c = 0; c < MLP_CLASSES; c++) sum += expf(z[c] - top);
        loss[row] = logf(sum) + top - z[label];
        for (int c = 0; c < MLP_CLASSES; c++)
            net.delta[row * MLP_CLASSES + c] = (expf(z[c] - top) / sum - (c == label)) / r.rows;
        for (int i = 0; i < MLP_HIDDEN; i++) {
            float s = 0.0f;
            for (int c = 0; c < MLP_CLASSES; c++)
                s += net.delta[row * MLP_CLASSES + c] * w2[c * MLP_HIDDEN + i];
            net.slope[row * MLP_HIDDEN + i] = h[i] > 0.0f ? s : 0.0f;
        }
    }
    __syncthreads();
    if (row == 0 && mean) {
        float sum = 0.0f;
        for (int i = 0; i < r.rows; i++) sum += loss[i];
        *mean = sum / r.rows;
    }
}

__device__ static void step_of(const mlp_fast net, rates r, int i, float g)
{
    float *w = net.all + i, *m = w + MLP_PARAMS, *v = m + MLP_PARAMS;
    *m += 0.1f * (g - *m);
    *v = 0.999f * *v + 0.001f * g * g;
    *w -= r.lr * (*m / r.c1) / (sqrtf(*v / r.c2) + 1e-8f);
}

/* A thread a parameter. */
__global__ static void learn_all(const mlp_fast net, const int *order, rates r)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = i;
    float g = 0.0f;
    if (i >= MLP_PARAMS) return;
    if (j < MLP_HIDDEN * MLP_INPUTS) {
        for (int n = 0; n < r.rows; n++)
            g += net.slope[n * MLP_HIDDEN + j / MLP_INPUTS] *
                 net.x[(size_t)order[n] * MLP_INPUTS + j % MLP_INPUTS];
    } else if ((j -= MLP_HIDDEN * MLP_INPUTS) < MLP_HIDDEN) {
        for (int n = 0; n < r.rows; n++) g += net.slope[n * MLP_HIDDEN + j];
    } else if ((j -= MLP_HIDDEN) < MLP_CLASSES * MLP_HIDDEN) {
        for (int n = 0; n < r.rows; n++)
            g += net.delta[n * MLP_CLASSES + j / MLP_HIDDEN] *
                 net.hidden[n * MLP_HIDDEN + j % MLP_HIDDEN];
    } else {
        j -= MLP_CLASSES * MLP_HIDDEN;
        for (int n = 0; n < r.rows; n++) g += net.delta[n * MLP_CLASSES + j];
    }
    step_of(net, r, i, g);
}

cudaError_t mlp_fast_create(mlp_fast **net, const float *h_params, const unsigned char *h_images,
                            const int *h_labels, int count)
{
    const size_t pixels = (size_t)count * MLP_INPUTS;
    float *x = (float *)malloc((pixels + 1) * sizeof *x);
    mlp_fast *n = (mlp_fast *)calloc(1, sizeof *n);
    *net = NULL;
    for (size_t i = 0; i < pixels; i++) x[i] = h_images[i] / 255.0f;
    cudaMalloc((void **)&n->all, 3 * MLP_PARAMS * sizeof(float));
    cudaMalloc((void **)&n->x, (pixels + 1) * sizeof(float));
    cudaMalloc((void **)&n->labels, (count + 1) * sizeof(int));
    cudaMalloc((void **)&n->hidden, MLP_FAST_BATCH * MLP_HIDDEN * sizeof(float));
    cudaMalloc((void **)&n->slope, MLP_FAST_BATCH * MLP_HIDDEN * sizeof(float));
    cudaMalloc((void **)&n->delta, MLP_FAST_BATCH * MLP_CLASSES * sizeof(float));
    cudaMemset(n->all, 0, 3 * MLP_PARAMS * sizeof(float));
    cudaMemcpy(n->all, h_params, MLP_PARAMS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(n->x, x, pixels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(n->labels, h_labels, count * sizeof(int), cudaMemcpyHostToDevice);
    free(x);
    cudaDeviceSynchronize();
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        mlp_fast_free(n);
    else
        *net = n;
    return error;
}

/* All launches of an epoch, into a stream that takes notes. */
static void launches(mlp_fast *net, float *d_losses, const int *d_order, int n, int batch,
                     float first_lr, float last_lr, cudaStream_t stream)
{
    const int steps = (n - 1) / batch + 1;
    for (int i = 0; i < steps; i++, d_order += batch) {
        const int rows = n - i * batch < batch ? n - i * batch : batch;
        const int t = net->taken + i + 1;
        const rates r = {first_lr + (last_lr - first_lr) * i / steps, (float)(1.0 - pow(0.9, t)),
                         (float)(1.0 - pow(0.999, t)), rows};
        const dim3 tiles(MLP_HIDDEN / TILE, (rows + TILE - 1) / TILE), tile(TILE, TILE);
        hidden_tile<<<tiles, tile, 0, stream>>>(*net, d_order, rows);
        losses_of_all<<<1, (rows + 31) / 32 * 32, 0, stream>>>(*net, d_order, r,
                                                               d_losses ? d_losses + i : NULL);
        learn_all<<<(MLP_PARAMS + 255) / 256, 256, 0, stream>>>(*net, d_order, r);
    }
    net->taken += steps;
}

cudaError_t mlp_fast_train_epoch(mlp_fast *net, float *d_losses, const int *d_order, int n,
                                 int batch, float first_lr, float last_lr, cudaStream_t stream)
{
    if (batch < 1 || batch > MLP_FAST_BATCH) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    cudaStream_t notes = NULL;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    cudaStreamCreate(&notes);
    cudaStreamBeginCapture(notes, cudaStreamCaptureModeThreadLocal);
    launches(net, d_losses, d_order, n, batch, first_lr, last_lr, notes);
    cudaStreamEndCapture(notes, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, stream);
    const cudaError_t error = cudaGetLastError(); /* of any of these */
    if (ready) cudaGraphExecDestroy(ready);
    if (graph) cudaGraphDestroy(graph);
    if (notes) cudaStreamDestroy(notes);
    return error;
}

cudaError_t mlp_fast_get_params(mlp_fast *net, float *h_params)
{
    if (cudaError_t error = cudaDeviceSynchronize()) return error;
    return cudaMemcpy(h_params, net->all, MLP_PARAMS * sizeof(float), cudaMemcpyDeviceToHost);
}

cudaError_t mlp_fast_free(mlp_fast *net)
{
    if (!net) return cudaSuccess;
    cudaFree(net->all);
    cudaFree(net->x);
    cudaFree(net->hidden);
    cudaFree(net->delta);
    cudaFree(net->slope);
    cudaFree(net->labels);
    free(net);
    return cudaGetLastError();
}
