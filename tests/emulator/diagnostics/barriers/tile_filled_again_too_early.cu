// race: with no __syncthreads() in between, before line 14 writes over what line 12 reads
/* The second array takes the place of the first, which only one warp has read. */
#include <device_arrays.h>

__global__ void both(float *y, const float *k, const float *v)
{
    __shared__ float tile[32];
    int t = threadIdx.x;
    if (t < 32) tile[t] = k[t];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 32; i++) sum += tile[i]; // HERE
    __syncwarp();
    if (t < 32) tile[t] = v[t];
    __syncthreads();
    y[t] = sum + tile[t % 32];
}

int main()
{
    float *k = filled<float>(64, 1), *v = filled<float>(64, 2), *y = unwritten<float>(64);
    both<<<1, 64>>>(y, k, v);
    return cudaDeviceSynchronize();
}
