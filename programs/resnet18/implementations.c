/* implementations.c: the five, behind one interface. */
#include "program.h"

#include "cuda_check.h"
#include <stdlib.h>
#include <string.h>

/* ---- cpu: exercise 504 ----------------------------------------------------------------------- */

static cudaError_t cpu_create(void **net, const float *h_params, resnet18_precision precision)
{
    (void)precision;
    *net = resnet18_create_cpu(h_params);
    return *net ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t cpu_run(void *net, float *h_logits, float *h_activations, const float *h_x,
                           int batch, int size)
{
    return resnet18_forward_cpu(net, h_logits, h_activations, h_x, batch, size)
               ? cudaErrorMemoryAllocation
               : cudaSuccess;
}

static cudaError_t cpu_forward(void *net, float *h_logits, const float *h_x, int batch, int size,
                               cudaStream_t stream)
{
    (void)stream;
    return cpu_run(net, h_logits, NULL, h_x, batch, size);
}

static cudaError_t cpu_activations(void *net, float *h_activations, const float *h_x, int batch,
                                   int size, cudaStream_t stream)
{
    (void)stream;
    float *h_logits = malloc((size_t)batch * RESNET18_CLASSES * sizeof *h_logits);
    if (!h_logits) return cudaErrorMemoryAllocation;
    const cudaError_t error = cpu_run(net, h_logits, h_activations, h_x, batch, size);
    free(h_logits);
    return error;
}

static size_t no_bytes(const void *net)
{
    (void)net;
    return 0;
}

static cudaError_t cpu_free(void *net)
{
    resnet18_free_cpu(net);
    return cudaSuccess;
}

/* ---- transfer and conv_bn: layerwise.c, which not every copy of the course has --------------- */

#ifndef WITHOUT_LAYERWISE

static cudaError_t transfer_create(void **net, const float *h_params, resnet18_precision precision)
{
    (void)precision;
    return layerwise_create((layerwise **)net, h_params, false);
}

static cudaError_t conv_bn_create(void **net, const float *h_params, resnet18_precision precision)
{
    (void)precision;
    return layerwise_create((layerwise **)net, h_params, true);
}

static cudaError_t layers_forward(void *net, float *h_logits, const float *h_x, int batch, int size,
                                  cudaStream_t stream)
{
    return layerwise_forward(net, h_logits, NULL, h_x, batch, size, stream);
}

static cudaError_t layers_activations(void *net, float *h_activations, const float *h_x, int batch,
                                      int size, cudaStream_t stream)
{
    float *h_logits = malloc((size_t)batch * RESNET18_CLASSES * sizeof *h_logits);
    if (!h_logits) return cudaErrorMemoryAllocation;
    const cudaError_t error =
        layerwise_forward(net, h_logits, h_activations, h_x, batch, size, stream);
    free(h_logits);
    return error;
}

static size_t layers_bytes(const void *net)
{
    return layerwise_device_bytes(net);
}

static cudaError_t layers_free(void *net)
{
    return layerwise_free(net);
}
#endif

/* ---- resident: exercise 505 ------------------------------------------------------------------ */

static cudaError_t resident_create(void **net, const float *h_params, resnet18_precision precision)
{
    (void)precision;
    return resnet18_create((resnet18 **)net, h_params);
}

static cudaError_t resident_forward(void *net, float *h_logits, const float *h_x, int batch,
                                    int size, cudaStream_t stream)
{
    return resnet18_classify(net, h_logits, h_x, batch, size, stream);
}

static cudaError_t resident_on_device(void *net, float *d_logits, const float *d_x, int batch,
                                      int size, cudaStream_t stream)
{
    return resnet18_forward(net, d_logits, NULL, d_x, batch, size, stream);
}

static size_t image_floats(int size)
{
    return (size_t)3 * size * size;
}

/* One allocation: images, logits, activations. */
static cudaError_t resident_activations(void *net, float *h_activations, const float *h_x,
                                        int batch, int size, cudaStream_t stream)
{
    const size_t x = batch * image_floats(size), logits = (size_t)batch * RESNET18_CLASSES;
    const size_t kept = (size_t)batch * resnet18_activations(size);
    float *d_x;
    CUDA_CHECK(cudaMalloc((void **)&d_x, (x + logits + kept) * sizeof *d_x));
    CUDA_CHECK(cudaMemcpy(d_x, h_x, x * sizeof *d_x, cudaMemcpyHostToDevice));
    CUDA_CHECK(resnet18_forward(net, d_x + x, d_x + x + logits, d_x, batch, size, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(
        cudaMemcpy(h_activations, d_x + x + logits, kept * sizeof *d_x, cudaMemcpyDeviceToHost));
    return cudaFree(d_x);
}

static size_t resident_bytes(const void *net)
{
    return resnet18_device_bytes(net);
}

static cudaError_t resident_free(void *net)
{
    return resnet18_free(net);
}

/* ---- optimized: exercise 507, which is made for one batch size ------------------------------- */

typedef struct optimized {
    float *params; /* [RESNET18_FLOATS] */
    resnet18_precision precision;
    int batch; /* that net is for; 0: none yet */
    resnet18_opt *net;
    float *d_x, *d_logits; /* of that batch */
} optimized;

static cudaError_t optimized_create(void **net, const float *h_params, resnet18_precision precision)
{
    optimized *o = calloc(1, sizeof *o);
    *net = o;
    if (o) o->params = malloc(RESNET18_FLOATS * sizeof(float));
    if (!o || !o->params) return cudaErrorMemoryAllocation;
    memcpy(o->params, h_params, RESNET18_FLOATS * sizeof(float));
    o->precision = precision;
    return cudaSuccess;
}

static cudaError_t optimized_drop(optimized *o)
{
    o->batch = 0;
    CUDA_CHECK(resnet18_free_opt(o->net));
    o->net = NULL;
    CUDA_CHECK(cudaFree(o->d_x));
    o->d_x = NULL;
    return cudaSuccess;
}

/* Another batch size is another network. */
static cudaError_t optimized_prepare(void *net, int batch, int size)
{
    optimized *o = net;
    if (o->batch == batch) return cudaSuccess;
    const size_t x = batch * image_floats(size);
    CUDA_CHECK(optimized_drop(o));
    CUDA_CHECK(resnet18_create_opt(&o->net, o->params, batch, size, o->precision));
    CUDA_CHECK(
        cudaMalloc((void **)&o->d_x, (x + (size_t)batch * RESNET18_CLASSES) * sizeof(float)));
    o->d_logits = o->d_x + x;
    o->batch = batch;
    return cudaSuccess;
}

static cudaError_t optimized_forward(void *net, float *h_logits, const float *h_x, int batch,
                                     int size, cudaStream_t stream)
{
    optimized *o = net;
    CUDA_CHECK(optimized_prepare(o, batch, size));
    CUDA_CHECK(cudaMemcpyAsync(o->d_x, h_x, batch * image_floats(size) * sizeof(float),
                               cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(resnet18_forward_opt(o->net, o->d_logits, o->d_x, stream));
    return cudaMemcpyAsync(h_logits, o->d_logits, (size_t)batch * RESNET18_CLASSES * sizeof(float),
                           cudaMemcpyDeviceToHost, stream);
}

static cudaError_t optimized_on_device(void *net, float *d_logits, const float *d_x, int batch,
                                       int size, cudaStream_t stream)
{
    optimized *o = net;
    CUDA_CHECK(optimized_prepare(o, batch, size));
    return resnet18_forward_opt(o->net, d_logits, d_x, stream);
}

static size_t optimized_bytes(const void *net)
{
    const optimized *o = net;
    return o->net ? resnet18_device_bytes_opt(o->net) : 0;
}

static cudaError_t optimized_free(void *net)
{
    optimized *o = net;
    if (!o) return cudaSuccess;
    CUDA_CHECK(optimized_drop(o));
    free(o->params);
    free(o);
    return cudaSuccess;
}

/* ---- all of them ----------------------------------------------------------------------------- */

const implementation implementations[] = {
    {"cpu", "504: one thread of the CPU", false, cpu_create, NULL, cpu_forward, NULL,
     cpu_activations, no_bytes, cpu_free},
#ifndef WITHOUT_LAYERWISE
    {"transfer", "computed on the CPU; each layer's result goes to the GPU and back", false,
     transfer_create, NULL, layers_forward, NULL, layers_activations, layers_bytes, layers_free},
    {"conv_bn", "convolutions and batch normalizations on the GPU, with copies between", false,
     conv_bn_create, NULL, layers_forward, NULL, layers_activations, layers_bytes, layers_free},
#endif
    {"resident", "505: all layers on the GPU, one copy there and one back", false, resident_create,
     NULL, resident_forward, resident_on_device, resident_activations, resident_bytes,
     resident_free},
    {"optimized", "507: folded, fused, tensor cores, one graph", true, optimized_create,
     optimized_prepare, optimized_forward, optimized_on_device, NULL, optimized_bytes,
     optimized_free},
    {0},
};

const implementation *implementation_find(const char *name, size_t length)
{
    for (const implementation *i = implementations; i->name; i++) {
        if (strlen(i->name) == length && strncmp(i->name, name, length) == 0) return i;
    }
    return NULL;
}
