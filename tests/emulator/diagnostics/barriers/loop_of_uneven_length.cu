// divergent barrier
/* Each thread goes round as often as its element says, with a barrier in each round. */
#include <device_arrays.h>

__global__ void settle(int *x, const int *rounds)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int k = 0; k < rounds[t]; k++) {
        __syncthreads(); // HERE
        s[t] += k;
    }
    x[t] = s[t];
}

int main()
{
    int host[64];
    for (int i = 0; i < 64; i++) host[i] = i % 3 + 1;
    int *x = filled<int>(64, 0), *rounds = unwritten<int>(64);
    cudaMemcpy(rounds, host, sizeof host, cudaMemcpyHostToDevice);
    settle<<<1, 64>>>(x, rounds);
    return cudaDeviceSynchronize();
}
