// race
/* The second sum overwrites the scratch array while some still read the first one. */
#include <device_arrays.h>

__device__ float block_sum(float v, float *scratch)
{
    int t = threadIdx.x;
    scratch[t] = v; // HERE
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 64; k++) sum += scratch[k]; // HERE
    return sum;
}

__global__ void moments(float *out, const float *x)
{
    __shared__ float scratch[64];
    float v = x[threadIdx.x];
    float mean = block_sum(v, scratch) / 64;
    float square = block_sum((v - mean) * (v - mean), scratch);
    if (threadIdx.x == 0) *out = square;
}

int main()
{
    float host[64];
    for (int i = 0; i < 64; i++) host[i] = i % 7;
    float *x = unwritten<float>(64), *out = unwritten<float>(1);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    moments<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
