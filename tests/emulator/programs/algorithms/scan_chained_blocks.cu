// prints: 1 256 257 1024
#include <stdio.h>
/* Each block waits for the sum of the one before it: blocks begin in the order of their numbers. */
__device__ volatile int flag[8], carried[8];
__global__ void scan(int *data)
{
    __shared__ int warp_sums[8], before;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, i = blockIdx.x * blockDim.x + threadIdx.x,
        v = data[i];
    for (int o = 1; o < 32; o <<= 1) {
        int other = __shfl_up_sync(~0u, v, o);
        if (lane >= o) v += other;
    }
    if (lane == 31) warp_sums[warp] = v;
    __syncthreads();
    for (int k = 0; k < warp; k++) v += warp_sums[k];
    if (threadIdx.x == blockDim.x - 1) {
        if (blockIdx.x > 0)
            while (flag[blockIdx.x - 1] == 0) {
            }
        __threadfence();
        before = blockIdx.x > 0 ? carried[blockIdx.x - 1] : 0;
        carried[blockIdx.x] = before + v;
        __threadfence();
        flag[blockIdx.x] = 1;
    }
    __syncthreads();
    data[i] = v + before;
}
int main()
{
    static int h[1024];
    int *d;
    for (int i = 0; i < 1024; i++) h[i] = 1;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    scan<<<4, 256>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d\n", h[0], h[255], h[256], h[1023]);
    cudaFree(d);
    return 0;
}
