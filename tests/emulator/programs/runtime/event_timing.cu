// prints: timed 256
#include <stdio.h>
__global__ void increment(int *data, int value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}
int main()
{
    int *h, *d;
    cudaEvent_t start, stop;
    float ms = -1;
    cudaMallocHost((void **)&h, 256 * sizeof(int));
    for (int i = 0; i < 256; i++) h[i] = 0;
    cudaMalloc((void **)&d, 256 * sizeof(int));
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start, 0);
    cudaMemcpyAsync(d, h, 256 * sizeof(int), cudaMemcpyHostToDevice, 0);
    increment<<<2, 128, 0, 0>>>(d, 26);
    cudaMemcpyAsync(h, d, 256 * sizeof(int), cudaMemcpyDeviceToHost, 0);
    cudaEventRecord(stop, 0);
    unsigned long counter = 0;
    while (cudaEventQuery(stop) == cudaErrorNotReady) counter++;
    cudaEventElapsedTime(&ms, start, stop);
    int right = 0;
    for (int i = 0; i < 256; i++) right += h[i] == 26;
    printf("%s %d\n", ms >= 0 ? "timed" : "not timed", right);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    cudaFreeHost(h);
    cudaFree(d);
    return 0;
}
