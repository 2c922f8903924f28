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

/* TODO: refuse: keep the words, clear the runtime's last error, return yours (about 9 lines).
 */

/* ---- devices --------------------------------------------------------------------------------- */

cudaError_t device_count(int *h_count)
{
    cudaError_t error = cudaSuccess;
    /* TODO: ask; to have no device is no error (about 5 lines). */
    NOT_IMPLEMENTED(h_count);
    return error;
}

/* TODO: choose: make the device of that number the current one, if it exists (about 7 lines).
 */

cudaError_t device_new(device_info *h_info, int number)
{
    cudaError_t error = cudaSuccess;
    /* TODO: choose it; two attributes; cudaMemGetInfo (about 9 lines). */
    NOT_IMPLEMENTED(h_info, number);
    return error;
}

cudaError_t default_device(int *h_number)
{
    cudaError_t error = cudaSuccess;
    /* TODO: each of them; keep the one with most multiprocessors (about 11 lines). */
    NOT_IMPLEMENTED(h_number);
    return error;
}

cudaError_t synchronize(int device)
{
    cudaError_t error = cudaSuccess;
    /* TODO: choose it, wait for it (2 lines). */
    NOT_IMPLEMENTED(device);
    return error;
}

/* ---- tensors --------------------------------------------------------------------------------- */

cudaError_t tensor_release(tensor *t)
{
    cudaError_t error = cudaSuccess;
    /* TODO: the memory, then the struct (about 3 lines). */
    NOT_IMPLEMENTED(t);
    return error;
}

/* TODO: allocate: choose the device; do the bytes fit in a size_t? the struct by calloc; its
   memory; after an error nothing is left (about 18 lines). */

/* TODO: finish: wait for what fills it; after an error release it (about 8 lines). */

cudaError_t zeros(tensor **t, int device, size_t n)
{
    cudaError_t error = cudaSuccess;
    *t = NULL;
    /* TODO: allocate, fill by cudaMemset, finish (3 lines). */
    NOT_IMPLEMENTED(t, device, n);
    return error;
}

/* TODO: fill_kernel: one number per thread (about 5 lines). */

cudaError_t ones(tensor **t, int device, size_t n)
{
    cudaError_t error = cudaSuccess;
    *t = NULL;
    /* TODO: the same with your kernel, if n is not 0 (about 6 lines). */
    NOT_IMPLEMENTED(t, device, n);
    return error;
}

cudaError_t from_slice(tensor **t, int device, const float *h_values, size_t count, size_t rows,
                       size_t cols)
{
    cudaError_t error = cudaSuccess;
    *t = NULL;
    /* TODO: is count rows * cols, which may not fit in a size_t? allocate, copy, finish (about
       8 lines). */
    NOT_IMPLEMENTED(t, device, h_values, count, rows, cols);
    return error;
}

cudaError_t to_vec(float *h_y, size_t count, const tensor *t)
{
    cudaError_t error = cudaSuccess;
    /* TODO: does it have count numbers? one copy (about 5 lines). */
    NOT_IMPLEMENTED(h_y, count, t);
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
    /* TODO: did the launch fail? Then how many threads may a block have? (about 8 lines). */
    NOT_IMPLEMENTED(out, threads, stream);
    return error;
}
