/* devices.cu: several virtual devices in one program. */
#include "check.h"

#include <thread>

// ENV two: SOFTGPU_DEVICES=2
// ENV memory_apart: SOFTGPU_DEVICES=2
// ENV a_thread_has_its_device: SOFTGPU_DEVICES=3
// ENV streams_and_events: SOFTGPU_DEVICES=2
// ENV copies_between: SOFTGPU_DEVICES=2
// ENV peers: SOFTGPU_DEVICES=2
// ENV peers_that_are_refused: SOFTGPU_DEVICES=2
// ENV a_peer_one_way: SOFTGPU_DEVICES=2
// ENV past_the_end_of_a_peer: SOFTGPU_DEVICES=2
// ENV peers_in_order: SOFTGPU_DEVICES=2
// ENV reads_too_early: SOFTGPU_DEVICES=2
// ENV overwritten_too_early: SOFTGPU_DEVICES=2
// ENV a_copy_comes_too_early: SOFTGPU_DEVICES=2
// ENV memory_of_another: SOFTGPU_DEVICES=2
// ENV a_fault_stays_on_its_device: SOFTGPU_DEVICES=2
// ENV variables_apart: SOFTGPU_DEVICES=2
// ENV host_memory_for_all: SOFTGPU_DEVICES=2
// ENV eight: SOFTGPU_DEVICES=99
// ENV reset_one: SOFTGPU_DEVICES=2

__global__ void add(int *p, int by)
{
    p[threadIdx.x] += by;
}

__global__ void set(int *p, int to)
{
    p[threadIdx.x] = to; // FINDING overwritten_too_early: stream-race
}

__global__ void add_from(int *p, const int *from)
{
    p[threadIdx.x] += from[threadIdx.x]; // FINDING reads_too_early: stream-race // FINDING a_copy_comes_too_early: stream-race
}

__device__ int variable = 5;

__global__ void use_variables(int *out)
{
    out[0] = variable++;
}

static int *on_device(int ordinal, int value)
{
    OK(cudaSetDevice(ordinal));
    return to_device(std::vector<int>(32, value));
}

CASE(one)
{
    int count, ordinal = 9;
    OK(cudaGetDeviceCount(&count));
    OK(cudaGetDevice(&ordinal));
    CHECK(count == 1 && ordinal == 0);
    FAILS(cudaSetDevice(1), cudaErrorInvalidDevice);
    cudaGetLastError();
}

CASE(two)
{
    int count, ordinal;
    char bus[20];
    cudaDeviceProp zero, one;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 2);
    OK(cudaSetDevice(1));
    OK(cudaGetDevice(&ordinal));
    CHECK(ordinal == 1);
    OK(cudaGetDeviceProperties(&zero, 0));
    OK(cudaGetDeviceProperties(&one, 1));
    CHECK(zero.multiProcessorCount == one.multiProcessorCount);
    CHECK(memcmp(&zero.uuid, &one.uuid, sizeof zero.uuid) && zero.pciBusID != one.pciBusID);
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 1));
    OK(cudaDeviceGetByPCIBusId(&ordinal, bus));
    CHECK(ordinal == 1);
    FAILS(cudaSetDevice(2), cudaErrorInvalidDevice);
    FAILS(cudaSetDevice(-1), cudaErrorInvalidDevice);
    OK(cudaGetDevice(&ordinal));
    CHECK(ordinal == 1);
    cudaGetLastError();
}

CASE(eight)
{
    int count;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 8);
    for (int i = 0; i < count; i++) {
        int *p = on_device(i, i);
        add<<<1, 32>>>(p, 10);
        CHECK(to_host(p, 32)[31] == 10 + i);
    }
}

CASE(memory_apart)
{
    size_t free_zero, free_one, left, total;
    int *a = on_device(0, 1), *b = on_device(1, 2);
    OK(cudaMemGetInfo(&free_one, &total));
    OK(cudaSetDevice(0));
    OK(cudaMemGetInfo(&free_zero, &total));
    void *big;
    OK(cudaMalloc(&big, 1 << 20));
    OK(cudaMemGetInfo(&left, &total));
    CHECK(left == free_zero - (1 << 20));
    OK(cudaSetDevice(1));
    OK(cudaMemGetInfo(&left, &total));
    CHECK(left == free_one);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, a));
    CHECK(attributes.device == 0 && attributes.type == cudaMemoryTypeDevice);
    OK(cudaPointerGetAttributes(&attributes, b));
    CHECK(attributes.device == 1);
    OK(cudaFree(big)); /* of the device that is not current */
    CHECK(to_host(a, 1)[0] == 1 && to_host(b, 1)[0] == 2);
}

CASE(a_thread_has_its_device)
{
    int ordinal;
    OK(cudaSetDevice(2));
    std::thread([] {
        int inner;
        OK(cudaGetDevice(&inner));
        CHECK(inner == 0);
        OK(cudaSetDevice(1));
    }).join();
    OK(cudaGetDevice(&ordinal));
    CHECK(ordinal == 2);
}

