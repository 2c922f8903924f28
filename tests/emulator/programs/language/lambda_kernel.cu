// prints: 0 9 81
// FLAGS: --extended-lambda
#include <stdio.h>
template <class F> __global__ void for_each(int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
int main()
{
    int *d, h[10], scale = 1;
    cudaMalloc(&d, sizeof h);
    for_each<<<1, 32>>>(10, [=] __device__(int i) { d[i] = scale * i * i; });
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", h[0], h[3], h[9]);
    cudaFree(d);
    return 0;
}
