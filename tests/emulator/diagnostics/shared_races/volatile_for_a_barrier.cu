// missing __syncwarp
/* Before Volta, volatile was enough. */
#include <cuda_runtime.h>

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
    int *x, *out;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&out, 1 * sizeof *out);
    cudaMemset(x, 0, 64 * sizeof *x);
    sum<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
