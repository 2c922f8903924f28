// prints: sorted
#include <stdio.h>
__global__ void step(int *a, int n, int phase)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
    if (i + 1 < n && a[i] > a[i + 1]) {
        int t = a[i];
        a[i] = a[i + 1];
        a[i + 1] = t;
    }
}
int main()
{
    int h[100], *d;
    for (int i = 0; i < 100; i++) h[i] = (i * 37 + 11) % 100;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    for (int i = 0; i < 100; i++) step<<<2, 32>>>(d, 100, i % 2);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < 100; i++) wrong += h[i] != i;
    puts(wrong ? "unsorted" : "sorted");
    cudaFree(d);
    return 0;
}
