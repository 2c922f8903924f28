// missing __syncwarp
/* Before Volta, volatile was enough. */
#include <device_arrays.h>

__global__ void sum(int *out, const int *x)
{
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16]; // HERE
        s[t] += s[t + 8];  // HERE
        s[t] += s[t + 4];  // HERE
        s[t] += s[t + 2];  // HERE
        s[t] += s[t + 1];  // HERE
        if (t == 0) *out = s[0];
    }
}

int main()
{
    int *x = filled<int>(64, 0), *out = unwritten<int>(1);
    sum<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
