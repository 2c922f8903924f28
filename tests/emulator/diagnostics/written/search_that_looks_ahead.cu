// nothing
/* The loop loads the next element before it knows that there is one. */
#include <cuda_runtime.h>

__global__ void runs(int *out, const int *x, int n)
{
    int count = 0, next = x[0];
    for (int i = 0; i < n; i++) {
        int now = next;
        next = x[i + 1];
        if (i + 1 == n || now != next) count++;
    }
    out[threadIdx.x] = count;
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 65 * sizeof *x);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(x, 0, 64 * sizeof *x);
    runs<<<1, 32>>>(out, x, 64);
    return cudaDeviceSynchronize();
}
