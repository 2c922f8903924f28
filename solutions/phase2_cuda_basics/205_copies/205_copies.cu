/*
 * 205_copies.cu: copies between host memory and GPU memory.
 *
 * The first idea: the bus between the two is far slower than either memory, so numbers should cross
 * it once in each direction, however much is computed in between. A tensor that records where its
 * numbers are takes care of that: moving them to where they already are is free.
 *
 * The second: a GPU fetches over the bus by itself, without the CPU, but only from memory that the
 * system has promised not to move. That is pinned memory. From other memory the driver first copies
 * the numbers into its own pinned memory, piece by piece, and that copy sets the pace.
 *
 * What it costs: pinning takes time, so it pays for memory that is used again. And the CPU, which
 * takes no part in the copy, must wait for it before it reads the destination, overwrites the
 * source, or frees either.
 */
#include "205_copies/copies.h"
#include "not_implemented.h"

#include <stdlib.h>
#include <string.h>

/* ---- there and back -------------------------------------------------------------------------- */

/* SOLUTION: timed_copy: an event, the copy, another event on the stream; wait for the second; from
   the time between the two (in milliseconds) the gigabytes per second (about 14 lines). */
static cudaError_t timed_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                              float *h_gbs, cudaStream_t stream)
{
    cudaEvent_t begin = NULL, end = NULL;
    float milliseconds = 0.0f;
    cudaError_t error = cudaEventCreate(&begin);
    if (!error) error = cudaEventCreate(&end);
    if (!error) error = cudaEventRecord(begin, stream);
    if (!error) error = cudaMemcpyAsync(to, from, bytes, kind, stream);
    if (!error) error = cudaEventRecord(end, stream);
    if (!error) error = cudaEventSynchronize(end); /* and with it for the copy */
    if (!error) error = cudaEventElapsedTime(&milliseconds, begin, end);
    if (!error) *h_gbs = 1e-6f * (float)bytes / milliseconds;
    if (begin) cudaEventDestroy(begin);
    if (end) cudaEventDestroy(end);
    return error;
}
/* END SOLUTION */

cudaError_t roundtrip(float *h_y, const float *h_x, size_t n, copy_mode mode, float *h_gbs,
                      cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: device memory, and for COPY_PINNED pinned memory too: h_x is copied into it first,
       and h_y out of it last; two timed copies; free both (about 14 lines). */
    const size_t bytes = n * sizeof(float);
    float *d_x = NULL, *h_pinned = NULL;
    error = cudaMalloc((void **)&d_x, bytes);
    if (!error && mode == COPY_PINNED) error = cudaMallocHost((void **)&h_pinned, bytes);
    if (!error && h_pinned) memcpy(h_pinned, h_x, bytes);
    const float *h_from = h_pinned ? h_pinned : h_x;
    float *h_to = h_pinned ? h_pinned : h_y;
    if (!error) error = timed_copy(d_x, h_from, bytes, cudaMemcpyHostToDevice, &h_gbs[0], stream);
    if (!error) error = timed_copy(h_to, d_x, bytes, cudaMemcpyDeviceToHost, &h_gbs[1], stream);
    if (!error && h_pinned) memcpy(h_y, h_pinned, bytes);
    cudaFreeHost(h_pinned);
    cudaFree(d_x);
    /* END SOLUTION */
    return error;
}

/* ---- a tensor -------------------------------------------------------------------------------- */

cudaError_t tensor_create(tensor **t, const float *h_values, size_t n)
{
    cudaError_t error = cudaSuccess;
    *t = NULL;
    /* SOLUTION: the struct by calloc, h_data pinned, d_data on the device; on an error free what
       was allocated; else copy h_values and hand it over (about 11 lines). */
    const size_t bytes = n * sizeof(float);
    tensor *made = (tensor *)calloc(1, sizeof *made);
    if (!made) return cudaErrorMemoryAllocation;
    error = cudaMallocHost((void **)&made->h_data, bytes);
    if (!error) error = cudaMalloc((void **)&made->d_data, bytes);
    if (error) {
        tensor_free(made, 0);
        return error;
    }
    memcpy(made->h_data, h_values, bytes);
    made->n = n;
    *t = made;
    /* END SOLUTION */
    return error;
}

cudaError_t tensor_to_gpu(tensor *t, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: nothing if the numbers are there; else an asynchronous copy, and if it could be
       started, note where they are now (4 lines). */
    if (tensor_on_gpu(t)) return cudaSuccess;
    error =
        cudaMemcpyAsync(t->d_data, t->h_data, t->n * sizeof(float), cudaMemcpyHostToDevice, stream);
    if (!error) t->place = TENSOR_ON_GPU;
    /* END SOLUTION */
    return error;
}

int tensor_on_gpu(const tensor *t)
{
    int there = 0;
    /* SOLUTION: ask for its place (1 line). */
    there = t->place == TENSOR_ON_GPU;
    /* END SOLUTION */
    return there;
}

cudaError_t tensor_to_cpu(tensor *t, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: the same in the other direction, then wait for the stream: the caller reads next
       (5 lines). */
    if (!tensor_on_gpu(t)) return cudaSuccess;
    error =
        cudaMemcpyAsync(t->h_data, t->d_data, t->n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    if (!error) error = cudaStreamSynchronize(stream);
    if (!error) t->place = TENSOR_ON_CPU;
    /* END SOLUTION */
    return error;
}

cudaError_t tensor_free(tensor *t, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: a copy may still be reading: wait for the stream, then free both, then the struct
       (about 5 lines). */
    if (!t) return cudaSuccess;
    error = cudaStreamSynchronize(stream); /* before memory in use by a copy is freed */
    cudaFreeHost(t->h_data);
    cudaFree(t->d_data);
    free(t);
    /* END SOLUTION */
    return error;
}

/* ---- layers: given --------------------------------------------------------------------------- */

__global__ static void layer_kernel(float *x, size_t n, float scale, float shift)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float y = scale * x[i] + shift;
    x[i] = y < 0.0f ? 0.0f : y; /* written this way, NaN stays NaN */
}

cudaError_t tensor_layer(tensor *t, float scale, float shift, cudaStream_t stream)
{
    if (!tensor_on_gpu(t)) return cudaErrorInvalidValue;
    layer_kernel<<<(unsigned)((t->n + 255) / 256), 256, 0, stream>>>(t->d_data, t->n, scale, shift);
    return cudaGetLastError();
}

cudaError_t tensor_get(float *h_y, tensor *t, cudaStream_t stream)
{
    cudaError_t error = tensor_to_cpu(t, stream);
    if (!error) memcpy(h_y, t->h_data, t->n * sizeof(float));
    return error;
}

/* ---- a chain --------------------------------------------------------------------------------- */

cudaError_t tensor_chain(float *h_y, const float *h_x, size_t n, const float *h_scale,
                         const float *h_shift, int layers, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: a tensor of h_x; to the GPU; all layers; get; free, in any case (about 8 lines). */
    tensor *t;
    error = tensor_create(&t, h_x, n);
    if (!error) error = tensor_to_gpu(t, stream);
    for (int i = 0; i < layers && !error; i++) {
        error = tensor_layer(t, h_scale[i], h_shift[i], stream);
    }
    if (!error) error = tensor_get(h_y, t, stream);
    const cudaError_t freed = tensor_free(t, stream);
    if (!error) error = freed;
    /* END SOLUTION */
    return error;
}
