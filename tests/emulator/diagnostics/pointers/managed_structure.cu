// nothing
/* A structure in managed memory points to managed memory: host and device follow it. */
#include <cuda_runtime.h>

struct Vector {
    float *items;
    int count;
};

__global__ void scale(Vector *v)
{
    for (int i = threadIdx.x; i < v->count; i += blockDim.x) v->items[i] *= 2;
}

int main()
{
    Vector *v;
    cudaMallocManaged(&v, sizeof *v);
    cudaMallocManaged(&v->items, 100 * sizeof(float));
    v->count = 100;
    for (int i = 0; i < 100; i++) v->items[i] = i;
    scale<<<1, 32>>>(v);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    return v->items[10] != 20;
}
