/*
 * The frozen baseline of 507: ResNet-18 in fp32 as 505 has it, layer by layer: implicit GEMM with
 * 4 x 4 outputs a thread, batch normalization, addition and ReLU each in a kernel of its own, NCHW.
 */
#include "resnet18_layout.h"
#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>

#define TILE 64
#define TAPS 16
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) return error;                                                    \
    } while (0)

typedef struct conv {
    int in_channels, in_side, out_channels, out_side, kernel, stride, pad, taps, pixels;
} conv;

__device__ static float column_element(const float *x, int pixel, int tap, conv c)
{
    if (pixel >= c.pixels || tap >= c.taps) return 0.0f;
    const int place = c.out_side * c.out_side, image = pixel / place, at = pixel % place;
    const int s = tap % c.kernel, r = tap / c.kernel % c.kernel,
              channel = tap / c.kernel / c.kernel;
    const int row = at / c.out_side * c.stride - c.pad + r;
    const int col = at % c.out_side * c.stride - c.pad + s;
    if (row < 0 || row >= c.in_side || col < 0 || col >= c.in_side) return 0.0f;
    return x[(((size_t)image * c.in_channels + channel) * c.in_side + row) * c.in_side + col];
}

__global__ static void conv_kernel(float *y, const float *x, const float *w, const float *bias,
                                   conv c)
{
    __shared__ float w_tile[TAPS][TILE + 1], x_tile[TAPS][TILE];
    const int t = threadIdx.y * 16 + threadIdx.x;
    float sum[4][4] = {{0.0f}};
    for (int first = 0; first < c.taps; first += TAPS) {
        for (int f = t / TAPS; f < TILE; f += 256 / TAPS) {
            const int filter = blockIdx.y * TILE + f, tap = first + t % TAPS;
            const bool inside = filter < c.out_channels && tap < c.taps;
            w_tile[t % TAPS][f] = inside ? w[(size_t)filter * c.taps + tap] : 0.0f;
        }
        for (int k = t / TILE; k < TAPS; k += 256 / TILE) {
            x_tile[k][t % TILE] = column_element(x, blockIdx.x * TILE + t % TILE, first + k, c);
        }
        __syncthreads();
        for (int k = 0; k < TAPS; k++) {
            float left[4], right[4];
            for (int i = 0; i < 4; i++) left[i] = w_tile[k][threadIdx.y + 16 * i];
            for (int j = 0; j < 4; j++) right[j] = x_tile[k][threadIdx.x + 16 * j];
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++) sum[i][j] += left[i] * right[j];
            }
        }
        __syncthreads();
    }
    const int place = c.out_side * c.out_side;
    for (int j = 0; j < 4; j++) {
        const int pixel = blockIdx.x * TILE + threadIdx.x + 16 * j;
        if (pixel >= c.pixels) return;
        const size_t at = (size_t)(pixel / place) * c.out_channels * place + pixel % place;
        for (int i = 0; i < 4; i++) {
            const int filter = blockIdx.y * TILE + threadIdx.y + 16 * i;
            if (filter >= c.out_channels) break;
            y[at + (size_t)filter * place] = sum[i][j] + (bias ? bias[filter] : 0.0f);
        }
    }
}

__global__ static void normalize_kernel(float *y, const float *params, const resnet18_conv c,
                                        int pixels)
{
    const int channel = blockIdx.x % c.out_channels;
    const float factor =
        params[c.gamma + channel] / sqrtf(params[c.var + channel] + RESNET18_BN_EPS);
    const float mean = params[c.mean + channel], shift = params[c.beta + channel];
    y += (size_t)blockIdx.x * pixels;
    for (int i = threadIdx.x; i < pixels; i += blockDim.x) y[i] = (y[i] - mean) * factor + shift;
}

__global__ static void relu_kernel(float *y, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = y[i] < 0.0f ? 0.0f : y[i];
}

