/* diagnostics_host.cu: mistakes of the host's side, how serious the checks are, and what they must
 * not say of programs that are right. */
#include "check.h"
/* What is announced stands on the very line, however long. */
// clang-format off

#include <cassert>

__global__ void set(int *p)
{
    p[threadIdx.x] = 1;
}

/* ---- freeing --------------------------------------------------------------------------------- */

CASE(freed_twice)
{
    int *p = device_array<int>(100); // ALLOCATED freed_twice
    OK(cudaFree(p)); // FREED freed_twice
    FAILS(cudaFree(p), cudaErrorInvalidValue); // FINDING freed_twice: double-free
}

CASE(freed_once_each)
{
    for (int i = 0; i < 50; i++) {
        int *p = device_array<int>(100), *q = device_array<int>(100);
        OK(cudaFree(p));
        OK(cudaFree(q));
    }
}

// STDERR freed_in_the_middle: 16 bytes into a 400-byte buffer
CASE(freed_in_the_middle)
{
    int *p = device_array<int>(100); // ALLOCATED freed_in_the_middle
    FAILS(cudaFree(p + 4), cudaErrorInvalidValue); // FINDING freed_in_the_middle: bad-free
}

// STDERR pinned_freed_as_device: host memory, for cudaFreeHost
CASE(pinned_freed_as_device)
{
    void *p;
    OK(cudaMallocHost(&p, 64));
    FAILS(cudaFree(p), cudaErrorInvalidValue); // FINDING pinned_freed_as_device: bad-free
    OK(cudaFreeHost(p));
}

CASE(null_is_freed)
{
    OK(cudaFree(nullptr));
    OK(cudaFreeHost(nullptr));
}

__global__ void free_some(void **kept, int times)
{
    void *p = kept[threadIdx.x] = malloc(16);
    for (int i = 0; i < times; i++) free(p); // FINDING kernel_frees_twice: double-free
}

