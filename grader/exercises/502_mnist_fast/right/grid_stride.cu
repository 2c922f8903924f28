// RIGHT: a persistent kernel whose threads share every phase evenly, weights in device memory,
// three barriers a step
#include "502_mnist_fast/mnist_fast.h"
#include <cooperative_groups.h>
#include <stdlib.h>

namespace cg = cooperative_groups;

#define D MLP_INPUTS
#define H MLP_HIDDEN
#define C MLP_CLASSES

/* All that the device needs, in one allocation; p is what learns. */
typedef struct board {
    float p[MLP_PARAMS], m[MLP_PARAMS], v[MLP_PARAMS];
    float hidden[MLP_FAST_BATCH * H], back[MLP_FAST_BATCH * H], out[MLP_FAST_BATCH * C];
    float loss[MLP_FAST_BATCH];
    double power1, power2;
} board;

struct mlp_fast {
    board *d;
    unsigned char *images;
    int *labels;
};

__device__ static float hidden_of(const board *b, const unsigned char *x, int unit)
{
    float sum = 0.0f;
    for (int i = 0; i < D; i++) sum += b->p[unit * D + i] * (x[i] / 255.0f);
    sum += b->p[H * D + unit];
    return fmaxf(sum, 0.0f);
}

__device__ static void image_of(board *b, int row, int label, int rows)
{
    const float *w2 = b->p + H * D + H, *h = b->hidden + row * H;
    float *out = b->out + row * C, sum = 0.0f, most = -1e30f, right = 0.0f;
    for (int c = 0; c < C; c++) {
        out[c] = w2[C * H + c];
        for (int i = 0; i < H; i++) out[c] += w2[c * H + i] * h[i];
        if (out[c] > most) most = out[c];
    }
    for (int c = 0; c < C; c++) {
        if (c == label) right = out[c] - most;
        sum += out[c] = expf(out[c] - most);
    }
    for (int c = 0; c < C; c++) out[c] = (out[c] / sum - (c == label)) / (float)rows;
    b->loss[row] = logf(sum) - right;
}

__device__ static float slope_of(const board *b, int row, int unit)
{
    float sum = 0.0f;
    for (int c = 0; c < C; c++) sum += b->out[row * C + c] * b->p[H * D + H + c * H + unit];
    return b->hidden[row * H + unit] > 0.0f ? sum : 0.0f;
}

__device__ static float gradient(const board *b, const unsigned char *images, const int *order,
                                 int rows, int i)
{
    float sum = 0.0f;
    for (int r = 0; r < rows; r++) {
        if (i < H * D)
            sum += b->back[r * H + i / D] * (images[(size_t)order[r] * D + i % D] / 255.0f);
        else if (i < H * D + H)
            sum += b->back[r * H + i - H * D];
        else if (i < MLP_PARAMS - C)
            sum += b->out[r * C + (i - H * D - H) / H] * b->hidden[r * H + (i - H * D - H) % H];
        else
            sum += b->out[r * C + i - (MLP_PARAMS - C)];
    }
    return sum;
}

__global__ static void train(board *b, const unsigned char *images, const int *labels,
                             float *losses, const int *order, int n, int batch, float lr0,
                             float lr1)
{
    cg::grid_group all = cg::this_grid();
    const int id = (int)all.thread_rank(), many = (int)all.size();
    const int steps = (n + batch - 1) / batch;
    double power1 = b->power1, power2 = b->power2;
    for (int s = 0; s < steps; s++, order += batch) {
        const int rows = min(batch, n - s * batch);
        const float lr = lr0 + (lr1 - lr0) * s / steps;
        power1 *= 0.9;
        power2 *= 0.999;
        for (int i = id; i < rows * H; i += many)
            b->hidden[i] = hidden_of(b, images + (size_t)order[i / H] * D, i % H);
        all.sync();
        for (int r = id; r < rows; r += many) image_of(b, r, labels[order[r]], rows);
        all.sync();
        for (int i = id; i < rows * H; i += many) b->back[i] = slope_of(b, i / H, i % H);
        if (id == 0 && losses) {
            float sum = 0.0f;
            for (int r = 0; r < rows; r++) sum += b->loss[r];
            losses[s] = sum / rows;
        }
        all.sync();
        for (int i = id; i < MLP_PARAMS; i += many) {
            const float g = gradient(b, images, order, rows, i);
            b->m[i] = 0.9f * b->m[i] + 0.1f * g;
            b->v[i] = 0.999f * b->v[i] + 0.001f * g * g;
            b->p[i] -= lr * b->m[i] / (float)(1.0 - power1) /
                       (sqrtf(b->v[i] / (float)(1.0 - power2)) + 1e-8f);
        }
        all.sync();
    }
    if (id == 0) {
        b->power1 = power1;
        b->power2 = power2;
    }
}

cudaError_t mlp_fast_create(mlp_fast **net, const float *h_params, const unsigned char *h_images,
                            const int *h_labels, int count)
{
    const double ones[2] = {1.0, 1.0};
    mlp_fast *f = *net = (mlp_fast *)calloc(1, sizeof *f);
    cudaMalloc((void **)&f->d, sizeof *f->d);
    cudaMalloc((void **)&f->images, (size_t)count * D + 1);
    cudaMalloc((void **)&f->labels, (size_t)count * sizeof(int) + 1);
    cudaMemset(f->d, 0, sizeof *f->d);
    cudaMemcpy(f->d->p, h_params, sizeof f->d->p, cudaMemcpyHostToDevice);
    cudaMemcpy(&f->d->power1, ones, sizeof ones, cudaMemcpyHostToDevice);
    cudaMemcpy(f->images, h_images, (size_t)count * D, cudaMemcpyHostToDevice);
    cudaMemcpy(f->labels, h_labels, (size_t)count * sizeof(int), cudaMemcpyHostToDevice);
    return cudaDeviceSynchronize();
}

cudaError_t mlp_fast_train_epoch(mlp_fast *net, float *d_losses, const int *d_order, int n,
                                 int batch, float first_lr, float last_lr, cudaStream_t stream)
{
    int device, count, each;
    if (batch < 1 || batch > MLP_FAST_BATCH) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, train, 256, 0);
    void *given[] = {&net->d, &net->images, &net->labels, &d_losses, &d_order,
                     &n,      &batch,       &first_lr,    &last_lr};
    return cudaLaunchCooperativeKernel((void *)train, count * each, 256, given, 0, stream);
}

cudaError_t mlp_fast_get_params(mlp_fast *net, float *h_params)
{
    cudaDeviceSynchronize();
    return cudaMemcpy(h_params, net->d->p, sizeof net->d->p, cudaMemcpyDeviceToHost);
}

cudaError_t mlp_fast_free(mlp_fast *net)
{
    if (net == NULL) return cudaSuccess;
    cudaFree(net->d);
    cudaFree(net->images);
    cudaFree(net->labels);
    free(net);
    return cudaGetLastError();
}
