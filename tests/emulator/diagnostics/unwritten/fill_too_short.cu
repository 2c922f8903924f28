// uninitialised read
/* The fill counts elements, too. */
#include <device_arrays.h>

__global__ void accumulate(double *sums, const double *x)
{
    sums[threadIdx.x] += x[threadIdx.x]; // HERE
}

int main()
{
    double *x = filled<double>(64, 0), *sums = unwritten<double>(64);
    cudaMemset(sums, 0, 64);
    accumulate<<<1, 64>>>(sums, x);
    return cudaDeviceSynchronize();
}
