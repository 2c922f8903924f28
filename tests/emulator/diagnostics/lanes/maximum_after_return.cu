// inactive lane
/* Threads above n return, and the last warp's maximum takes what they do not give. */
#include <cuda_runtime.h>

__global__ void maximum(int *most, const int *x, int n)
{
    __shared__ int block_most;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) block_most = 0;
    __syncthreads();
    if (i >= n) return;
    int v = x[i];
    for (int d = 16; d > 0; d /= 2) v = max(v, __shfl_xor_sync(0xffffffff, v, d)); // HERE
    if (threadIdx.x % 32 == 0) {
        atomicMax(&block_most, v);
        atomicMax(most, v);
    }
}

int main()
{
    int *x, *most;
    cudaMalloc(&x, 1000 * sizeof *x);
    cudaMalloc(&most, sizeof *most);
    cudaMemset(x, 0, 1000 * sizeof *x);
    cudaMemset(most, 0, sizeof *most);
    maximum<<<4, 256>>>(most, x, 1000);
    return cudaDeviceSynchronize();
}
