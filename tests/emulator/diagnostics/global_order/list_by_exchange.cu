// nothing
/* Each thread hangs its node before the old head, which atomicExch gives to it alone. */
#include <device_arrays.h>

__global__ void push(int *next, int *head)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    next[i] = atomicExch(head, i);
}

int main()
{
    int *next = unwritten<int>(2048), *head = filled<int>(1, 255);
    push<<<8, 256>>>(next, head);
    return cudaDeviceSynchronize();
}
