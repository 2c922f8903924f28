// RIGHT: layers as objects with a forward of their own, a tensor that knows its shape, a pool of
// equal buffers; pooling, normalization and the head by own kernels
#include "203_vector_add/vector_add.h"
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "307_conv2d_implicit_gemm/conv2d_implicit_gemm.h"
#include "309_batchnorm/batchnorm.h"
#include "310_pooling/pooling.h"
#include "505_resnet18/resnet18.h"

#include <vector>

typedef struct shape {
    int n, c, side;
    size_t floats() const
    {
        return (size_t)n * c * side * side;
    }
} shape;

struct tensor : shape {
    float *data;
};

/* Buffers of one size, that of the largest tensor so far. */
struct pool {
    float *memory = nullptr;
    size_t each = 0;
    unsigned used = 0;
    enum { COUNT = 5 };

    cudaError_t reserve(size_t floats)
    {
        used = 0;
        if (floats <= each) return cudaSuccess;
        cudaFree(memory);
        memory = nullptr;
        each = 0;
        cudaError_t e = cudaMalloc((void **)&memory, COUNT * floats * sizeof(float));
        if (e == cudaSuccess) each = floats;
        return e;
    }
    tensor take(shape s)
    {
        unsigned i = 0;
        while (used >> i & 1) i++;
        used |= 1u << i;
        return tensor{{s}, memory + i * each};
    }
    void put(const tensor &t)
    {
        if (t.data < memory || t.data >= memory + COUNT * each) return; /* the caller's */
        used &= ~(1u << (t.data - memory) / each);
    }
};

__global__ static void norm_kernel(float *y, const float *p, int channels, int pixels, bool relu)
{
    int c = blockIdx.x % channels;
    float rstd = rsqrtf(p[3 * channels + c] + RESNET18_BN_EPS), mean = p[2 * channels + c];
    float gamma = p[c], beta = p[channels + c];
    for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
        float *at = y + (size_t)blockIdx.x * pixels + i;
        float value = (*at - mean) * rstd * gamma + beta;
        *at = relu && value < 0.0f ? 0.0f : value;
    }
}

__global__ static void sum_kernel(float *y, const float *x, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = y[i] + x[i];
    y[i] = sum < 0.0f ? 0.0f : sum;
}

__global__ static void pool_kernel(float *y, const float *x, int in, int out)
{
    x += (size_t)blockIdx.x * in * in;
    for (int i = threadIdx.x; i < out * out; i += blockDim.x) {
        int row = i / out * 2, col = i % out * 2;
        float most = x[row * in + col];
        for (int r = row - 1; r <= row + 1; r++) {
            for (int c = col - 1; c <= col + 1; c++) {
                if (r < 0 || r >= in || c < 0 || c >= in) continue;
                float value = x[r * in + c];
                if (!(value <= most)) most = value; /* a NaN too */
            }
        }
        y[(size_t)blockIdx.x * out * out + i] = most;
    }
}

/* A block an image: its means, then its logits. */
__global__ static void head_kernel(float *logits, float *features, const float *x, const float *w,
                                   const float *bias, int pixels)
{
    __shared__ float mean[RESNET18_FEATURES];
    x += (size_t)blockIdx.x * RESNET18_FEATURES * pixels;
    for (int f = threadIdx.x; f < RESNET18_FEATURES; f += blockDim.x) {
        float sum = 0.0f;
        for (int i = 0; i < pixels; i++) sum += x[f * pixels + i];
        mean[f] = features[blockIdx.x * RESNET18_FEATURES + f] = sum / pixels;
    }
    __syncthreads();
    for (int k = threadIdx.x / 32; k < RESNET18_CLASSES; k += blockDim.x / 32) {
        float sum = 0.0f;
        for (int f = threadIdx.x % 32; f < RESNET18_FEATURES; f += 32) {
            sum += w[(size_t)k * RESNET18_FEATURES + f] * mean[f];
        }
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (threadIdx.x % 32 == 0) logits[blockIdx.x * RESNET18_CLASSES + k] = sum + bias[k];
    }
}

struct conv_layer {
    const resnet18_conv *c;
    const float *params;

    shape out(shape in) const
    {
        return {in.n, c->out_channels, resnet18_out_size(in.side, c->kernel, c->stride, c->pad)};
    }
    cudaError_t forward(tensor y, tensor x, bool relu, cudaStream_t s) const
    {
        cudaError_t e =
            conv2d_implicit_gemm(y.data, x.data, params + c->w, nullptr, x.n, x.c, x.side, x.side,
                                 y.c, c->kernel, c->kernel, c->stride, c->pad, s);
        if (e != cudaSuccess) return e;
        norm_kernel<<<y.n * y.c, 128, 0, s>>>(y.data, params + c->gamma, y.c, y.side * y.side,
                                              relu);
        return cudaGetLastError();
    }
};

struct block_layer {
    conv_layer first, second, side;

