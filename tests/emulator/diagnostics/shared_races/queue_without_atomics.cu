// race
/* Several threads take the same place in the queue. */
#include <cuda_runtime.h>

__global__ void collect(int *out, const int *x)
{
    __shared__ int queue[64], length;
    int t = threadIdx.x;
    if (t == 0) length = 0;
    __syncthreads();
    if (x[t] > 0) queue[length++] = t; // HERE
    __syncthreads();
    if (t < length) out[t] = queue[t];
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(x, 1, 64 * sizeof *x);
    collect<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
