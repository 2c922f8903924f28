/*
 * The frozen baseline of 505: the same network with a thread for each output of each layer, and a
 * launch for each layer. Nothing is copied, and what lies between the layers has a place that is
 * kept from call to call: only the first one allocates it.
 */
#include "resnet18_layout.h"
#include <cuda_runtime.h>

/* Square images and kernels. */
typedef struct conv {
    int in_channels, in, out_channels, out, kernel, stride, pad;
} conv;

__global__ static void conv_kernel(float *y, const float *x, const float *w, conv c, size_t outputs)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    int col = i % c.out, row = i / c.out % c.out;
    size_t plane = i / c.out / c.out, filter = plane % c.out_channels;
    x += plane / c.out_channels * c.in_channels * c.in * c.in;
    w += filter * c.in_channels * c.kernel * c.kernel;
    float sum = 0.0f;
    for (int channel = 0; channel < c.in_channels; channel++) {
        for (int r = 0; r < c.kernel; r++) {
            for (int s = 0; s < c.kernel; s++, w++) {
                int i = row * c.stride - c.pad + r, j = col * c.stride - c.pad + s;
                if (i < 0 || i >= c.in || j < 0 || j >= c.in) continue;
                sum += *w * x[(channel * c.in + i) * c.in + j];
            }
        }
    }
    y[i] = sum;
}

/* In place, with what batch normalization has of each channel, [4 x channels]. */
__global__ static void normalize_kernel(float *y, const float *p, int channels, int pixels,
                                        size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int c = i / pixels % channels;
    float gamma = p[c], beta = p[channels + c], mean = p[2 * channels + c],
          var = p[3 * channels + c];
    y[i] = (y[i] - mean) * (gamma / sqrtf(var + RESNET18_BN_EPS)) + beta;
}

__global__ static void relu_kernel(float *y, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && y[i] < 0.0f) y[i] = 0.0f;
}

__global__ static void add_kernel(float *y, const float *x, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += x[i];
}

__global__ static void maxpool_kernel(float *y, const float *x, int in, int out, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int top = i / out % out * 2 - 1, left = i % out * 2 - 1;
    float largest = 0.0f; /* none is smaller */
    x += i / out / out * in * in;
    for (int r = max(top, 0); r < min(top + 3, in); r++) {
        for (int c = max(left, 0); c < min(left + 3, in); c++)
            largest = fmaxf(largest, x[r * in + c]);
    }
    y[i] = largest;
}

__global__ static void mean_kernel(float *y, const float *x, int pixels, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0.0f;
    for (int p = 0; p < pixels; p++) sum += x[(size_t)i * pixels + p];
    y[i] = sum / pixels;
}

__global__ static void linear_kernel(float *y, const float *x, const float *params, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, output = i % RESNET18_CLASSES;
    if (i >= count) return;
    const float *w = params + RESNET18_FC_W + (size_t)output * RESNET18_FEATURES;
    float sum = params[RESNET18_FC_BIAS + output];
    x += (size_t)(i / RESNET18_CLASSES) * RESNET18_FEATURES;
    for (int f = 0; f < RESNET18_FEATURES; f++) sum += w[f] * x[f];
    y[i] = sum;
}

/* What all layers of a call have in common. */
typedef struct run {
    const float *params;
    int batch, size;
    cudaStream_t stream;
} run;

#define GRID(count) (unsigned)(((count) + 255) / 256), 256, 0, r->stream

/* @return elements of y = bn(conv(x)) */
static size_t conv_bn(const run *r, float *y, const float *x, int number)
{
    const resnet18_conv *t = &resnet18_convs[number];
    int in = resnet18_in_size(number, r->size);
    int out = resnet18_out_size(in, t->kernel, t->stride, t->pad);
    conv c = {t->in_channels, in, t->out_channels, out, t->kernel, t->stride, t->pad};
    size_t count = (size_t)r->batch * c.out_channels * out * out;
    conv_kernel<<<GRID(count)>>>(y, x, r->params + t->w, c, count);
    normalize_kernel<<<GRID(count)>>>(y, r->params + t->gamma, c.out_channels, out * out, count);
    return count;
}

static void block(const run *r, float *y, const float *x, const resnet18_block *b, float *middle,
                  float *shortcut)
{
    size_t count = conv_bn(r, middle, x, b->conv1);
    relu_kernel<<<GRID(count)>>>(middle, count);
    conv_bn(r, y, middle, b->conv2);
    if (b->downsample >= 0) conv_bn(r, shortcut, x, b->downsample);
    add_kernel<<<GRID(count)>>>(y, b->downsample >= 0 ? shortcut : x, count);
    relu_kernel<<<GRID(count)>>>(y, count);
}

/* @return so many floats of the device, or NULL */
static float *place_for(size_t floats)
{
    static float *kept;
    static size_t most;
    if (floats <= most) return kept;
    cudaFree(kept);
    most = cudaMalloc((void **)&kept, floats * sizeof *kept) == cudaSuccess ? floats : 0;
    return most ? kept : NULL;
}

extern "C" cudaError_t baseline_resnet18_direct(float *logits, const float *params, const float *x,
                                                int batch, int size, cudaStream_t stream)
{
    run all = {params, batch, size, stream}, *r = &all;
    int channels, side, in = resnet18_out_size(size, 7, 2, 3), features = batch * RESNET18_FEATURES;
    resnet18_stage_shape(0, size, &channels, &side);
    size_t stage = (size_t)batch * channels * side * side;
    size_t conv1 = (size_t)batch * resnet18_convs[0].out_channels * in * in;
    float *here = place_for(4 * stage + conv1);
    if (here == NULL) return cudaErrorMemoryAllocation;
    float *next = here + stage, *middle = next + stage, *shortcut = middle + stage;
    float *stem = shortcut + stage;
    size_t count = conv_bn(r, stem, x, 0);
    relu_kernel<<<GRID(count)>>>(stem, count);
    maxpool_kernel<<<GRID(stage)>>>(here, stem, in, side, stage);
    for (int b = 0; b < RESNET18_BLOCKS; b++) {
        block(r, next, here, &resnet18_blocks[b], middle, shortcut);
        float *turned = here;
        here = next;
        next = turned;
    }
    resnet18_stage_shape(RESNET18_BLOCKS, size, &channels, &side);
    mean_kernel<<<GRID(features)>>>(stem, here, side * side, features);
    linear_kernel<<<GRID(batch * RESNET18_CLASSES)>>>(logits, stem, params,
                                                      batch * RESNET18_CLASSES);
    return cudaGetLastError();
}
