/* together.cu: kernels of several devices that wait for each other by flags. */
#include "check.h"
#include "softgpu.h"

// ENV exchange: SOFTGPU_DEVICES=2
// ENV exchange_counted: SOFTGPU_DEVICES=2
// ENV around_eight: SOFTGPU_DEVICES=8
// ENV one_behind: SOFTGPU_DEVICES=2
// ENV nobody_sets_it: SOFTGPU_DEVICES=2
// ENV plain_flag_store: SOFTGPU_DEVICES=2
// ENV fence_of_one_device: SOFTGPU_DEVICES=2
// ENV scope_of_one_device: SOFTGPU_DEVICES=2
// ENV no_flag_behind: SOFTGPU_DEVICES=2
// ENV reads_before_the_flag: SOFTGPU_DEVICES=2
// ENV a_fault_behind_the_flag: SOFTGPU_DEVICES=2
// ENV flags_before_all_data: SOFTGPU_DEVICES=2

enum { N = 128 };

__device__ static void set(unsigned *flag, unsigned to)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(to) : "memory");
}

__device__ static unsigned get(const unsigned *flag)
{
    unsigned is;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(is) : "l"(flag) : "memory"); // FINDING nobody_sets_it: endless-loop
    return is;
}

struct memory {
    int *data, *inbox;
    unsigned *flag;
};

__device__ static void wait_for(const unsigned *flag, unsigned epoch)
{
    if (threadIdx.x == 0)
        while (get(flag) < epoch) continue;
    __syncthreads();
}

/* Each sends its data, sets the flag of the other, and adds what it has got. */
__global__ static void swap(memory mine, memory its, unsigned epoch)
{
    const unsigned i = threadIdx.x;
    its.inbox[epoch % 2 * N + i] = mine.data[i];
    __syncthreads();
    if (i == 0) set(its.flag, epoch);
    wait_for(mine.flag, epoch);
    mine.data[i] += mine.inbox[epoch % 2 * N + i];
}

static memory open_one(int ordinal, int value)
{
    memory m;
    OK(cudaSetDevice(ordinal));
    m.data = to_device(std::vector<int>(N, value));
    m.inbox = to_device(std::vector<int>(2 * N, 0));
    m.flag = to_device(std::vector<unsigned>(1, 0));
    return m;
}

struct two {
    memory of[2];
    cudaStream_t stream[2];
};

static two open_two()
{
    two t;
    for (int g = 0; g < 2; g++) {
        t.of[g] = open_one(g, g + 1);
        OK(cudaStreamCreateWithFlags(&t.stream[g], cudaStreamNonBlocking));
        OK(cudaDeviceEnablePeerAccess(1 - g, 0));
        SYNC();
    }
    return t;
}

typedef void kernel(memory, memory, unsigned);

static void on(const two &t, int g, kernel *k, unsigned epoch)
{
    OK(cudaSetDevice(g));
    k<<<1, N, 0, t.stream[g]>>>(t.of[g], t.of[1 - g], epoch);
    OK(cudaGetLastError());
}

static void both(const two &t, kernel *k, unsigned epoch)
{
    on(t, 0, k, epoch);
    on(t, 1, k, epoch);
}

static bool all_are(const two &t, int value)
{
    bool all = true;
    for (int g = 0; g < 2; g++) {
        OK(cudaSetDevice(g));
        SYNC();
        for (int x : to_host(t.of[g].data, N)) all = all && x == value;
    }
    return all;
}

CASE(exchange)
{
    two t = open_two();
    both(t, swap, 1);
    CHECK(all_are(t, 3));
    both(t, swap, 2);
    both(t, swap, 3);
    CHECK(all_are(t, 12));
}

/* A loop that waits is no more than some rounds, which count. */
CASE(exchange_counted)
{
    device_counts counts;
    two t = open_two();
    softgpu_count_start();
    both(t, swap, 1);
    softgpu_count_stop(&counts);
    CHECK(all_are(t, 3));
    CHECK(counts.instructions < 10000);
}

/* A device may be a call ahead of the other. */
CASE(one_behind)
{
    two t = open_two();
    on(t, 0, swap, 1);
    on(t, 1, swap, 1);
    on(t, 1, swap, 2);
    on(t, 0, swap, 2);
    CHECK(all_are(t, 6));
}

/* Each waits for the one before it; the first for the last, which is asked for at the end. */
__global__ static void pass_on(memory mine, memory next, unsigned epoch, int first)
{
    if (!first) wait_for(mine.flag, epoch);
    next.inbox[threadIdx.x] = mine.inbox[threadIdx.x] + 1;
    __syncthreads();
    if (threadIdx.x == 0) set(next.flag, epoch);
    if (first) wait_for(mine.flag, epoch);
}

