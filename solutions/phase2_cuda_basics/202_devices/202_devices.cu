/*
 * 202_devices.cu: which GPUs there are, memory on each of them, and what to do when a call fails.
 *
 * The idea: a CUDA call that fails returns an error and stops nothing. A program that does not
 * check it goes on with data that was never there. A launch returns nothing at all:
 * cudaGetLastError reports its error afterwards. Too many threads, too much memory, a device that
 * does not exist: after these the GPU works as before, so a program can report them to its caller
 * in words.
 *
 * What it costs: a line for each call. Reading the last error also clears it: if it stayed, the
 * next check would take it for the error of a later call.
 *
 * What it leaves: after a kernel has crashed every call fails until the process ends. Such an error
 * is sticky, and no call can clear it.
 */
#include "202_devices/devices.h"
#include "cuda_check.h"
#include "not_implemented.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 256

/* ---- words ----------------------------------------------------------------------------------- */

static char words[256]; /* of the last call that failed */

void device_words(char *h_words, size_t size)
{
    snprintf(h_words, size, "%s", words);
}

/* SOLUTION: refuse: keep the words, clear the runtime's last error, return yours (about 9 lines).
 */
static cudaError_t refuse(cudaError_t error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    cudaGetLastError(); /* it is reported: no later call may find it */
    return error;
}
/* END SOLUTION */

/* ---- devices --------------------------------------------------------------------------------- */

cudaError_t device_count(int *h_count)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: ask; to have no device is no error (about 5 lines). */
    error = cudaGetDeviceCount(h_count);
    if (error == cudaErrorNoDevice) {
        *h_count = 0;
        error = refuse(cudaSuccess, "there is no device");
    }
    /* END SOLUTION */
    return error;
}

/* SOLUTION: choose: make the device of that number the current one, if it exists (about 7 lines).
 */
static cudaError_t choose(int device)
{
    int count;
    CUDA_CHECK(device_count(&count));
    if (device < 0 || device >= count) {
        return refuse(cudaErrorInvalidDevice, "there is no device %d: there are %d, from 0 on",
                      device, count);
    }
    return cudaSetDevice(device);
}
/* END SOLUTION */

cudaError_t device_new(device_info *h_info, int number)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: choose it; two attributes; cudaMemGetInfo (about 9 lines). */
    error = choose(number);
    if (error) return error;
    h_info->number = number;
    CUDA_CHECK(
        cudaDeviceGetAttribute(&h_info->multiprocessors, cudaDevAttrMultiProcessorCount, number));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&h_info->most_threads, cudaDevAttrMaxThreadsPerBlock, number));
    error = cudaMemGetInfo(&h_info->free_bytes, &h_info->bytes);
    /* END SOLUTION */
    return error;
}

cudaError_t default_device(int *h_number)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: each of them; keep the one with most multiprocessors (about 11 lines). */
    device_info info;
    int count, most = 0;
    error = device_count(&count);
    *h_number = -1;
    for (int i = 0; i < count && !error; i++) {
        error = device_new(&info, i);
        if (error || info.multiprocessors <= most) continue;
        most = info.multiprocessors;
        *h_number = i;
    }
    /* END SOLUTION */
    return error;
}

cudaError_t synchronize(int device)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: choose it, wait for it (2 lines). */
    error = choose(device);
    if (!error) error = cudaDeviceSynchronize();
    /* END SOLUTION */
    return error;
}

/* ---- tensors --------------------------------------------------------------------------------- */

cudaError_t tensor_release(tensor *t)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: the memory, then the struct (about 3 lines). */
    if (!t) return cudaSuccess;
    error = cudaFree(t->d_data);
    free(t);
    /* END SOLUTION */
    return error;
}

/* SOLUTION: allocate: choose the device; do the bytes fit in a size_t? the struct by calloc; its
   memory; after an error nothing is left (about 18 lines). */
