/* typed_atomics.cu: cuda::atomic as a variable: of the device, of a block, of an object, of pinned
 * memory that the host looks at too; pointers, structures, flags. */
#include <cuda/atomic>

#include "check.h"

struct range {
    short first, last;
};

__device__ cuda::atomic<unsigned, cuda::thread_scope_device> total{5};
__device__ cuda::std::atomic_flag taken;

__global__ void count(cuda::atomic<int, cuda::thread_scope_system> *seen, int *out)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> here;
    if (threadIdx.x == 0) here.store(100, cuda::memory_order_relaxed);
    __syncthreads();
    here++;
    total += 2;
    seen->fetch_add(1);
    __syncthreads();
    if (threadIdx.x) return;
    out[0] = here;
    out[1] = --here;
    out[2] = taken.test_and_set() + 2 * taken.test_and_set();
}

CASE(variables)
{
    cuda::atomic<int, cuda::thread_scope_system> *seen;
    OK(cudaMallocHost(&seen, sizeof *seen));
    seen->store(7);
    int *out = device_array<int>(3);
    count<<<1, 64>>>(seen, out);
    SYNC();
    CHECK(seen->load() == 71 && seen->exchange(3) == 71 && seen->fetch_max(9) == 3 && *seen == 9);
    std::vector<int> got = to_host(out, 3);
    CHECK(got[0] == 164 && got[1] == 163 && got[2] == 2);
    unsigned h_total;
    OK(cudaMemcpyFromSymbol(&h_total, total, sizeof h_total));
    CHECK(h_total == 5 + 2 * 64);
}

__global__ void objects(int *numbers, int **place, range *r, int *out)
{
    cuda::atomic_ref<int *, cuda::thread_scope_device> next(*place);
    *next.fetch_add(1) = 1 + (int)threadIdx.x;
    cuda::atomic_ref<range, cuda::thread_scope_device> both(*r);
    range old = both.load(), wider;
    do {
        wider = range{(short)(old.first - 1), (short)(old.last + 2)};
    } while (!both.compare_exchange_weak(old, wider));
    __syncthreads();
    if (threadIdx.x == 0) out[0] = (int)(next.load() - numbers);
}

CASE(pointers_and_structures)
{
    int *numbers = device_array<int>(64), *out = device_array<int>(1);
    int **place = to_device(std::vector<int *>{numbers});
    range *r = to_device(std::vector<range>{{0, 0}});
    objects<<<1, 64>>>(numbers, place, r, out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 64);
    CHECK(to_host(r, 1)[0].first == -64 && to_host(r, 1)[0].last == 128);
    int sum = 0;
    for (int x : to_host(numbers, 64)) sum += x;
    CHECK(sum == 64 * 65 / 2);
}

__global__ void hand_over(int *data, cuda::atomic<int, cuda::thread_scope_device> *ready)
{
    if (blockIdx.x == 0) {
        *data = 42;
        ready->store(1, cuda::memory_order_release);
        ready->notify_all();
    } else {
        ready->wait(0, cuda::memory_order_acquire);
        data[blockIdx.x] = *data;
    }
}

CASE(waiting_for_a_value)
{
    int *data = device_array<int>(4), *ready = to_device(std::vector<int>(1));
    hand_over<<<4, 1>>>(data, (cuda::atomic<int, cuda::thread_scope_device> *)ready);
    SYNC();
    CHECK(to_host(data, 4)[3] == 42);
}

__global__ void relaxed(int *data, int *flag)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_relaxed) == 0) continue;
        data[1] = *data; // FINDING relaxed_orders_nothing: race
    }
}

CASE(relaxed_orders_nothing)
{
    relaxed<<<2, 1>>>(device_array<int>(2), to_device(std::vector<int>(1)));
    SYNC();
}
