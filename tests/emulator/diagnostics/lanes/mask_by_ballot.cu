// nothing
/* The mask is asked for before the branch, and only those in it are read. */
#include <device_arrays.h>

__global__ void sum(int *out, const int *x, int n)
{
    int t = threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffff, t < n);
    if (t < n) {
        int v = x[t];
        for (int d = 16; d > 0; d /= 2) {
            int other = __shfl_down_sync(mask, v, d);
            if (t + d < n) v += other;
        }
        if (t == 0) *out = v;
    }
}

int main()
{
    int *x = filled<int>(32, 0), *out = unwritten<int>(1);
    sum<<<1, 32>>>(out, x, 20);
    return cudaDeviceSynchronize();
}
