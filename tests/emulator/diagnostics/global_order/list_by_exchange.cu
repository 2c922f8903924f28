// nothing
/* Each thread hangs its node before the old head, which atomicExch gives to it alone. */
#include <cuda_runtime.h>

__global__ void push(int *next, int *head)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    next[i] = atomicExch(head, i);
}

int main()
{
    int *next, *head;
    cudaMalloc(&next, 2048 * sizeof *next);
    cudaMalloc(&head, 1 * sizeof *head);
    cudaMemset(head, 255, 1 * sizeof *head);
    push<<<8, 256>>>(next, head);
    return cudaDeviceSynchronize();
}
