// prints: 0 1 2 255
#include <stdio.h>
__device__ int exclusive(bool flag, int *total)
{
    __shared__ int sums[8];
    unsigned ballot = __ballot_sync(0xffffffff, flag);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32,
        before = __popc(ballot & ((1u << lane) - 1));
    if (lane == 0) sums[warp] = __popc(ballot);
    __syncthreads();
    *total = 0;
    for (int i = 0; i < 8; i++) {
        if (i < warp) before += sums[i];
        *total += sums[i];
    }
    __syncthreads();
    return before;
}
__global__ void sort(unsigned *data)
{
    __shared__ unsigned s[256];
    unsigned v = data[threadIdx.x];
    for (int bit = 0; bit < 8; bit++) {
        int zeros, at = exclusive(!(v >> bit & 1), &zeros);
        s[v >> bit & 1 ? zeros + threadIdx.x - at : at] = v;
        __syncthreads();
        v = s[threadIdx.x];
        __syncthreads();
    }
    data[threadIdx.x] = v;
}
int main()
{
    unsigned h[256], *d;
    for (int i = 0; i < 256; i++) h[i] = (i * 91 + 5) & 255;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    sort<<<1, 256>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%u %u %u %u\n", h[0], h[1], h[2], h[255]);
    cudaFree(d);
    return 0;
}
