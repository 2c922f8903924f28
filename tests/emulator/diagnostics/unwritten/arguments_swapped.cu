// uninitialised read
/* The call names source and destination the wrong way round. */
#include <cuda_runtime.h>

__global__ void square(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x] * from[threadIdx.x]; // HERE
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 64 * sizeof *a);
    cudaMalloc(&b, 64 * sizeof *b);
    cudaMemset(a, 0, 64 * sizeof *a);
    square<<<1, 64>>>(a, b);
    return cudaDeviceSynchronize();
}
