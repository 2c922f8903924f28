// nothing
/* The structure lies on the host and is passed by value, its pointers are the device's. */
#include <cuda_runtime.h>

struct Planes {
    float *x, *y;
};

__global__ void swap(Planes p)
{
    int t = threadIdx.x;
    float x = p.x[t];
    p.x[t] = p.y[t];
    p.y[t] = x;
}

int main()
{
    Planes p;
    cudaMalloc(&p.x, 64 * sizeof(float));
    cudaMalloc(&p.y, 64 * sizeof(float));
    cudaMemset(p.x, 0, 64 * sizeof(float));
    cudaMemset(p.y, 0, 64 * sizeof(float));
    swap<<<1, 64>>>(p);
    return cudaDeviceSynchronize();
}
