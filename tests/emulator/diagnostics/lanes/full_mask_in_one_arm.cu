// inactive lane
/* The other arm's lanes are named and do not come. */
#include <device_arrays.h>

__global__ void pick(int *out, const int *x)
{
    int t = threadIdx.x, v = x[t];
    if (t % 2 == 0) {
        v = __shfl_sync(0xffffffff, v, t + 1); // HERE
        out[t] = v;
    } else {
        out[t] = -v;
    }
}

int main()
{
    int *x = filled<int>(32, 0), *out = unwritten<int>(32);
    pick<<<1, 32>>>(out, x);
    return cudaDeviceSynchronize();
}
