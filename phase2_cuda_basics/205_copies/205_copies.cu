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

/* TODO: timed_copy: an event, the copy, another event on the stream; wait for the second; from
   the time between the two (in milliseconds) the gigabytes per second (about 14 lines). */

cudaError_t roundtrip(float *h_y, const float *h_x, size_t n, copy_mode mode, float *h_gbs,
                      cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* TODO: device memory, and for COPY_PINNED pinned memory too: h_x is copied into it first,
       and h_y out of it last; two timed copies; free both (about 14 lines). */
    NOT_IMPLEMENTED(h_y, h_x, n, mode, h_gbs, stream);
    return error;
}

/* ---- a tensor -------------------------------------------------------------------------------- */

cudaError_t tensor_create(tensor **t, const float *h_values, size_t n)
{
    cudaError_t error = cudaSuccess;
    *t = NULL;
    /* TODO: the struct by calloc, h_data pinned, d_data on the device; on an error free what
       was allocated; else copy h_values and hand it over (about 11 lines). */
    NOT_IMPLEMENTED(t, h_values, n);
    return error;
}

cudaError_t tensor_to_gpu(tensor *t, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* TODO: nothing if the numbers are there; else an asynchronous copy, and if it could be
       started, note where they are now (4 lines). */
    NOT_IMPLEMENTED(t, stream);
    return error;
}

int tensor_on_gpu(const tensor *t)
{
    int there = 0;
    /* TODO: ask for its place (1 line). */
    NOT_IMPLEMENTED(t);
    return there;
}

cudaError_t tensor_to_cpu(tensor *t, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* TODO: the same in the other direction, then wait for the stream: the caller reads next
       (5 lines). */
    NOT_IMPLEMENTED(t, stream);
    return error;
}

cudaError_t tensor_free(tensor *t, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* TODO: a copy may still be reading: wait for the stream, then free both, then the struct
       (about 5 lines). */
    NOT_IMPLEMENTED(t, stream);
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
    /* TODO: a tensor of h_x; to the GPU; all layers; get; free, in any case (about 8 lines). */
    NOT_IMPLEMENTED(h_y, h_x, n, h_scale, h_shift, layers, stream);
    return error;
}
