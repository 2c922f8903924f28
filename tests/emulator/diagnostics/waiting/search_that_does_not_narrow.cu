// endless loop
/* The lower bound of the search never moves. */
#include <cuda_runtime.h>

__global__ void find(int *out, const int *x, int n)
{
    int low = 0, high = n - 1;
    while (low < high) {                  // HERE
        int middle = (low + high) / 2;    // HERE
        if (x[middle] < (int)threadIdx.x) // HERE
            low = middle;
        else
            high = middle;
    }
    out[threadIdx.x] = low;
}

int main()
{
    int host[64];
    for (int i = 0; i < 64; i++) host[i] = i;
    int *x, *out;
    cudaMalloc(&x, 64 * sizeof *x);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    find<<<1, 32>>>(out, x, 64);
    return cudaDeviceSynchronize();
}
