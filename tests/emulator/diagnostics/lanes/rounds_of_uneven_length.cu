// inactive lane
/* Lanes leave the loop at different times, and the shuffle still reads from them. */
#include <cuda_runtime.h>

__global__ void walk(int *out, const int *x, int n)
{
    int t = threadIdx.x, v = 0;
    for (int i = t; i < n; i += 32) {
        v += x[i];
        v += __shfl_down_sync(0xffffffff, v, 1); // HERE
    }
    out[t] = v;
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 100 * sizeof *x);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(x, 0, 100 * sizeof *x);
    walk<<<1, 32>>>(out, x, 80);
    return cudaDeviceSynchronize();
}
