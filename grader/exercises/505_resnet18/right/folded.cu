// RIGHT: batch normalization is folded into the filters when the network is created; sum and ReLU
// in one kernel; a buffer of its own for each purpose
#include "203_vector_add/vector_add.h"
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "307_conv2d_implicit_gemm/conv2d_implicit_gemm.h"
#include "309_batchnorm/batchnorm.h"
#include "310_pooling/pooling.h"
#include "505_resnet18/resnet18.h"

#include <cstdlib>

enum { IMAGES, STEM, ARGMAX, FIRST, SECOND, INNER, SIDE, FEATURES, LOGITS, BUFFERS };

struct resnet18 {
    float *w[RESNET18_CONVS], *bias[RESNET18_CONVS], *fc;
    float *buffer[BUFFERS];
    size_t room[BUFFERS], bytes;
};

static size_t outputs(const resnet18_conv &c)
{
    return c.out_channels;
}

static size_t weights(const resnet18_conv &c)
{
    return outputs(c) * c.in_channels * c.kernel * c.kernel;
}

static cudaError_t grow(resnet18 *net, float **p, size_t *room, size_t floats)
{
    if (floats <= *room) return cudaSuccess;
    cudaFree(*p);
    *p = nullptr;
    net->bytes -= *room * sizeof(float);
    *room = 0;
    cudaError_t error = cudaMalloc((void **)p, floats * sizeof(float));
    if (error != cudaSuccess) return error;
    *room = floats;
    net->bytes += floats * sizeof(float);
    return cudaSuccess;
}

static cudaError_t fold(resnet18 *net, const float *p, int i)
{
    const resnet18_conv &c = resnet18_convs[i];
    size_t none = 0;
    cudaError_t error = grow(net, &net->w[i], &none, weights(c));
    none = 0;
    if (error == cudaSuccess) error = grow(net, &net->bias[i], &none, outputs(c));
    if (error != cudaSuccess) return error;
    return batchnorm_fold(net->w[i], net->bias[i], p + c.w, nullptr, p + c.mean, p + c.var,
                          p + c.gamma, p + c.beta, c.out_channels,
                          c.in_channels * c.kernel * c.kernel, RESNET18_BN_EPS, 0);
}

static cudaError_t fill(resnet18 *net, float *all, const float *h_params)
{
    const size_t head = RESNET18_FLOATS - RESNET18_FC_W;
    cudaError_t error =
        cudaMemcpy(all, h_params, RESNET18_FLOATS * sizeof(float), cudaMemcpyHostToDevice);
    for (int i = 0; i < RESNET18_CONVS && error == cudaSuccess; i++) error = fold(net, all, i);
    size_t none = 0;
    if (error == cudaSuccess) error = grow(net, &net->fc, &none, head);
    if (error == cudaSuccess)
        error = cudaMemcpy(net->fc, all + RESNET18_FC_W, head * sizeof(float),
                           cudaMemcpyDeviceToDevice);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

cudaError_t resnet18_create(resnet18 **net, const float *h_params)
{
    float *all = nullptr;
    resnet18 *made = (resnet18 *)calloc(1, sizeof *made);
    *net = nullptr;
    if (!made) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaMalloc((void **)&all, RESNET18_FLOATS * sizeof(float));
    if (error == cudaSuccess) error = fill(made, all, h_params);
    cudaFree(all);
    if (error != cudaSuccess)
        resnet18_free(made);
    else
        *net = made;
    return error;
}

__global__ static void add_relu(float *y, const float *x, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        float sum = y[i] + x[i];
        y[i] = sum < 0.0f ? 0.0f : sum;
    }
}

struct pass {
    resnet18 *net;
    int batch, size;
    cudaStream_t stream;
    cudaError_t error;

    void note(cudaError_t e)
    {
        if (error == cudaSuccess) error = e;
    }
    float *room(int buffer, size_t floats)
    {
        note(grow(net, &net->buffer[buffer], &net->room[buffer], floats * batch));
        return net->buffer[buffer];
    }
    void conv(float *y, const float *x, int i)
    {
        const resnet18_conv &c = resnet18_convs[i];
        int in = resnet18_in_size(i, size);
        if (error == cudaSuccess)
            note(conv2d_implicit_gemm(y, x, net->w[i], net->bias[i], batch, c.in_channels, in, in,
                                      c.out_channels, c.kernel, c.kernel, c.stride, c.pad, stream));
    }
    void relu(float *y, size_t floats)
    {
        if (error == cudaSuccess) note(relu_forward(y, y, floats * batch, stream));
    }
};

