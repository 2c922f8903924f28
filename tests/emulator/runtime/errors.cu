/* errors.cu: how the API reports what was asked wrongly. */
#include "check.h"

#include "softgpu.h"

#include <cuda.h>

__global__ void k(int *p)
{
    if (p) *p = 1;
}

__global__ void __launch_bounds__(64) bounded(int *p)
{
    if (p) *p = 1;
}

static void refused(dim3 grid, dim3 block, const char *why)
{
    k<<<grid, block>>>(nullptr);
    FAILS(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    CHECK(strstr(softgpu_refusal(), why));
    CHECK(!*softgpu_refusal());
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
}

CASE(words_of_the_driver)
{
    const char *words = "";
    CHECK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &words) == CUDA_SUCCESS);
    CHECK(!strcmp(words, cudaGetErrorString(cudaErrorIllegalAddress)));
    CHECK(cuGetErrorString((CUresult)-1, &words) == CUDA_ERROR_INVALID_VALUE && !words);
    CHECK(cuGetErrorString(CUDA_SUCCESS, nullptr) == CUDA_ERROR_INVALID_VALUE);
}

CASE(bad_launch_configuration)
{
    refused(1, 1025, "1025 threads in x of a block: from 1 to 1024 are allowed");
    refused(1, dim3(32, 33), "1056 threads per block: from 1 to 1024");
    refused(1, 0, "0 threads in x");
    refused(0, 32, "a grid of 0 blocks is an error");
    refused(dim3(1, 65536), 32, "65536 blocks in y of the grid: from 1 to 65535");
    refused(1, dim3(1, 1, 65), "65 threads in z");
    bounded<<<1, 128>>>(nullptr);
    FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    CHECK(strstr(softgpu_refusal(), "128 threads per block: from 1 to 64"));
    k<<<1, 32, 50 << 10>>>(nullptr);
    FAILS(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(strstr(softgpu_refusal(), "51200 bytes of dynamic shared memory: at most 49152"));
    k<<<1, 32>>>(nullptr);
    SYNC();
}

CASE(bad_device)
{
    int value;
    cudaDeviceProp properties;
    FAILS(cudaSetDevice(99), cudaErrorInvalidDevice);
    FAILS(cudaSetDevice(-1), cudaErrorInvalidDevice);
    FAILS(cudaGetLastError(), cudaErrorInvalidDevice);
    FAILS(cudaGetDeviceProperties(&properties, 5), cudaErrorInvalidDevice);
    FAILS(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 7), cudaErrorInvalidDevice);
    OK(cudaGetDevice(&value));
    CHECK(value == 0);
}

CASE(bad_copies)
{
    int host[16] = {}, *p = device_array<int>(16);
    FAILS(cudaMemcpy(p, host, 64, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(host, p, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(p, host, 64, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(p, host, 65, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(p, host, 4, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    FAILS(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
    FAILS(cudaMemset(p, 0, 65), cudaErrorInvalidValue);
    OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
}

CASE(bad_frees)
{
    int host = 0;
    char *p = device_array<char>(100);
    FAILS(cudaFree(p + 4), cudaErrorInvalidValue); // FINDING bad_frees: bad-free
    FAILS(cudaFree(&host), cudaErrorInvalidValue); // FINDING bad_frees: bad-free
    OK(cudaFree(p));
    FAILS(cudaFree(p), cudaErrorInvalidValue); // FINDING bad_frees: double-free
    OK(cudaFree(nullptr));
    FAILS(cudaFreeHost(&host), cudaErrorInvalidValue); // FINDING bad_frees: bad-free
    OK(cudaFreeHost(nullptr));
}

CASE(out_of_memory)
{
    void *p;
    FAILS(cudaMalloc(&p, (size_t)1 << 50), cudaErrorMemoryAllocation);
    OK(cudaMalloc(&p, 0));
    CHECK(p == nullptr);
    FAILS(cudaMalloc((void **)nullptr, 16), cudaErrorInvalidValue);
}

CASE(names)
{
    CHECK(!strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
    CHECK(!strcmp(cudaGetErrorString(cudaErrorIllegalAddress),
                  "an illegal memory access was encountered"));
    CHECK(!strcmp(cudaGetErrorString(cudaSuccess), "no error"));
    CHECK(!strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code"));
}

CASE(last_error_is_the_last)
{
    FAILS(cudaFree((void *)123), cudaErrorInvalidValue); // FINDING last_error_is_the_last: bad-free
    FAILS(cudaSetDevice(9), cudaErrorInvalidDevice);
    OK(cudaDeviceSynchronize());
    FAILS(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    FAILS(cudaGetLastError(), cudaErrorInvalidDevice);
    OK(cudaGetLastError());
}

CASE(reset_starts_anew)
{
    int *p = device_array<int>(4), value = 0;
    k<<<1, 1>>>(p);
    OK(cudaDeviceReset());
    p = device_array<int>(4);
    k<<<1, 1>>>(p);
    OK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    CHECK(value == 1);
}

// STDERR unsupported_functions_say_so: cudaMemRangeGetAttribute is not supported
CASE(unsupported_functions_say_so)
{
    int answer;
    const cudaMemRangeAttribute what = cudaMemRangeAttributeReadMostly;
    FAILS(cudaMemRangeGetAttribute(&answer, 4, what, &answer, 4), cudaErrorNotSupported);
    FAILS(cudaMemRangeGetAttribute(&answer, 4, what, &answer, 4), cudaErrorNotSupported);
    FAILS(cudaGetLastError(), cudaErrorNotSupported);
}
