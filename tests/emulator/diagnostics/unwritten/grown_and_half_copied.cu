// uninitialised read
/* The larger array has the old one's elements, and nothing behind them. */
#include <cuda_runtime.h>

__global__ void maximum(int *most, const int *x, int n)
{
    int m = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) m = max(m, x[i]); // HERE
    atomicMax(most, m);
}

int main()
{
    int *old, *x, *most;
    cudaMalloc(&old, 100 * sizeof *old);
    cudaMalloc(&x, 200 * sizeof *x);
    cudaMalloc(&most, 1 * sizeof *most);
    cudaMemset(old, 0, 100 * sizeof *old);
    cudaMemset(most, 0, 1 * sizeof *most);
    cudaMemcpy(x, old, 100 * sizeof *x, cudaMemcpyDeviceToDevice);
    maximum<<<1, 64>>>(most, x, 200);
    return cudaDeviceSynchronize();
}