static size_t floats_of(int stage, int size)
{
    int channels, side;
    resnet18_stage_shape(stage, size, &channels, &side);
    return (size_t)channels * side * side;
}

static void begin(pass &p, float *y, const float *x)
{
    int side = resnet18_out_size(p.size, 7, 2, 3);
    float *stem = p.room(STEM, (size_t)64 * side * side);
    int *argmax = (int *)p.room(ARGMAX, floats_of(0, p.size));
    p.conv(stem, x, 0);
    p.relu(stem, (size_t)64 * side * side);
    if (p.error == cudaSuccess)
        p.note(maxpool2d_forward(y, argmax, stem, p.batch, 64, side, side, 3, 2, 1, p.stream));
}

static void go_on(pass &p, float *y, const float *x, int i)
{
    const resnet18_block &b = resnet18_blocks[i];
    size_t floats = floats_of(i + 1, p.size), n = floats * p.batch;
    float *inner = p.room(INNER, floats), *side = b.downsample < 0 ? nullptr : p.room(SIDE, floats);
    p.conv(inner, x, b.conv1);
    p.relu(inner, floats);
    p.conv(y, inner, b.conv2);
    if (side) p.conv(side, x, b.downsample);
    if (p.error != cudaSuccess) return;
    add_relu<<<(unsigned)((n + 255) / 256), 256, 0, p.stream>>>(y, side ? side : x, n);
    p.note(cudaGetLastError());
}

cudaError_t resnet18_forward(resnet18 *net, float *logits, float *activations, const float *x,
                             int batch, int size, cudaStream_t stream)
{
    pass p = {net, batch, size, stream, cudaSuccess};
    if (batch == 0) return cudaSuccess;
    for (int stage = 0; stage <= RESNET18_BLOCKS; stage++) {
        size_t floats = floats_of(stage, size);
        float *y = activations ? activations : p.room(stage % 2 ? SECOND : FIRST, floats);
        if (p.error != cudaSuccess) return p.error;
        if (stage == 0)
            begin(p, y, x);
        else
            go_on(p, y, x, stage - 1);
        if (activations) activations += floats * batch;
        x = y;
    }
    float *features = activations ? activations : p.room(FEATURES, RESNET18_FEATURES);
    int channels, side;
    resnet18_stage_shape(RESNET18_BLOCKS, size, &channels, &side);
    if (p.error == cudaSuccess)
        p.note(global_avgpool_forward(features, x, batch, channels, side, side, stream));
    if (p.error == cudaSuccess)
        p.note(linear_forward(logits, features, net->fc,
                              net->fc + RESNET18_CLASSES * RESNET18_FEATURES, batch, channels,
                              RESNET18_CLASSES, stream));
    return p.error;
}

cudaError_t resnet18_classify(resnet18 *net, float *h_logits, const float *h_x, int batch, int size,
                              cudaStream_t stream)
{
    pass p = {net, batch, size, stream, cudaSuccess};
    if (batch == 0) return cudaSuccess;
    size_t image = (size_t)3 * size * size;
    float *x = p.room(IMAGES, image), *logits = p.room(LOGITS, RESNET18_CLASSES);
    if (p.error != cudaSuccess) return p.error;
    p.note(cudaMemcpyAsync(x, h_x, batch * image * sizeof(float), cudaMemcpyHostToDevice, stream));
    p.note(resnet18_forward(net, logits, nullptr, x, batch, size, stream));
    p.note(cudaMemcpyAsync(h_logits, logits, (size_t)batch * RESNET18_CLASSES * sizeof(float),
                           cudaMemcpyDeviceToHost, stream));
    p.note(cudaStreamSynchronize(stream));
    return p.error;
}

size_t resnet18_device_bytes(const resnet18 *net)
{
    return net->bytes;
}

cudaError_t resnet18_free(resnet18 *net)
{
    if (!net) return cudaSuccess;
    for (int i = 0; i < RESNET18_CONVS; i++) cudaFree(net->w[i]), cudaFree(net->bias[i]);
    for (int i = 0; i < BUFFERS; i++) cudaFree(net->buffer[i]);
    cudaFree(net->fc);
    free(net);
    return cudaGetLastError();
}
