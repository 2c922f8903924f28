/*
 * wrapped.c: functions that stand between the networks and what they call. The linker sends every
 * call of NAME to __wrap_NAME here (its option --wrap; programs.mk lists the names), which notes
 * it and calls __real_NAME. So copies, allocations and layers are counted in networks that know
 * nothing of it, yours too.
 *
 * What is not called by one of these names (a kernel of the network's own) counts as "other", but
 * for the graph of resnet18_forward_opt (507), into which profile_graph.c looks.
 */
#include "profile.h"

#include "basics.h"
#include "cpu.h"
#include "layers.h"

#define WRAP(name, type, parameters)                                                               \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters

/* @param call of the real one */
#define ON_STREAM(kind, call)                                                                      \
    profile_begin(kind, stream);                                                                   \
    const cudaError_t error = call;                                                                \
    profile_end(stream);                                                                           \
    return error

/* ---- layers on the device -------------------------------------------------------------------- */

WRAP(conv2d_forward, cudaError_t,
     (float *y, const float *x, const float *w, const float *bias, int batch, int in_channels,
      int in_h, int in_w, int out_channels, int kernel_h, int kernel_w, int stride, int pad,
      cudaStream_t stream))
{
    ON_STREAM(CONVOLUTION,
              __real_conv2d_forward(y, x, w, bias, batch, in_channels, in_h, in_w, out_channels,
                                    kernel_h, kernel_w, stride, pad, stream));
}

WRAP(conv2d_implicit_gemm, cudaError_t,
     (float *y, const float *x, const float *w, const float *bias, int batch, int in_channels,
      int in_h, int in_w, int out_channels, int kernel_h, int kernel_w, int stride, int pad,
      cudaStream_t stream))
{
    ON_STREAM(CONVOLUTION,
              __real_conv2d_implicit_gemm(y, x, w, bias, batch, in_channels, in_h, in_w,
                                          out_channels, kernel_h, kernel_w, stride, pad, stream));
}

WRAP(batchnorm_infer, cudaError_t,
     (float *y, const float *x, const float *mean, const float *var, const float *gamma,
      const float *beta, int batch, int channels, int h, int w, float eps, cudaStream_t stream))
{
    ON_STREAM(BATCHNORM, __real_batchnorm_infer(y, x, mean, var, gamma, beta, batch, channels, h, w,
                                                eps, stream));
}

WRAP(relu_forward, cudaError_t, (float *y, const float *x, size_t n, cudaStream_t stream))
{
    ON_STREAM(RELU_ADD, __real_relu_forward(y, x, n, stream));
}

WRAP(vector_add, cudaError_t,
     (float *c, const float *a, const float *b, size_t n, cudaStream_t stream))
{
    ON_STREAM(RELU_ADD, __real_vector_add(c, a, b, n, stream));
}

WRAP(maxpool2d_forward, cudaError_t,
     (float *y, int *argmax, const float *x, int batch, int channels, int in_h, int in_w,
      int kernel_size, int stride, int pad, cudaStream_t stream))
{
    ON_STREAM(POOLING, __real_maxpool2d_forward(y, argmax, x, batch, channels, in_h, in_w,
                                                kernel_size, stride, pad, stream));
}

WRAP(global_avgpool_forward, cudaError_t,
     (float *y, const float *x, int batch, int channels, int h, int w, cudaStream_t stream))
{
    ON_STREAM(POOLING, __real_global_avgpool_forward(y, x, batch, channels, h, w, stream));
}

WRAP(linear_forward, cudaError_t,
     (float *y, const float *x, const float *w, const float *bias, int batch, int in_features,
      int out_features, cudaStream_t stream))
{
    ON_STREAM(LINEAR,
              __real_linear_forward(y, x, w, bias, batch, in_features, out_features, stream));
}

/* ---- a network that is one graph ------------------------------------------------------------- */

WRAP(resnet18_forward_opt, cudaError_t,
     (struct resnet18_opt * net, float *logits, const float *x, cudaStream_t stream))
{
    forward_opt *real = __real_resnet18_forward_opt;
    if (profile_is_on() && profile_graph_launch(real, net, logits, x, stream)) return cudaSuccess;
    return real(net, logits, x, stream);
}

/* ---- layers on the host ---------------------------------------------------------------------- */

WRAP(conv2d_cpu_im2col, void,
     (float *y, float *columns, const float *x, const float *w, const float *bias, int batch,
      int in_channels, int in_h, int in_w, int out_channels, int kernel_h, int kernel_w, int stride,
      int pad))
{
    profile_begin_host(CONVOLUTION);
    __real_conv2d_cpu_im2col(y, columns, x, w, bias, batch, in_channels, in_h, in_w, out_channels,
                             kernel_h, kernel_w, stride, pad);
    profile_end_host();
}

/* ---- copies between host and device ---------------------------------------------------------- */

static bool leaves_or_enters(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToHost ||
           kind == cudaMemcpyDefault;
}

WRAP(cudaMemcpy, cudaError_t, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind))
{
    if (!leaves_or_enters(kind)) return __real_cudaMemcpy(to, from, bytes, kind);
    count_copy();
    profile_settle(); /* so that what it would wait for does not count as copying */
    profile_begin_host(COPIES);
    const cudaError_t error = __real_cudaMemcpy(to, from, bytes, kind);
    profile_end_host();
    return error;
}

WRAP(cudaMemcpyAsync, cudaError_t,
     (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream))
{
    if (!leaves_or_enters(kind)) return __real_cudaMemcpyAsync(to, from, bytes, kind, stream);
    count_copy();
    ON_STREAM(COPIES, __real_cudaMemcpyAsync(to, from, bytes, kind, stream));
}

/* ---- device memory --------------------------------------------------------------------------- */

WRAP(cudaMalloc, cudaError_t, (void **pointer, size_t bytes))
{
    const cudaError_t error = __real_cudaMalloc(pointer, bytes);
    if (!error) count_allocation(*pointer, bytes);
    return error;
}

WRAP(cudaMallocAsync, cudaError_t, (void **pointer, size_t bytes, cudaStream_t stream))
{
    const cudaError_t error = __real_cudaMallocAsync(pointer, bytes, stream);
    if (!error) count_allocation(*pointer, bytes);
    return error;
}

WRAP(cudaFree, cudaError_t, (void *pointer))
{
    count_free(pointer);
    return __real_cudaFree(pointer);
}

WRAP(cudaFreeAsync, cudaError_t, (void *pointer, cudaStream_t stream))
{
    count_free(pointer);
    return __real_cudaFreeAsync(pointer, stream);
}
