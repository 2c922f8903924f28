// inactive lane
/* Lanes leave the loop at different times, and the shuffle still reads from them. */
#include <device_arrays.h>

__global__ void walk(int *out, const int *x, int n)
{
    int t = threadIdx.x, v = 0;
    for (int i = t; i < n; i += 32) {
        v += x[i];
        v += __shfl_down_sync(0xffffffff, v, 1); // HERE
    }
    out[t] = v;
}

int main()
{
    int *x = filled<int>(100, 0), *out = unwritten<int>(32);
    walk<<<1, 32>>>(out, x, 80);
    return cudaDeviceSynchronize();
}
