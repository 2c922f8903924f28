// inactive lane
/* A scan after some lanes have left: lane 20 reads from one that is gone. */
#include <device_arrays.h>

__global__ void scan(int *out, const int *x)
{
    int t = threadIdx.x, v = x[t];
    if (t % 4 == 3) return;
    unsigned mask = __activemask();
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(mask, v, d); // HERE
        if (t >= d) v += left;
    }
    out[t] = v;
}

int main()
{
    int *x = filled<int>(32, 0), *out = unwritten<int>(32);
    scan<<<1, 32>>>(out, x);
    return cudaDeviceSynchronize();
}