CASE(kernel_frees_twice)
{
    free_some<<<1, 1>>>(device_array<void *>(1), 2);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(kernel_frees_once)
{
    free_some<<<1, 32>>>(device_array<void *>(32), 1);
    SYNC();
}

/* ---- launches that nobody asks about --------------------------------------------------------- */

// STDERR refused_and_not_asked: argument, 2000 threads in x of a block: from 1 to 1024 are allowed
CASE(refused_and_not_asked)
{
    int *p = device_array<int>(32);
    set<<<1, 2000>>>(p); // FINDING refused_and_not_asked: unchecked-error
    set<<<1, 32>>>(p);
    OK(cudaDeviceSynchronize());
}

CASE(refused_at_the_end)
{
    set<<<1, 2000>>>(device_array<int>(32)); // FINDING refused_at_the_end: unchecked-error
}

CASE(refused_and_asked)
{
    set<<<1, 2000>>>(device_array<int>(32));
    FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

CASE(refused_and_peeked)
{
    set<<<1, 2000>>>(device_array<int>(32));
    FAILS(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
}

CASE(right_and_not_asked)
{
    set<<<1, 32>>>(device_array<int>(32));
}

CASE(launched_by_a_function_that_returns)
{
    int *p = device_array<int>(32);
    void *arguments[] = {&p};
    FAILS(cudaLaunchKernel((const void *)set, dim3(1), dim3(2000), arguments, 0, 0),
          cudaErrorInvalidConfiguration);
}

__global__ void write_null(int *p)
{
    *p = 1; // FINDING fault_and_not_asked: null-pointer // FINDING fault_and_asked: null-pointer
}

CASE(fault_and_not_asked)
{
    write_null<<<1, 1>>>(nullptr); // FINDING fault_and_not_asked: unchecked-error
}

CASE(fault_and_asked)
{
    write_null<<<1, 1>>>(nullptr);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

// ENV errors_can_be_off: SOFTGPU_CHECKS=warn,errors=off
CASE(errors_can_be_off)
{
    set<<<1, 2000>>>(device_array<int>(32));
}

/* ---- leaks ----------------------------------------------------------------------------------- */

// ENV leaks: SOFTGPU_CHECKS=warn,leaks
// STDERR leaks: leak: 400 bytes allocated at
// STDERR leaks: are never freed, 3 times
CASE(leaks)
{
    for (int i = 0; i < 3; i++) device_array<int>(100); // ALLOCATED leaks
    OK(cudaFree(device_array<int>(50)));
}

// ENV nothing_leaks: SOFTGPU_CHECKS=warn,leaks
CASE(nothing_leaks)
{
    void *p, *q;
    OK(cudaMallocHost(&p, 64));
    OK(cudaMallocManaged(&q, 64));
    OK(cudaFree(device_array<int>(100)));
    OK(cudaFreeHost(p));
    OK(cudaFree(q));
}

// ENV pinned_leaks: SOFTGPU_CHECKS=warn,leaks
// STDERR pinned_leaks: leak: 64 bytes of pinned host memory allocated at
CASE(pinned_leaks)
{
    void *p;
    OK(cudaMallocHost(&p, 64)); // ALLOCATED pinned_leaks
}

CASE(leaks_are_not_asked_for)
{
    device_array<int>(100);
}

static struct holder {
    int *p = nullptr;
    ~holder()
    {
        if (p) cudaFree(p);
    }
} holder;

// ENV freed_by_a_destructor: SOFTGPU_CHECKS=warn,leaks
CASE(freed_by_a_destructor)
{
    holder.p = device_array<int>(100);
}

/* ---- how serious ----------------------------------------------------------------------------- */

__global__ void copy(int *to, const int *from)
{
    *to = *from; // FINDING fatal: uninitialised // FINDING fatal_for_some: uninitialised // FINDING warn: uninitialised
}

// ENV fatal: SOFTGPU_CHECKS=fatal
// EXIT fatal: 1
CASE(fatal)
{
    int *p = device_array<int>(1), *q = device_array<int>(1);
    copy<<<1, 1>>>(p, q);
    FAILS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    FAILS(cudaMalloc(&p, 4), cudaErrorLaunchFailure);
}

// ENV fatal_but_not_this: SOFTGPU_CHECKS=fatal,uninitialised=off
CASE(fatal_but_not_this)
{
    copy<<<1, 1>>>(device_array<int>(1), device_array<int>(1));
    SYNC();
}

// ENV fatal_for_some: SOFTGPU_CHECKS=warn,uninitialised=fatal
// EXIT fatal_for_some: 1
CASE(fatal_for_some)
{
    copy<<<1, 1>>>(device_array<int>(1), device_array<int>(1));
    FAILS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

// ENV fatal_leak: SOFTGPU_CHECKS=fatal,leaks
// EXIT fatal_leak: 1
// STDERR fatal_leak: leak: 4 bytes allocated at
CASE(fatal_leak)
{
    device_array<int>(1);
}

// ENV fatal_and_right: SOFTGPU_CHECKS=fatal
CASE(fatal_and_right)
{
    set<<<1, 32>>>(device_array<int>(32));
    SYNC();
}

// ENV warn: SOFTGPU_CHECKS=warn
CASE(warn)
{
    copy<<<1, 1>>>(device_array<int>(1), device_array<int>(1));
    SYNC();
}

// ENV off: SOFTGPU_CHECKS=off
CASE(off)
{
    copy<<<1, 1>>>(device_array<int>(1), device_array<int>(1));
    set<<<1, 2000>>>(device_array<int>(32));
    FAILS(cudaFree((void *)123), cudaErrorInvalidValue);
}

// ENV unknown_words: SOFTGPU_CHECKS=warn,raceing
// STDERR unknown_words: 'raceing' is neither a level nor a check
CASE(unknown_words)
{
    set<<<1, 32>>>(device_array<int>(32));
    SYNC();
}

__global__ void assert_zero(int n)
{
    assert(n == 0); // FINDING assert_has_its_own_error: assert
}

CASE(assert_has_its_own_error)
{
    assert_zero<<<1, 1>>>(1);
    FAILS(cudaDeviceSynchronize(), cudaErrorAssert);
}

/* ---- the host touches the device's memory ---------------------------------------------------- */

// EXIT host_reads: 139
// STDERR host_reads: byte 12 of a 400-byte buffer allocated at
CASE(host_reads)
{
    volatile int *p = device_array<int>(100); // ALLOCATED host_reads
    CHECK(p[3] == 0); // FINDING host_reads: device-pointer-on-the-host
}

CASE(host_reads_what_it_copied)
{
    int *p = to_device(std::vector<int>(100, 3));
    CHECK(to_host(p, 100)[3] == 3);
}