__global__ static void add_kernel(float *y, const float *x, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

__global__ static void maxpool_kernel(float *y, const float *x, int in_side, int side)
{
    x += (size_t)blockIdx.x * in_side * in_side;
    y += (size_t)blockIdx.x * side * side;
    for (int i = threadIdx.x; i < side * side; i += blockDim.x) {
        float largest = -INFINITY;
        for (int tap = 0; tap < 9; tap++) {
            const int row = i / side * 2 - 1 + tap / 3, col = i % side * 2 - 1 + tap % 3;
            if (row < 0 || row >= in_side || col < 0 || col >= in_side) continue;
            largest = fmaxf(largest, x[row * in_side + col]);
        }
        y[i] = largest;
    }
}

__global__ static void mean_kernel(float *y, const float *x, int pixels, int planes)
{
    const int plane = blockIdx.x * blockDim.x + threadIdx.x;
    if (plane >= planes) return;
    float sum = 0.0f;
    for (int i = 0; i < pixels; i++) sum += x[(size_t)plane * pixels + i];
    y[plane] = sum / pixels;
}

/* ---- the network ----------------------------------------------------------------------------- */

typedef struct network {
    int batch, size;
    float *params, *slot[4]; /* the largest activation, each */
} network;

static cudaError_t convolve(float *y, const float *x, const float *w, const float *bias, conv c,
                            int batch, cudaStream_t stream)
{
    c.out_side = resnet18_out_size(c.in_side, c.kernel, c.stride, c.pad);
    c.taps = c.in_channels * c.kernel * c.kernel;
    c.pixels = batch * c.out_side * c.out_side;
    const dim3 grid((c.pixels + TILE - 1) / TILE, (c.out_channels + TILE - 1) / TILE);
    conv_kernel<<<grid, dim3(16, 16), 0, stream>>>(y, x, w, bias, c);
    return cudaGetLastError();
}

static cudaError_t relu(float *y, size_t n, cudaStream_t stream)
{
    relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(y, n);
    return cudaGetLastError();
}

/* @param side of x; receives that of y */
static cudaError_t layer(const network *net, float *y, const float *x, int i, int *side,
                         cudaStream_t stream)
{
    const resnet18_conv *c = &resnet18_convs[i];
    const conv shape = {
        c->in_channels, *side, c->out_channels, 0, c->kernel, c->stride, c->pad, 0, 0};
    TRY(convolve(y, x, net->params + c->w, NULL, shape, net->batch, stream));
    *side = resnet18_out_size(*side, c->kernel, c->stride, c->pad);
    normalize_kernel<<<net->batch * c->out_channels, 256, 0, stream>>>(y, net->params, *c,
                                                                       *side * *side);
    return cudaGetLastError();
}

static size_t elements(const network *net, int i, int side)
{
    return (size_t)net->batch * resnet18_convs[i].out_channels * side * side;
}

/* slot[0] holds x, and afterwards the result. */
static cudaError_t block(network *net, const resnet18_block *b, int *side, cudaStream_t stream)
{
    int inner = *side, beside = *side;
    float **slot = net->slot, *shortcut = slot[0];
    TRY(layer(net, slot[1], slot[0], b->conv1, &inner, stream));
    TRY(relu(slot[1], elements(net, b->conv1, inner), stream));
    if (b->downsample >= 0) {
        shortcut = slot[3];
        TRY(layer(net, shortcut, slot[0], b->downsample, &beside, stream));
    }
    TRY(layer(net, slot[2], slot[1], b->conv2, &inner, stream));
    const size_t n = elements(net, b->conv2, inner);
    add_kernel<<<(n + 255) / 256, 256, 0, stream>>>(slot[2], shortcut, n);
    TRY(relu(slot[2], n, stream));
    float *result = slot[2];
    slot[2] = slot[0];
    slot[0] = result;
    *side = inner;
    return cudaGetLastError();
}

extern "C" cudaError_t baseline_resnet18_forward_opt(network *net, float *logits, const float *x,
                                                     cudaStream_t stream)
{
    int side = net->size;
    TRY(layer(net, net->slot[1], x, 0, &side, stream));
    TRY(relu(net->slot[1], elements(net, 0, side), stream));
    const int pooled = resnet18_out_size(side, 3, 2, 1);
    maxpool_kernel<<<net->batch * 64, 256, 0, stream>>>(net->slot[0], net->slot[1], side, pooled);
    side = pooled;
    for (int i = 0; i < RESNET18_BLOCKS; i++) {
        TRY(block(net, &resnet18_blocks[i], &side, stream));
    }
    const int planes = net->batch * RESNET18_FEATURES;
    mean_kernel<<<(planes + 255) / 256, 256, 0, stream>>>(net->slot[1], net->slot[0], side * side,
                                                          planes);
    const conv linear = {RESNET18_FEATURES, 1, RESNET18_CLASSES, 0, 1, 1, 0, 0, 0};
    return convolve(logits, net->slot[1], net->params + RESNET18_FC_W,
                    net->params + RESNET18_FC_BIAS, linear, net->batch, stream);
}

extern "C" cudaError_t baseline_resnet18_free_opt(network *net)
{
    if (net == NULL) return cudaSuccess;
    for (int i = 0; i < 4; i++) TRY(cudaFree(net->slot[i]));
    TRY(cudaFree(net->params));
    free(net);
    return cudaSuccess;
}

extern "C" cudaError_t baseline_resnet18_create_opt(network **made, const float *h_params,
                                                    int batch, int size, int precision)
{
    const resnet18_conv *stem = &resnet18_convs[0];
    const size_t side = resnet18_out_size(size, stem->kernel, stem->stride, stem->pad);
    const size_t bytes = sizeof(float) * batch * stem->out_channels * side * side;
    network *net = (network *)calloc(1, sizeof *net);
    (void)precision;
    *made = net;
    if (net == NULL) return cudaErrorMemoryAllocation;
    net->batch = batch;
    net->size = size;
    TRY(cudaMalloc((void **)&net->params, RESNET18_FLOATS * sizeof(float)));
    TRY(cudaMemcpy(net->params, h_params, RESNET18_FLOATS * sizeof(float), cudaMemcpyHostToDevice));
    for (int i = 0; i < 4; i++) TRY(cudaMalloc((void **)&net->slot[i], bytes));
    return cudaSuccess;
}
