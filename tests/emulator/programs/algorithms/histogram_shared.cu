// prints: 16 16 4096
#include <stdio.h>
#define BINS 256
__global__ void histogram(unsigned *bins, const unsigned char *data, int n)
{
    __shared__ unsigned local[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}
int main()
{
    static unsigned char h[4096];
    unsigned bins[BINS], *d_bins, total = 0;
    unsigned char *d;
    for (int i = 0; i < 4096; i++) h[i] = (unsigned char)(i * 7);
    cudaMalloc(&d, sizeof h);
    cudaMalloc(&d_bins, sizeof bins);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(d_bins, 0, sizeof bins);
    histogram<<<4, 128>>>(d_bins, d, 4096);
    cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost);
    for (unsigned b : bins) total += b;
    printf("%u %u %u\n", bins[0], bins[255], total);
    cudaFree(d);
    cudaFree(d_bins);
    return 0;
}
