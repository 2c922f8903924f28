/* pinned.cu: host memory that kernels touch. */
#include "check.h"

__global__ void add(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += i; // FINDING past_the_end: out-of-bounds
}

/* With unified addressing all pinned memory is mapped, asked for or not. */
CASE(any_pinned_memory)
{
    for (unsigned flags : {cudaHostAllocDefault, cudaHostAllocMapped, cudaHostAllocPortable}) {
        int *host, *device;
        unsigned got;
        OK(cudaHostAlloc(&host, 100 * sizeof(int), flags));
        OK(cudaHostGetDevicePointer(&device, host, 0));
        OK(cudaHostGetFlags(&got, host));
        CHECK(device == host && (got & flags) == flags);
        for (int i = 0; i < 100; i++) host[i] = 1;
        add<<<1, 128>>>(host, 100);
        SYNC();
        for (int i = 0; i < 100; i++) CHECK(host[i] == 1 + i);
        OK(cudaFreeHost(host));
    }
}

// STDERR past_the_end: past the end of a 400-byte buffer
CASE(past_the_end)
{
    int *host;
    OK(cudaMallocHost(&host, 400));
    memset(host, 0, 400);
    add<<<1, 128>>>(host, 128);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void late(int *p)
{
    *p = 1; // FINDING after_free: use-after-free
}

CASE(after_free)
{
    int *host;
    OK(cudaMallocHost(&host, 64));
    OK(cudaFreeHost(host));
    late<<<1, 1>>>(host);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(registered_to_be_copied)
{
    std::vector<int> own(100, 1);
    int *device = device_array<int>(100);
    OK(cudaHostRegister(own.data(), 400, cudaHostRegisterDefault));
    FAILS(cudaHostRegister(own.data(), 400, 0), cudaErrorHostMemoryAlreadyRegistered);
    cudaGetLastError();
    OK(cudaMemcpyAsync(device, own.data(), 400, cudaMemcpyHostToDevice, 0));
    add<<<1, 128>>>(device, 100);
    OK(cudaMemcpyAsync(own.data(), device, 400, cudaMemcpyDeviceToHost, 0));
    SYNC();
    CHECK(own[0] == 1 && own[99] == 100);
    OK(cudaHostUnregister(own.data()));
    FAILS(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
}

// IN-PROCESS registered: memory that the program registers
CASE(registered)
{
    std::vector<int> own(100, 1);
    int *device, inner;
    unsigned flags;
    OK(cudaHostRegister(own.data(), 400, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&device, own.data() + 1, 0));
    OK(cudaHostGetFlags(&flags, own.data()));
    CHECK(device == own.data() + 1 && (flags & cudaHostRegisterMapped));
    add<<<1, 128>>>(own.data(), 100);
    SYNC();
    CHECK(own[0] == 1 && own[99] == 100);
    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, own.data() + 50));
    CHECK(a.type == cudaMemoryTypeHost && a.devicePointer == own.data() + 50);
    OK(cudaMemcpy(&inner, own.data() + 99, 4, cudaMemcpyDeviceToHost));
    CHECK(inner == 100);
    OK(cudaHostUnregister(own.data()));
    FAILS(cudaHostGetDevicePointer(&device, own.data(), 0), cudaErrorInvalidValue);
    cudaGetLastError();
}

__global__ void unregistered_add(int *p)
{
    p[threadIdx.x] += 1; // FINDING unregistered: host-pointer
}

// IN-PROCESS unregistered: memory that the program registers
CASE(unregistered)
{
    std::vector<int> own(100, 1);
    OK(cudaHostRegister(own.data(), 400, 0));
    OK(cudaHostUnregister(own.data()));
    unregistered_add<<<1, 32>>>(own.data());
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void count(unsigned *counter)
{
    atomicAdd(counter, 1);
}

// IN-PROCESS atomics: memory that the program registers
CASE(atomics)
{
    unsigned *pinned, own = 0;
    OK(cudaMallocHost(&pinned, sizeof *pinned));
    *pinned = 0;
    OK(cudaHostRegister(&own, sizeof own, 0));
    count<<<16, 128>>>(pinned);
    count<<<16, 128>>>(&own);
    SYNC();
    CHECK(*pinned == 2048 && own == 2048);
    OK(cudaHostUnregister(&own));
}

CASE(copies_and_fills)
{
    int *pinned, *managed, *plain = to_device(std::vector<int>(16, 3));
    OK(cudaMallocHost(&pinned, 64));
    OK(cudaMallocManaged(&managed, 64));
    OK(cudaMemcpy(pinned, plain, 64, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(managed, pinned, 64, cudaMemcpyHostToDevice));
    CHECK(pinned[15] == 3 && managed[15] == 3);
    OK(cudaMemset(pinned, 0, 64));
    OK(cudaMemset(managed, 1, 4));
    CHECK(pinned[15] == 0 && managed[0] == 0x01010101 && managed[1] == 3);
    FAILS(cudaMemcpy(pinned, plain, 65, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemset(managed, 0, 65), cudaErrorInvalidValue);
    FAILS(cudaFree(pinned), cudaErrorInvalidValue);      // FINDING copies_and_fills: bad-free
    FAILS(cudaFreeHost(managed), cudaErrorInvalidValue); // FINDING copies_and_fills: bad-free
    OK(cudaFree(managed));
    FAILS(cudaFree(managed), cudaErrorInvalidValue); // FINDING copies_and_fills: double-free
    cudaGetLastError();
}

/* Freed host memory is gone for the host as well. */
// EXIT host_after_free: 139
// STDERR host_after_free: out of bounds: host code touches
CASE(host_after_free)
{
    volatile int *host;
    OK(cudaMallocHost((void **)&host, 64));
    host[0] = 1;
    OK(cudaFreeHost((void *)host));
    CHECK(host[0] == 1);
}

/* Many come and go; those that live never overlap. */
CASE(many)
{
    enum { SLOTS = 40 };
    int *at[SLOTS] = {};
    srand(1);
    for (int round = 0; round < 1000; round++) {
        int slot = rand() % SLOTS, n = 1 + rand() % 5000;
        if (at[slot]) CHECK(at[slot][0] == slot);
        OK(cudaFreeHost(at[slot]));
        OK(cudaMallocHost(&at[slot], n * sizeof(int)));
        CHECK(at[slot][0] == 0 && at[slot][n - 1] == 0);
        at[slot][0] = at[slot][n - 1] = slot;
    }
}
