// divergent barrier
/* Who is done leaves the loop, and the others wait at its barrier. */
#include <device_arrays.h>

__global__ void relax(int *x)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t] + t;
    for (int k = 0; k < 8; k++) {
        if (s[t] <= 32 + k) break;
        s[t]--;
        __syncthreads(); // HERE
    }
    x[t] = s[t];
}

int main()
{
    int *x = filled<int>(64, 0);
    relax<<<1, 64>>>(x);
    return cudaDeviceSynchronize();
}
