/* past_the_end.cu: 1000 elements and 1024 threads. */
#include <stdio.h>

__global__ void add(float *c, const float *a, const float *b, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

int main()
{
    const int n = 1000;
    float *a, *b, *c;
    cudaMalloc(&a, n * sizeof *a);
    cudaMalloc(&b, n * sizeof *b);
    cudaMalloc(&c, n * sizeof *c);
    cudaMemset(a, 0, n * sizeof *a);
    cudaMemset(b, 0, n * sizeof *b);
    add<<<(n + 255) / 256, 256>>>(c, a, b, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
