// race: with no __syncthreads() in between, at the end of the round, before the next one's line
/* The next tile overwrites what slower warps still read. */
#include <device_arrays.h>

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
    float *a = filled<float>(8192, 0), *x = unwritten<float>(128), *y = unwritten<float>(64);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    multiply<<<1, 64>>>(y, a, x, 128);
    return cudaDeviceSynchronize();
}
