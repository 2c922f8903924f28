/* managed.cu: memory that host and device both see. */
#include "check.h"

__global__ void add_one(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}

CASE(managed_memory)
{
    int *p;
    OK(cudaMallocManaged(&p, 100 * sizeof(int)));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) p[i] += i;
        add_one<<<1, 128>>>(p, 100);
        SYNC();
    }
    for (int i = 0; i < 100; i++) CHECK(p[i] == 3 * i + 3);
    OK(cudaFree(p));
}

CASE(managed_and_copies)
{
    int *p, host[10], *plain = device_array<int>(10);
    OK(cudaMallocManaged(&p, sizeof host));
    for (int i = 0; i < 10; i++) p[i] = i;
    OK(cudaMemcpy(plain, p, sizeof host, cudaMemcpyDeviceToDevice));
    CHECK(to_host(plain, 10)[9] == 9);
    OK(cudaMemset(p, 0, 5 * sizeof(int)));
    CHECK(p[4] == 0 && p[5] == 5);
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDefault));
    CHECK(host[4] == 0 && host[9] == 9);
}

CASE(several_managed_arrays)
{
    int *a, *b;
    OK(cudaMallocManaged(&a, 1000 * sizeof(int)));
    OK(cudaMallocManaged(&b, 2000 * sizeof(int)));
    a[999] = 5;
    b[1999] = 6;
    add_one<<<8, 128>>>(a, 1000);
    add_one<<<16, 128>>>(b, 2000);
    SYNC();
    OK(cudaFree(a));
    CHECK(b[1999] == 7 && b[0] == 1);
}

__global__ void past_the_end(int *p)
{
    p[threadIdx.x] = 1; // FINDING managed_out_of_bounds: out-of-bounds
}

CASE(managed_out_of_bounds)
{
    int *p;
    OK(cudaMallocManaged(&p, 16 * sizeof(int)));
    past_the_end<<<1, 32>>>(p);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(mapped_host_memory)
{
    int *host, *device;
    OK(cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer(&device, host, 0));
    for (int i = 0; i < 64; i++) host[i] = i;
    add_one<<<1, 64>>>(device, 64);
    SYNC();
    CHECK(host[63] == 64);
    OK(cudaFreeHost(host));
}

// IN-PROCESS pinned_host_memory: memory that the program registers
CASE(pinned_host_memory)
{
    float *host, own[16];
    OK(cudaMallocHost(&host, 64));
    host[15] = 1;
    OK(cudaFreeHost(host));
    FAILS(cudaFreeHost(host), cudaErrorInvalidValue); // FINDING pinned_host_memory: double-free
    OK(cudaHostRegister(own, sizeof own, cudaHostRegisterDefault));
    FAILS(cudaHostRegister(own, sizeof own, 0), cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaHostUnregister(own));
    FAILS(cudaHostUnregister(own), cudaErrorHostMemoryNotRegistered);
}

CASE(whose_memory)
{
    int on_stack, *device = device_array<int>(4), *pinned, *managed;
    cudaPointerAttributes a;
    OK(cudaMallocHost(&pinned, 16));
    OK(cudaMallocManaged(&managed, 16));
    OK(cudaPointerGetAttributes(&a, device + 1));
    CHECK(a.type == cudaMemoryTypeDevice && a.device == 0 && a.devicePointer == device + 1 &&
          !a.hostPointer);
    OK(cudaPointerGetAttributes(&a, &on_stack));
    CHECK(a.type == cudaMemoryTypeUnregistered && !a.devicePointer && a.hostPointer == &on_stack);
    OK(cudaPointerGetAttributes(&a, pinned));
    CHECK(a.type == cudaMemoryTypeHost);
    OK(cudaPointerGetAttributes(&a, managed));
    CHECK(a.type == cudaMemoryTypeManaged && a.devicePointer == managed &&
          a.hostPointer == managed);
}
