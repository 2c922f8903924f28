/* global_atomic_ref.cu: order by the atomics of libcu++: nothing to report. */
#include <cuda/atomic>

#include "check.h"

__global__ void release_and_acquire(int *data, int *flag)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::std::memory_order_release);
    } else {
        while (ready.load(cuda::std::memory_order_acquire) == 0) continue;
        data[blockIdx.x] = *data;
    }
}

CASE(atomic_ref)
{
    int *data = device_array<int>(8);
    release_and_acquire<<<8, 1>>>(data, to_device(std::vector<int>(1)));
    SYNC();
    CHECK(to_host(data, 8)[7] == 42);
}

__global__ void count_and_take(int *data, int *ticket, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> next(*ticket);
    data[blockIdx.x] = blockIdx.x + 1;
    int before = next.fetch_add(1, cuda::std::memory_order_acq_rel);
    if (before != (int)gridDim.x - 1) return;
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; i++) sum += data[i];
    *out = sum;
}

CASE(acquire_release_counter)
{
    int *out = device_array<int>(1);
    count_and_take<<<10, 1>>>(device_array<int>(10), to_device(std::vector<int>(1)), out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 55);
}
