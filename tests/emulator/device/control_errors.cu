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
