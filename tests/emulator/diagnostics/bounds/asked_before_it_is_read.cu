// nothing
/* The right side of && is evaluated only if the left one holds. */
#include <device_arrays.h>

__global__ void mark(int *runs, const int *x, int n)
{
    int i = threadIdx.x;
    if (i >= n) return;
    bool first = i == 0 || x[i - 1] != x[i], last = i == n - 1 || x[i + 1] != x[i];
    runs[i] = first + 2 * last;
}

int main()
{
    int *x = filled<int>(64, 0), *runs = unwritten<int>(64);
    mark<<<1, 64>>>(runs, x, 64);
    return cudaDeviceSynchronize();
}
