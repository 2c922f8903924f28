// race
/* A thread clears the flag of the next round while others still ask for this one's. */
#include <device_arrays.h>

__global__ void settle(int *x)
{
    __shared__ int changed;
    int t = threadIdx.x;
    do {
        if (t == 64) changed = 0; // HERE
        __syncthreads();
        if (x[t] > 0) {
            x[t]--;
            atomicOr(&changed, 1);
        }
        __syncthreads();
    } while (changed); // HERE
}

int main()
{
    int host[128];
    for (int i = 0; i < 128; i++) host[i] = i % 7;
    int *x = unwritten<int>(128);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    settle<<<1, 128>>>(x);
    return cudaDeviceSynchronize();
}