    cudaError_t forward(tensor y, tensor x, pool &buffers, cudaStream_t s) const
    {
        tensor inner = buffers.take(first.out(x)), other = x;
        cudaError_t e = first.forward(inner, x, true, s);
        if (e == cudaSuccess) e = second.forward(y, inner, false, s);
        if (side.c) other = buffers.take(y);
        if (side.c && e == cudaSuccess) e = side.forward(other, x, false, s);
        if (e != cudaSuccess) return e;
        sum_kernel<<<(unsigned)((y.floats() + 127) / 128), 128, 0, s>>>(y.data, other.data,
                                                                        y.floats());
        buffers.put(inner);
        if (side.c) buffers.put(other);
        return cudaGetLastError();
    }
};

struct resnet18 {
    float *params = nullptr;
    std::vector<block_layer> blocks;
    pool buffers;
    float *ends = nullptr; /* images, features and logits */
    size_t ends_room = 0;

    conv_layer conv(int i) const
    {
        return {i < 0 ? nullptr : &resnet18_convs[i], params};
    }
};

cudaError_t resnet18_create(resnet18 **net, const float *h_params)
{
    size_t bytes = RESNET18_FLOATS * sizeof(float);
    resnet18 *made = new resnet18;
    *net = nullptr;
    cudaError_t e = cudaMalloc((void **)&made->params, bytes);
    if (e == cudaSuccess) e = cudaMemcpy(made->params, h_params, bytes, cudaMemcpyHostToDevice);
    if (e == cudaSuccess) e = cudaDeviceSynchronize();
    for (const resnet18_block &b : resnet18_blocks)
        made->blocks.push_back(
            {made->conv(b.conv1), made->conv(b.conv2), made->conv(b.downsample)});
    if (e == cudaSuccess)
        *net = made;
    else
        resnet18_free(made);
    return e;
}

/* Room for images, features and logits. */
static cudaError_t reserve_ends(resnet18 *net, int batch, int size)
{
    size_t floats = batch * ((size_t)3 * size * size + RESNET18_FEATURES + RESNET18_CLASSES);
    if (floats <= net->ends_room) return cudaSuccess;
    cudaFree(net->ends);
    net->ends = nullptr;
    net->ends_room = 0;
    cudaError_t e = cudaMalloc((void **)&net->ends, floats * sizeof(float));
    if (e == cudaSuccess) net->ends_room = floats;
    return e;
}

cudaError_t resnet18_forward(resnet18 *net, float *logits, float *activations, const float *x,
                             int batch, int size, cudaStream_t s)
{
    if (batch == 0) return cudaSuccess;
    pool &buffers = net->buffers;
    const conv_layer stem = net->conv(0);
    tensor here = {{batch, 3, size}, (float *)x}, wide = {stem.out(here), nullptr};
    cudaError_t e = buffers.reserve(wide.floats());
    if (e == cudaSuccess) e = reserve_ends(net, batch, size);
    if (e != cudaSuccess) return e;
    wide = buffers.take(wide);
    e = stem.forward(wide, here, true, s);
    for (size_t i = 0; i <= net->blocks.size() && e == cudaSuccess; i++) {
        shape out = i == 0 ? shape{batch, 64, resnet18_out_size(wide.side, 3, 2, 1)}
                           : net->blocks[i - 1].first.out(here);
        tensor y = activations ? tensor{{out}, activations} : buffers.take(out);
        if (activations) activations += out.floats();
        if (i == 0) {
            pool_kernel<<<batch * 64, 128, 0, s>>>(y.data, wide.data, wide.side, y.side);
            buffers.put(wide);
        } else {
            e = net->blocks[i - 1].forward(y, here, buffers, s);
            buffers.put(here);
        }
        here = y;
    }
    if (e != cudaSuccess) return e;
    head_kernel<<<batch, 256, 0, s>>>(logits, activations ? activations : net->ends, here.data,
                                      net->params + RESNET18_FC_W, net->params + RESNET18_FC_BIAS,
                                      here.side * here.side);
    return cudaGetLastError();
}

cudaError_t resnet18_classify(resnet18 *net, float *h_logits, const float *h_x, int batch, int size,
                              cudaStream_t s)
{
    if (batch == 0) return cudaSuccess;
    cudaError_t e = reserve_ends(net, batch, size);
    if (e != cudaSuccess) return e;
    size_t images = (size_t)batch * 3 * size * size;
    float *logits = net->ends + batch * RESNET18_FEATURES, *x = logits + batch * RESNET18_CLASSES;
    e = cudaMemcpyAsync(x, h_x, images * sizeof *x, cudaMemcpyHostToDevice, s);
    if (e == cudaSuccess) e = resnet18_forward(net, logits, nullptr, x, batch, size, s);
    if (e == cudaSuccess)
        e = cudaMemcpyAsync(h_logits, logits, (size_t)batch * RESNET18_CLASSES * sizeof *logits,
                            cudaMemcpyDeviceToHost, s);
    cudaError_t waited = cudaStreamSynchronize(s);
    return e == cudaSuccess ? waited : e;
}

size_t resnet18_device_bytes(const resnet18 *net)
{
    return (RESNET18_FLOATS + pool::COUNT * net->buffers.each + net->ends_room) * sizeof(float);
}

cudaError_t resnet18_free(resnet18 *net)
{
    if (!net) return cudaSuccess;
    cudaFree(net->params);
    cudaFree(net->buffers.memory);
    cudaFree(net->ends);
    delete net;
    return cudaGetLastError();
}
