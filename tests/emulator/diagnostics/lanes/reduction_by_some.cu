// inactive lane
/* __reduce_add_sync names lanes that do not take part. */
#include <cuda_runtime.h>

__global__ void sum(unsigned *out, const unsigned *x, int n)
{
    __shared__ unsigned sums[32];
    int t = threadIdx.x;
    if (t < n)
        sums[t] = __reduce_add_sync(0xffffffff, x[t]); // HERE
    else
        sums[t] = 7;
    __syncwarp();
    out[t] = sums[31 - t];
}

int main()
{
    unsigned *x, *out;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(x, 0, 32 * sizeof *x);
    sum<<<1, 32>>>(out, x, 24);
    return cudaDeviceSynchronize();
}
