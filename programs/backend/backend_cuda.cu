/*
 * backend_cuda.cu: a GPU as a device, made of exercises: found by 202, its memory from the pool of
 * 408, filled and read by 205, products by the handle of 213, the rest by 204 and 208.
 *
 * All work of a device goes to one stream, in order. The pool keeps that order too, so a matrix may
 * be freed while a kernel still reads it.
 */
#include "backend.h"
#include "basics.h"
#include "optimization.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS       256
#define BLOCKS_PER_SM 8 /* of THREADS: as many as are resident at once */

typedef struct gpu {
    pool *blocks;
    cublas_ctx *blas;
    cudaStream_t stream;
    int multiprocessors;
} gpu;

/* The device becomes the current one, which is what CUDA's calls are about. */
static gpu *use(device *d)
{
    cudaSetDevice(d->number); /* it was found once; if it is lost the next call says so */
    return (gpu *)d->state;
}

static failure words_of(cudaError_t error)
{
    return error == cudaSuccess ? NULL : refuse("CUDA: %s", cudaGetErrorString(error));
}

/* ---- devices --------------------------------------------------------------------------------- */

int gpu_count(void)
{
    int count = 0;
    return device_count(&count) == cudaSuccess ? count : 0;
}

int best_device(void)
{
    int number = DEVICE_CPU;
    return default_device(&number) == cudaSuccess && number >= 0 ? number : DEVICE_CPU;
}

static void gpu_close(device *d)
{
    gpu *g = use(d);
    if (!g) return;
    pool_destroy(g->blocks);
    cublas_destroy(g->blas);
    if (g->stream) cudaStreamDestroy(g->stream);
    free(g);
    d->state = NULL;
}

static cudaError_t open_parts(device *d, gpu *g)
{
    device_info info;
    cudaDeviceProp properties;
    cudaError_t error = device_new(&info, d->number);
    if (!error) error = cudaGetDeviceProperties(&properties, d->number);
    if (!error) error = cudaStreamCreate(&g->stream);
    if (!error) error = pool_create(&g->blocks, SIZE_MAX);
    if (!error) error = cublas_create(&g->blas);
    if (error) return error;
    g->multiprocessors = info.multiprocessors;
    d->emulated = strcmp(properties.name, "softgpu") == 0;
    snprintf(d->name, sizeof d->name, "%.63s", properties.name);
    return cudaSuccess;
}

static failure gpu_open(device *d)
{
    gpu *g = (gpu *)calloc(1, sizeof *g);
    if (!g) return refuse("out of memory");
    d->state = g;
    const cudaError_t error = open_parts(d, g);
    if (error) gpu_close(d);
    return words_of(error);
}

static failure gpu_synchronize(device *d)
{
    return words_of(cudaStreamSynchronize(use(d)->stream));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static failure gpu_memory(device *d, memory_use *now)
{
    gpu *g = use(d);
    device_info info;
    pool_statistics blocks;
    cudaError_t error = device_new(&info, d->number);
    if (!error) error = pool_stats(g->blocks, &blocks);
    if (error) return words_of(error);
    *now = (memory_use){info.bytes,  info.free_bytes,    blocks.in_use,
                        blocks.peak, blocks.allocations, blocks.hits};
    return NULL;
}

static failure gpu_allocate(device *d, float **x, size_t n)
{
    gpu *g = use(d);
    const cudaError_t error = pool_alloc(g->blocks, (void **)x, n * sizeof(float), g->stream);
    return error == cudaErrorMemoryAllocation ? refuse_memory(d, n) : words_of(error);
}

static failure gpu_release(device *d, float *x, size_t n)
{
    gpu *g = use(d);
    (void)n; /* the pool knows */
    return words_of(pool_free(g->blocks, x, g->stream));
}

static failure gpu_upload(device *d, float *to, const float *h_from, size_t n)
{
    gpu *g = use(d);
    tensor t = {(float *)h_from, to, n, TENSOR_ON_CPU}; /* which is read and not written */
    const cudaError_t error = tensor_to_gpu(&t, g->stream);
    return words_of(error ? error : cudaStreamSynchronize(g->stream)); /* h_from is the caller's */
}

static failure gpu_download(device *d, float *h_to, const float *from, size_t n)
{
    gpu *g = use(d);
    tensor t = {h_to, (float *)from, n, TENSOR_ON_GPU};
    return words_of(tensor_to_cpu(&t, g->stream));
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Blocks for n elements, as many as there is room for at once: 204 takes it from there. */
static int grid_for(const gpu *g, size_t n)
{
    const size_t wanted = (n - 1) / THREADS + 1,
                 resident = (size_t)g->multiprocessors * BLOCKS_PER_SM;
    return (int)(wanted < resident ? wanted : resident);
}

__global__ static void fill_kernel(float *x, float value, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value;
}

static failure gpu_fill(device *d, float *x, float value, size_t n)
{
    const unsigned blocks = (unsigned)((n - 1) / THREADS + 1);
    fill_kernel<<<blocks, THREADS, 0, use(d)->stream>>>(x, value, n);
    return words_of(cudaGetLastError());
}

static failure gpu_matmul(device *d, float *c, const float *a, const float *b, int m, int n, int k)
{
    gpu *g = use(d);
    return words_of(matmul_cublas(g->blas, c, a, b, m, n, k, g->stream));
}

static_assert((int)MATRIX_ADD == ELEMENTWISE_ADD && (int)MATRIX_MUL == ELEMENTWISE_MUL &&
                  (int)MATRIX_RELU == ELEMENTWISE_RELU &&
                  (int)MATRIX_SIGMOID == ELEMENTWISE_SIGMOID,
              "204 has the same operations");

static failure gpu_elementwise(device *d, matrix_op op, float *y, const float *a, const float *b,
                               size_t n)
{
    gpu *g = use(d);
    return words_of(elementwise(op, y, a, b, n, grid_for(g, n), THREADS, g->stream));
}

static failure gpu_sum(device *d, float *h_total, const float *x, size_t n)
{
    gpu *g = use(d);
    float *total;
    failure failed = gpu_allocate(d, &total, 1);
    if (failed) return failed;
    failed = words_of(reduce_sum(total, x, n, g->stream));
    if (!failed) failed = gpu_download(d, h_total, total, 1);
    failure left = gpu_release(d, total, 1);
    return failed ? failed : left;
}

#if !defined __clang__ || !defined __CUDA_ARCH__ /* it puts constants on the device, too */
const backend backend_cuda = {
    gpu_open,   gpu_close,    gpu_synchronize, gpu_memory, gpu_allocate,    gpu_release,
    gpu_upload, gpu_download, gpu_fill,        gpu_matmul, gpu_elementwise, gpu_sum,
};
#endif
