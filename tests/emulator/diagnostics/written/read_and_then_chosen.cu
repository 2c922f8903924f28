// nothing
/* Every thread reads the tile, those above n drop what they have read. */
#include <cuda_runtime.h>

__global__ void shift(int *out, const int *x, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t < n) tile[t] = x[t];
    __syncthreads();
    int v = tile[63 - t];
    out[t] = 63 - t < n ? v : 0;
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 50 * sizeof *x);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(x, 0, 50 * sizeof *x);
    shift<<<1, 64>>>(out, x, 50);
    return cudaDeviceSynchronize();
}