static cudaError_t allocate(tensor **t, int device, size_t n)
{
    *t = NULL;
    const cudaError_t error = choose(device);
    if (error) return error;
    tensor *made = (tensor *)calloc(1, sizeof *made);
    if (!made || n > SIZE_MAX / sizeof(float) ||
        cudaMalloc((void **)&made->d_data, n * sizeof(float)) != cudaSuccess) {
        free(made);
        return refuse(cudaErrorMemoryAllocation, "no memory for %zu floats on device %d", n,
                      device);
    }
    made->n = n;
    made->place = TENSOR_ON_GPU;
    *t = made;
    return cudaSuccess;
}
/* END SOLUTION */

/* SOLUTION: finish: wait for what fills it; after an error release it (about 8 lines). */
static cudaError_t finish(tensor **t, cudaError_t error)
{
    if (!error) error = cudaDeviceSynchronize();
    if (error) {
        tensor_release(*t);
        *t = NULL;
    }
    return error;
}
/* END SOLUTION */

cudaError_t zeros(tensor **t, int device, size_t n)
{
    cudaError_t error = cudaSuccess;
    *t = NULL;
    /* SOLUTION: allocate, fill by cudaMemset, finish (3 lines). */
    error = allocate(t, device, n);
    if (error) return error;
    error = finish(t, cudaMemset((*t)->d_data, 0, n * sizeof(float)));
    /* END SOLUTION */
    return error;
}

/* SOLUTION: fill_kernel: one number per thread (about 5 lines). */
__global__ static void fill_kernel(float *x, size_t n, float value)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) x[i] = value;
}
/* END SOLUTION */

cudaError_t ones(tensor **t, int device, size_t n)
{
    cudaError_t error = cudaSuccess;
    *t = NULL;
    /* SOLUTION: the same with your kernel, if n is not 0 (about 6 lines). */
    error = allocate(t, device, n);
    if (error || n == 0) return error;
    fill_kernel<<<(unsigned)((n - 1) / THREADS + 1), THREADS>>>((*t)->d_data, n, 1.0f);
    error = finish(t, cudaGetLastError());
    /* END SOLUTION */
    return error;
}

cudaError_t from_slice(tensor **t, int device, const float *h_values, size_t count, size_t rows,
                       size_t cols)
{
    cudaError_t error = cudaSuccess;
    *t = NULL;
    /* SOLUTION: is count rows * cols, which may not fit in a size_t? allocate, copy, finish (about
       8 lines). */
    if (cols ? count % cols || count / cols != rows : count) {
        return refuse(cudaErrorInvalidValue, "%zu numbers are no %zu x %zu", count, rows, cols);
    }
    error = allocate(t, device, count);
    if (error) return error;
    error = finish(
        t, cudaMemcpy((*t)->d_data, h_values, count * sizeof(float), cudaMemcpyHostToDevice));
    /* END SOLUTION */
    return error;
}

cudaError_t to_vec(float *h_y, size_t count, const tensor *t)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: does it have count numbers? one copy (about 5 lines). */
    if (count != t->n) {
        return refuse(cudaErrorInvalidValue, "room for %zu numbers, and the tensor has %zu", count,
                      t->n);
    }
    error = cudaMemcpy(h_y, t->d_data, count * sizeof(float), cudaMemcpyDeviceToHost);
    /* END SOLUTION */
    return error;
}

/* ---- a launch -------------------------------------------------------------------------------- */

__global__ static void number_kernel(int *out)
{
    out[threadIdx.x] = (int)threadIdx.x;
}

cudaError_t launch_threads(int *out, int threads, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (threads > 0) number_kernel<<<1, threads, 0, stream>>>(out);
    /* SOLUTION: did the launch fail? Then how many threads may a block have? (about 8 lines). */
    error = cudaGetLastError();
    if (error) {
        int device = 0, most = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, device);
        error = refuse(cudaErrorInvalidConfiguration,
                       "a block of %d threads, of which there may be %d", threads, most);
    }
    /* END SOLUTION */
    return error;
}
