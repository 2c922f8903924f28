// inactive lane
/* Some lanes have gone the other way when the others vote for all. */
#include <cuda_runtime.h>

__global__ void count(int *out, const int *x, int n)
{
    __shared__ int votes[32];
    int t = threadIdx.x;
    if (t < n)
        votes[t] = __popc(__ballot_sync(0xffffffff, x[t] == 0)); // HERE
    else
        votes[t] = 0;
    __syncwarp();
    out[t] = votes[31 - t];
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(x, 0, 32 * sizeof *x);
    count<<<1, 32>>>(out, x, 20);
    return cudaDeviceSynchronize();
}
