// uninitialised read
/* The larger array has the old one's elements, and nothing behind them. */
#include <device_arrays.h>

__global__ void maximum(int *most, const int *x, int n)
{
    int m = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) m = max(m, x[i]); // HERE
    atomicMax(most, m);
}

int main()
{
    int *old = filled<int>(100, 0), *x = unwritten<int>(200), *most = filled<int>(1, 0);
    cudaMemcpy(x, old, 100 * sizeof *x, cudaMemcpyDeviceToDevice);
    maximum<<<1, 64>>>(most, x, 200);
    return cudaDeviceSynchronize();
}