CASE(streams_and_events)
{
    int *a = on_device(0, 1), *b = on_device(1, 2), ordinal;
    cudaStream_t of_one;
    cudaEvent_t event;
    OK(cudaStreamCreate(&of_one));
    OK(cudaEventCreate(&event));
    OK(cudaStreamGetDevice(of_one, &ordinal));
    CHECK(ordinal == 1);
    add<<<1, 32, 0, of_one>>>(b, 1);
    SYNC();
    OK(cudaEventRecord(event, of_one));
    OK(cudaSetDevice(0));
    add<<<1, 32, 0, of_one>>>(a, 1);
    FAILS(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    FAILS(cudaEventRecord(event, 0), cudaErrorInvalidResourceHandle);
    OK(cudaStreamWaitEvent(0, event, 0));
    OK(cudaMemsetAsync(b, 0, 4, of_one));
    OK(cudaStreamSynchronize(of_one));
    CHECK(to_host(b, 2)[0] == 0 && to_host(b, 2)[1] == 3);
    cudaGetLastError();
}

CASE(copies_between)
{
    int *a = on_device(0, 1), *b = on_device(1, 2);
    OK(cudaMemcpyPeer(b, 1, a, 0, 64));
    CHECK(to_host(b, 32)[15] == 1 && to_host(b, 32)[16] == 2);
    OK(cudaMemcpy(a, b, 128, cudaMemcpyDefault));
    CHECK(to_host(a, 32)[31] == 2);
    OK(cudaMemcpyPeerAsync(a, 0, a + 31, 0, 4, 0));
    CHECK(to_host(a, 1)[0] == 2);
    FAILS(cudaMemcpyPeer(b, 0, a, 0, 4), cudaErrorInvalidValue);
    FAILS(cudaMemcpyPeer(b, 2, a, 0, 4), cudaErrorInvalidDevice);
    FAILS(cudaMemcpyPeer(b, 1, a, 0, 129), cudaErrorInvalidValue);
    cudaMemcpy3DPeerParms box = {};
    box.srcDevice = 0, box.dstDevice = 1;
    box.srcPtr = make_cudaPitchedPtr(a, 32, 32, 4);
    box.dstPtr = make_cudaPitchedPtr(b, 64, 64, 2);
    box.extent = make_cudaExtent(8, 2, 1);
    OK(cudaMemset(b, 0, 128));
    OK(cudaMemcpy3DPeer(&box));
    std::vector<int> got = to_host(b, 32);
    CHECK(got[0] == 2 && got[1] == 1 && got[2] == 0 && got[16] == 1 && got[18] == 0);
    cudaGetLastError();
}

__global__ void reach_over(int *p)
{
    p[threadIdx.x] = 1; // FINDING memory_of_another: out-of-bounds // FINDING a_peer_one_way: out-of-bounds // FINDING past_the_end_of_a_peer: out-of-bounds
}

/* Whoever asks may go into the memory of another device, and whoever has asked not again. */
CASE(peers)
{
    int *a = on_device(0, 1), *b = on_device(1, 2), can = 9;
    OK(cudaSetDevice(0));
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    OK(cudaDeviceCanAccessPeer(&can, 1, 1));
    CHECK(can == 0);
    OK(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 1));
    CHECK(can == 1);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    add_from<<<1, 32>>>(a, b);
    add<<<1, 32>>>(b, 5);
    SYNC();
    CHECK(to_host(a, 32)[31] == 3 && to_host(b, 32)[31] == 7);
    OK(cudaDeviceDisablePeerAccess(1));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    OK(cudaSetDevice(1));
    OK(cudaDeviceReset());
    b = on_device(1, 4);
    OK(cudaSetDevice(0));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    add_from<<<1, 32>>>(a, b);
    SYNC();
    CHECK(to_host(a, 32)[31] == 7);
}

