// use after free
/* The buffer has grown into another one, the structure still has the old pointer. */
#include <cuda_runtime.h>

struct List {
    int *items;
    int count;
};

__global__ void push(List list, int value)
{
    if (threadIdx.x == 0) list.items[list.count] = value; // HERE
}

int main()
{
    int *larger;
    List list = {nullptr, 32};
    cudaMalloc(&list.items, 32 * sizeof(int));
    cudaMemset(list.items, 0, 32 * sizeof(int));
    List before = list;
    cudaMalloc(&larger, 64 * sizeof(int));
    cudaMemcpy(larger, list.items, 32 * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaFree(list.items);
    list.items = larger;
    before.count = 31;
    push<<<1, 32>>>(before, 7);
    return cudaDeviceSynchronize();
}
