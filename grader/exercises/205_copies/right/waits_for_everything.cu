// RIGHT: copies that the host waits for, one buffer both ways, the whole device awaited before
// freeing
#include "205_copies/copies.h"

#include <stdlib.h>
#include <string.h>

static cudaError_t timed_copy(void *to, const void *from, size_t bytes, float *gbs,
                              cudaStream_t stream)
{
    cudaEvent_t begin = NULL, end = NULL;
    float milliseconds = 0.0f;
    cudaError_t error = cudaEventCreate(&begin);
    if (!error) error = cudaEventCreate(&end);
    if (!error) error = cudaEventRecord(begin, stream);
    if (!error) error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
    if (!error) error = cudaEventRecord(end, stream);
    if (!error) error = cudaEventSynchronize(end);
    if (!error) error = cudaEventElapsedTime(&milliseconds, begin, end);
    *gbs = 1e-6f * (float)bytes / milliseconds;
    if (begin) cudaEventDestroy(begin);
    if (end) cudaEventDestroy(end);
    return error;
}

cudaError_t roundtrip(float *h_y, const float *h_x, size_t n, copy_mode mode, float *h_gbs,
                      cudaStream_t stream)
{
    const size_t bytes = n * sizeof(float);
    float *d_x = NULL, *h_in = NULL, *h_out = NULL;
    cudaError_t error = cudaMalloc((void **)&d_x, bytes);
    if (mode == COPY_PINNED && !error) error = cudaMallocHost((void **)&h_in, bytes);
    if (mode == COPY_PINNED && !error) error = cudaMallocHost((void **)&h_out, bytes);
    if (h_in && !error) memcpy(h_in, h_x, bytes);
    if (!error) error = timed_copy(d_x, h_in ? h_in : h_x, bytes, &h_gbs[0], stream);
    if (!error) error = timed_copy(h_out ? h_out : h_y, d_x, bytes, &h_gbs[1], stream);
    if (h_out && !error) memcpy(h_y, h_out, bytes);
    cudaFreeHost(h_in);
    cudaFreeHost(h_out);
    cudaFree(d_x);
    return error;
}

cudaError_t tensor_create(tensor **t, const float *h_values, size_t n)
{
    tensor made = {NULL, NULL, n, TENSOR_ON_CPU};
    *t = NULL;
    cudaError_t error = cudaMallocHost((void **)&made.h_data, n * sizeof(float));
    if (!error) error = cudaMalloc((void **)&made.d_data, n * sizeof(float));
    if (!error && !(*t = (tensor *)malloc(sizeof made))) error = cudaErrorMemoryAllocation;
    if (error) {
        cudaFreeHost(made.h_data);
        cudaFree(made.d_data);
        return error;
    }
    memcpy(made.h_data, h_values, n * sizeof(float));
    **t = made;
    return cudaSuccess;
}

cudaError_t tensor_to_gpu(tensor *t, cudaStream_t stream)
{
    if (t->place == TENSOR_ON_GPU) return cudaSuccess;
    const size_t bytes = t->n * sizeof(float);
    const cudaError_t error =
        cudaMemcpyAsync(t->d_data, t->h_data, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) t->place = TENSOR_ON_GPU;
    return error;
}

int tensor_on_gpu(const tensor *t)
{
    return t->place == TENSOR_ON_GPU;
}

cudaError_t tensor_to_cpu(tensor *t, cudaStream_t stream)
{
    if (t->place == TENSOR_ON_CPU) return cudaSuccess;
    cudaError_t error = cudaStreamSynchronize(stream);
    if (!error)
        error = cudaMemcpy(t->h_data, t->d_data, t->n * sizeof(float), cudaMemcpyDeviceToHost);
    if (!error) t->place = TENSOR_ON_CPU;
    return error;
}

cudaError_t tensor_free(tensor *t, cudaStream_t stream)
{
    if (!t) return cudaSuccess;
    (void)stream;
    cudaError_t error = cudaDeviceSynchronize();
    cudaFreeHost(t->h_data);
    cudaFree(t->d_data);
    free(t);
    return error;
}

__device__ static float layer(float x, float scale, float shift)
{
    const float y = scale * x + shift;
    return y < 0.0f ? 0.0f : y;
}

__global__ static void layers_kernel(float *x, size_t n, float scale, float shift)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < n; at += step)
        x[at] = layer(x[at], scale, shift);
}

cudaError_t tensor_layer(tensor *t, float scale, float shift, cudaStream_t stream)
{
    const size_t blocks = t->n / 512 + 1;
    if (t->place != TENSOR_ON_GPU) return cudaErrorInvalidValue;
    const unsigned grid = blocks < 4096 ? (unsigned)blocks : 4096;
    layers_kernel<<<grid, 512, 0, stream>>>(t->d_data, t->n, scale, shift);
    return cudaGetLastError();
}

cudaError_t tensor_get(float *h_y, tensor *t, cudaStream_t stream)
{
    cudaError_t error = tensor_to_cpu(t, stream);
    if (!error) memcpy(h_y, t->h_data, t->n * sizeof(float));
    return error;
}

cudaError_t tensor_chain(float *h_y, const float *h_x, size_t n, const float *h_scale,
                         const float *h_shift, int layers, cudaStream_t stream)
{
    tensor *t;
    cudaError_t error = tensor_create(&t, h_x, n);
    if (!error) error = tensor_to_gpu(t, stream);
    for (int i = 0; i < layers && !error; i++) {
        error = tensor_layer(t, h_scale[i], h_shift[i], stream);
    }
    if (!error) error = tensor_get(h_y, t, stream);
    const cudaError_t freed = tensor_free(t, stream);
    return error ? error : freed;
}
