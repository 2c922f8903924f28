// RIGHT: asks before it tries, for memory too; fills by copies that double
#include "202_devices/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char said[200];

static cudaError_t leave(cudaError_t e)
{
    while (cudaGetLastError() != cudaSuccess) continue;
    return e;
}

void device_words(char *h, size_t size)
{
    if (size > 0) strncpy(h, said, size - 1)[size - 1] = 0;
}

cudaError_t device_count(int *n)
{
    if (cudaGetDeviceCount(n) == cudaSuccess) return cudaSuccess;
    *n = 0;
    return leave(cudaSuccess);
}

static int missing(int device)
{
    int n;
    device_count(&n);
    if (0 <= device && device < n) return cudaSetDevice(device) != cudaSuccess;
    sprintf(said, "%d devices, number %d is not among them", n, device);
    return 1;
}

cudaError_t device_new(device_info *d, int number)
{
    if (missing(number)) return leave(cudaErrorInvalidDevice);
    memset(d, 0, sizeof *d);
    d->number = number;
    cudaDeviceGetAttribute(&d->multiprocessors, cudaDevAttrMultiProcessorCount, number);
    cudaDeviceGetAttribute(&d->most_threads, cudaDevAttrMaxThreadsPerBlock, number);
    cudaMemGetInfo(&d->free_bytes, &d->bytes);
    return cudaPeekAtLastError();
}

cudaError_t default_device(int *number)
{
    device_info best = {}, d;
    int n;
    device_count(&n);
    *number = n ? 0 : -1;
    for (int i = 0; i < n; i++) {
        cudaError_t e = device_new(&d, i);
        if (e) return e;
        if (d.multiprocessors > best.multiprocessors) best = d, *number = i;
    }
    return cudaSuccess;
}

cudaError_t synchronize(int device)
{
    return missing(device) ? leave(cudaErrorInvalidDevice) : cudaDeviceSynchronize();
}

cudaError_t tensor_release(tensor *t)
{
    if (t == NULL) return cudaSuccess;
    float *d = t->d_data;
    free(t);
    return cudaFree(d);
}

static cudaError_t room(tensor **t, int device, size_t n)
{
    device_info d;
    *t = NULL;
    if (device_new(&d, device)) return leave(cudaErrorInvalidDevice);
    tensor x = {};
    x.n = n;
    x.place = TENSOR_ON_GPU;
    if (n > d.free_bytes / 4 || cudaMalloc((void **)&x.d_data, 4 * n)) {
        sprintf(said, "%zu floats do not fit into %zu bytes", n, d.free_bytes);
        return leave(cudaErrorMemoryAllocation);
    }
    *t = (tensor *)malloc(sizeof x);
    **t = x;
    return cudaSuccess;
}

static cudaError_t settle(tensor **t, cudaError_t e)
{
    if (!e) e = cudaDeviceSynchronize();
    if (!e) return e;
    tensor_release(*t);
    *t = NULL;
    return e;
}

cudaError_t zeros(tensor **t, int device, size_t n)
{
    cudaError_t e = room(t, device, n);
    if (!e && n > 0) e = cudaMemset((*t)->d_data, 0, 4 * n);
    return settle(t, e);
}

cudaError_t ones(tensor **t, int device, size_t n)
{
    const float one = 1;
    cudaError_t e = room(t, device, n);
    if (e || n == 0) return e;
    float *x = (*t)->d_data;
    e = cudaMemcpy(x, &one, 4, cudaMemcpyHostToDevice);
    for (size_t have = 1; have < n && !e; have *= 2) {
        e = cudaMemcpy(x + have, x, 4 * (have < n - have ? have : n - have),
                       cudaMemcpyDeviceToDevice);
    }
    return settle(t, e);
}

cudaError_t from_slice(tensor **t, int device, const float *h, size_t count, size_t rows,
                       size_t cols)
{
    *t = NULL;
    if ((rows > 0 && cols > (size_t)-1 / rows) || rows * cols != count) {
        sprintf(said, "shape %zu x %zu, but there are %zu", rows, cols, count);
        return leave(cudaErrorInvalidValue);
    }
    cudaError_t e = room(t, device, count);
    if (!e && count > 0) e = cudaMemcpy((*t)->d_data, h, 4 * count, cudaMemcpyHostToDevice);
    return settle(t, e);
}

cudaError_t to_vec(float *h, size_t count, const tensor *t)
{
    if (count == t->n) return cudaMemcpy(h, t->d_data, 4 * count, cudaMemcpyDeviceToHost);
    sprintf(said, "%zu are asked for, %zu are there", count, t->n);
    return leave(cudaErrorInvalidValue);
}

__global__ static void who(int *out)
{
    out[threadIdx.x] = (int)threadIdx.x;
}

cudaError_t launch_threads(int *out, int threads, cudaStream_t stream)
{
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    if (threads > p.maxThreadsPerBlock) {
        sprintf(said, "%d > %d threads", threads, p.maxThreadsPerBlock);
        return leave(cudaErrorInvalidConfiguration);
    }
    if (threads > 0) who<<<1, threads, 0, stream>>>(out);
    return cudaPeekAtLastError();
}
