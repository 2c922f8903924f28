/* control_errors.cu: kernels that never end, or not as they should. */
#include "check.h"

#include <cassert>

__global__ void spin(volatile int *flag)
{
    while (*flag == 0) // FINDING endless_loop: endless-loop
        ;
}

// ENV endless_loop: SOFTGPU_BUDGET=200000
CASE(endless_loop)
{
    int *flag = to_device(std::vector<int>(1, 0));
    spin<<<1, 32>>>(flag);
    FAILS(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
}

CASE(loop_that_ends)
{
    int *flag = to_device(std::vector<int>(1, 1));
    spin<<<1, 32>>>(flag);
    SYNC();
}

/* Two halves of a block wait at two barriers, each for the other. */
__global__ void cross_wait(int *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;"); // FINDING deadlock: deadlock
    else
        asm volatile("bar.sync 2, 64;");
    out[threadIdx.x] = 1;
}

CASE(deadlock)
{
    cross_wait<<<1, 64>>>(device_array<int>(64));
    FAILS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

__global__ void half_wait(int *out)
{
    int t = threadIdx.x;
    out[t] = t;
    if (t % 2) {
        out[t] += 1;
        __syncthreads(); // FINDING divergent_barrier: divergent-barrier
        out[t] += 1;
    } else {
        out[t] += 3;
        __syncthreads();
        out[t] *= 2;
    }
}

CASE(divergent_barrier)
{
    half_wait<<<1, 64>>>(device_array<int>(64));
    cudaGetLastError();
}

/* Legal since Volta: a thread that has returned is not waited for. */
__global__ void return_before_barrier(int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = t;
    __syncthreads();
    out[t] = s[n - 1 - t];
}

CASE(early_return_before_barrier)
{
    int *out = device_array<int>(64);
    return_before_barrier<<<1, 64>>>(out, 40);
    SYNC();
    CHECK(to_host(out, 40)[0] == 39);
}

/* One branch of an `if`, then a barrier that all reach. */
__global__ void branch_then_barrier(int *out, int n)
{
    __shared__ int s[96];
    int t = threadIdx.x;
    s[t] = 0;
    if (t < n) {
        s[t] = t;
        for (int i = 0; i < t % 7; i++) s[t] += i;
    }
    __syncthreads();
    out[t] = s[95 - t];
}

CASE(branch_before_barrier)
{
    int *out = device_array<int>(96);
    branch_then_barrier<<<1, 96>>>(out, 50);
    SYNC();
    CHECK(to_host(out, 96)[95 - 48] == 48 + 15);
}

__global__ void trap()
{
    asm("trap;"); // FINDING trap: trap
}

CASE(trap)
{
    trap<<<1, 1>>>();
    FAILS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

__global__ void assert_small(int n)
{
    assert((int)threadIdx.x < n); // FINDING failed_assert: assert
}

CASE(failed_assert)
{
    assert_small<<<1, 32>>>(31);
    FAILS(cudaDeviceSynchronize(), cudaErrorAssert);
}

CASE(assert_that_holds)
{
    assert_small<<<1, 32>>>(32);
    SYNC();
}
