// inactive lane
/* The other arm's lanes are named and do not come. */
#include <cuda_runtime.h>

__global__ void pick(int *out, const int *x)
{
    int t = threadIdx.x, v = x[t];
    if (t % 2 == 0) {
        v = __shfl_sync(0xffffffff, v, t + 1); // HERE
        out[t] = v;
    } else {
        out[t] = -v;
    }
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(x, 0, 32 * sizeof *x);
    pick<<<1, 32>>>(out, x);
    return cudaDeviceSynchronize();
}
