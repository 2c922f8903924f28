/* openmp.cu: threads of the host that launch kernels, by OpenMP. */
// FLAGS: -Xcompiler -fopenmp
#include <omp.h>

#include "check.h"

__global__ void add(int *sum, int n)
{
    atomicAdd(sum, n);
}

CASE(threads_that_launch)
{
    int *sum = to_device(std::vector<int>(1));
#pragma omp parallel for
    for (int i = 0; i < 10; i++) add<<<1, 1>>>(sum, i);
    SYNC();
    CHECK(to_host(sum, 1)[0] == 45);
}