CASE(peers_that_are_refused)
{
    int can;
    FAILS(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
    FAILS(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    FAILS(cudaDeviceEnablePeerAccess(2, 0), cudaErrorInvalidDevice);
    FAILS(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    FAILS(cudaDeviceDisablePeerAccess(0), cudaErrorInvalidDevice);
    FAILS(cudaDeviceCanAccessPeer(&can, 0, 2), cudaErrorInvalidDevice);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    FAILS(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    OK(cudaDeviceDisablePeerAccess(1));
    FAILS(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    cudaGetLastError();
}

/* Only one of the two has asked. */
// STDERR a_peer_one_way: which is memory of another device
CASE(a_peer_one_way)
{
    int *of_zero = on_device(0, 1);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    OK(cudaSetDevice(1));
    reach_over<<<1, 32>>>(of_zero);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

// STDERR past_the_end_of_a_peer: just past the end of a 128-byte buffer
CASE(past_the_end_of_a_peer)
{
    int *of_one = on_device(1, 2);
    OK(cudaSetDevice(0));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    reach_over<<<1, 32>>>(of_one + 1);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

/* ---- what a kernel and works of its peer do to one memory ------------------------------------ */

struct two {
    cudaStream_t zero, one;
    cudaEvent_t done_by_zero, done_by_one;
    int *a, *b;
};

static two open_two()
{
    two t;
    t.a = on_device(0, 1), t.b = on_device(1, 2);
    OK(cudaStreamCreateWithFlags(&t.one, cudaStreamNonBlocking));
    OK(cudaEventCreate(&t.done_by_one));
    OK(cudaSetDevice(0));
    OK(cudaStreamCreateWithFlags(&t.zero, cudaStreamNonBlocking));
    OK(cudaEventCreate(&t.done_by_zero));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    SYNC();
    return t;
}

static void add_on_one(const two &t)
{
    OK(cudaSetDevice(1));
    add<<<1, 32, 0, t.one>>>(t.b, 1);
    OK(cudaEventRecord(t.done_by_one, t.one));
    OK(cudaSetDevice(0));
}

static void add_on_zero(const two &t)
{
    add_from<<<1, 32, 0, t.zero>>>(t.a, t.b);
    OK(cudaEventRecord(t.done_by_zero, t.zero));
}

CASE(peers_in_order)
{
    two t = open_two();
    add_on_one(t);
    OK(cudaStreamWaitEvent(t.zero, t.done_by_one, 0));
    add_on_zero(t);
    OK(cudaStreamWaitEvent(t.one, t.done_by_zero, 0));
    add_on_one(t);
    OK(cudaDeviceSynchronize());
    CHECK(to_host(t.a, 32)[31] == 4);
}

CASE(reads_too_early)
{
    two t = open_two();
    add_on_one(t);
    add_on_zero(t);
    OK(cudaDeviceSynchronize());
}

CASE(overwritten_too_early)
{
    two t = open_two();
    add_on_zero(t);
    OK(cudaSetDevice(1));
    set<<<1, 32, 0, t.one>>>(t.b, 1);
    OK(cudaDeviceSynchronize());
}

CASE(a_copy_comes_too_early)
{
    two t = open_two();
    OK(cudaMemcpyPeerAsync(t.b, 1, t.a, 0, 4, t.one));
    add_on_zero(t);
    OK(cudaDeviceSynchronize());
}


// STDERR memory_of_another: which is memory of another device
CASE(memory_of_another)
{
    int *of_one = on_device(1, 2);
    OK(cudaSetDevice(0));
    reach_over<<<1, 32>>>(of_one);
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void stop_here()
{
    __trap(); // FINDING a_fault_stays_on_its_device: trap
}

CASE(a_fault_stays_on_its_device)
{
    int *of_zero = on_device(0, 1);
    OK(cudaSetDevice(1));
    stop_here<<<1, 1>>>();
    FAILS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    OK(cudaSetDevice(0));
    add<<<1, 32>>>(of_zero, 1);
    OK(cudaDeviceSynchronize());
    CHECK(to_host(of_zero, 1)[0] == 2);
    cudaGetLastError();
}

CASE(variables_apart)
{
    int *a = on_device(0, 0), *b = on_device(1, 0), value = 0;
    void *at_zero, *at_one;
    OK(cudaSetDevice(0));
    for (int i = 0; i < 2; i++) use_variables<<<1, 1>>>(a);
    OK(cudaGetSymbolAddress(&at_zero, variable));
    SYNC();
    OK(cudaSetDevice(1));
    use_variables<<<1, 1>>>(b);
    OK(cudaGetSymbolAddress(&at_one, variable));
    SYNC();
    OK(cudaMemcpyFromSymbol(&value, variable, 4));
    CHECK(to_host(a, 1)[0] == 6 && to_host(b, 1)[0] == 5 && value == 6 && at_zero != at_one);
}

// IN-PROCESS host_memory_for_all: memory that the program registers
CASE(host_memory_for_all)
{
    int *managed, *pinned, own[32] = {};
    OK(cudaMallocManaged(&managed, 128));
    OK(cudaMallocHost(&pinned, 128));
    memset(pinned, 0, 128);
    OK(cudaHostRegister(own, sizeof own, 0));
    for (int i = 0; i < 2; i++) {
        OK(cudaSetDevice(i));
        for (int *p : {managed, pinned, own}) add<<<1, 32>>>(p, 1);
        SYNC();
    }
    CHECK(managed[31] == 2 && pinned[31] == 2 && own[31] == 2);
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    OK(cudaHostUnregister(own));
}

CASE(reset_one)
{
    int *a = on_device(0, 1), *b = on_device(1, 2), *managed;
    OK(cudaMallocManaged(&managed, 128));
    managed[0] = 3;
    OK(cudaDeviceReset());
    FAILS(cudaMemset(b, 0, 4), cudaErrorInvalidValue);
    FAILS(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(to_host(a, 1)[0] == 1 && managed[0] == 3);
    b = on_device(1, 4);
    add<<<1, 1>>>(managed, 1);
    SYNC();
    CHECK(managed[0] == 4 && to_host(b, 1)[0] == 4);
}
