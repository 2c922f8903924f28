// race: with no __syncthreads() in between, at the end of the round, before the next one's line
/* The next tile overwrites what slower warps still read. */
#include <cuda_runtime.h>

__global__ void multiply(float *y, const float *a, const float *x, int n)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 64) {
        tile[t] = x[k + t]; // HERE
        __syncthreads();
        for (int i = 0; i < 64; i++) sum += a[(k + i) * 64 + t] * tile[i]; // HERE
    }
    y[t] = sum;
}

int main()
{
    float host[128];
    for (int i = 0; i < 128; i++) host[i] = i % 7;
    float *a, *x, *y;
    cudaMalloc(&a, 8192 * sizeof *a);
    cudaMalloc(&x, 128 * sizeof *x);
    cudaMalloc(&y, 64 * sizeof *y);
    cudaMemset(a, 0, 8192 * sizeof *a);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    multiply<<<1, 64>>>(y, a, x, 128);
    return cudaDeviceSynchronize();
}