CASE(around_eight)
{
    memory m[8];
    for (int g = 0; g < 8; g++) {
        m[g] = open_one(g, 0);
        OK(cudaDeviceEnablePeerAccess((g + 1) % 8, 0));
        SYNC();
    }
    for (int g = 0; g < 8; g++) {
        OK(cudaSetDevice(g));
        pass_on<<<1, N>>>(m[g], m[(g + 1) % 8], 1, g == 0);
    }
    OK(cudaSetDevice(0));
    SYNC();
    CHECK(to_host(m[0].inbox, N)[N - 1] == 8);
}

// STDERR nobody_sets_it: the value that it waits for does not change
CASE(nobody_sets_it)
{
    two t = open_two();
    on(t, 0, swap, 1);
    FAILS(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
}

__global__ static void swap_plainly(memory mine, memory its, unsigned epoch)
{
    const unsigned i = threadIdx.x;
    its.inbox[i] = mine.data[i];
    __syncthreads();
    if (i == 0) *its.flag = epoch; // FINDING plain_flag_store: race
    wait_for(mine.flag, epoch);
}

// STDERR plain_flag_store: sets no flag afterwards
CASE(plain_flag_store)
{
    two t = open_two();
    both(t, swap_plainly, 1);
    OK(cudaDeviceSynchronize());
}

__global__ static void swap_without_fence(memory mine, memory its, unsigned epoch)
{
    const unsigned i = threadIdx.x;
    its.inbox[i] = mine.data[i];
    __threadfence();
    __syncthreads();
    if (i == 0) *(volatile unsigned *)its.flag = epoch; // FINDING fence_of_one_device: race
    wait_for(mine.flag, epoch);
}

// STDERR fence_of_one_device: may see before the data
CASE(fence_of_one_device)
{
    two t = open_two();
    both(t, swap_without_fence, 1);
    OK(cudaDeviceSynchronize());
}

__global__ static void swap_in_device(memory mine, memory its, unsigned epoch)
{
    const unsigned i = threadIdx.x;
    its.inbox[i] = mine.data[i];
    __threadfence_system();
    __syncthreads();
    if (i == 0) atomicExch(its.flag, epoch); // FINDING scope_of_one_device: race
    wait_for(mine.flag, epoch);
}

// STDERR scope_of_one_device: its scope is this device
CASE(scope_of_one_device)
{
    two t = open_two();
    both(t, swap_in_device, 1);
    OK(cudaDeviceSynchronize());
}

__global__ static void swap_and_more(memory mine, memory its, unsigned epoch)
{
    const unsigned i = threadIdx.x;
    if (i == 0) set(its.flag, epoch);
    wait_for(mine.flag, epoch);
    its.inbox[i] = mine.data[i]; // FINDING no_flag_behind: race
}

CASE(no_flag_behind)
{
    two t = open_two();
    both(t, swap_and_more, 1);
    OK(cudaDeviceSynchronize());
}

__global__ static void fetch(memory mine, memory its, unsigned epoch)
{
    const unsigned i = threadIdx.x;
    const int x = its.data[i]; // FINDING reads_before_the_flag: stream-race
    if (i == 0) set(its.flag, epoch);
    wait_for(mine.flag, epoch);
    mine.inbox[i] = x;
}

/* What the other stream did before its launch, nothing but the flag can order. */
CASE(reads_before_the_flag)
{
    two t = open_two();
    OK(cudaSetDevice(1));
    OK(cudaMemsetAsync(t.of[1].data, 0, N * sizeof(int), t.stream[1]));
    both(t, fetch, 1);
    OK(cudaDeviceSynchronize());
}

__global__ static void swap_and_fail(memory mine, memory its, unsigned epoch)
{
    if (threadIdx.x == 0) set(its.flag, epoch);
    wait_for(mine.flag, epoch);
    mine.data[N + threadIdx.x] = 1; // FINDING a_fault_behind_the_flag: out-of-bounds
}

/* The fault of a launch that was in flight is its own device's, and the next call says so. */
CASE(a_fault_behind_the_flag)
{
    two t = open_two();
    on(t, 0, swap_and_fail, 1);
    on(t, 1, swap, 1);
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(0));
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ static void swap_too_early(memory mine, memory its, unsigned epoch)
{
    const unsigned i = threadIdx.x;
    if (i == 0) set(its.flag, epoch);
    its.inbox[epoch % 2 * N + i] = mine.data[i];
    __threadfence_system();
    wait_for(mine.flag, epoch);
    mine.data[i] += mine.inbox[epoch % 2 * N + i];
}

/* A turn for the other between two warps: it has seen the flag, and the data is not there. */
CASE(flags_before_all_data)
{
    two t = open_two();
    both(t, swap_too_early, 1);
    CHECK(!all_are(t, 3));
}
