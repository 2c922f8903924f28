// prints: an illegal memory access was encountered
// finds: out of bounds
#include <stdio.h>
/* Four stores that become one are at its line, not at that of the barrier behind them. */
__global__ void shift(float4 *y, const float4 *x)
{
    int i = threadIdx.x;
    float4 v = x[i];
    v.x += 1;
    y[i] = v;
    __syncthreads();
}
int main()
{
    float4 *x, *y;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&y, 32 * sizeof *y);
    cudaMemset(x, 0, 64 * sizeof *x);
    shift<<<1, 64>>>(y, x);
    puts(cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
