// nothing
/* Sets are joined by atomicMin, and read by atomic operations, too. */
#include <device_arrays.h>

__global__ void join(int *root, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 >= n) return;
    int a = atomicAdd(&root[i], 0), b = atomicAdd(&root[i + 1], 0);
    atomicMin(&root[i + 1], a);
    atomicMin(&root[i], b);
}

int main()
{
    int host[2048];
    for (int i = 0; i < 2048; i++) host[i] = i;
    int *root = unwritten<int>(2048);
    cudaMemcpy(root, host, sizeof host, cudaMemcpyHostToDevice);
    join<<<8, 256>>>(root, 2048);
    return cudaDeviceSynchronize();
}
