// race
/* Two threads take the same head of the list. */
#include <cuda_runtime.h>

__global__ void push(int *next, int *head)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    next[i] = *head; // HERE
    *head = i;       // HERE
}

int main()
{
    int *next, *head;
    cudaMalloc(&next, 2048 * sizeof *next);
    cudaMalloc(&head, 1 * sizeof *head);
    cudaMemset(head, 0, 1 * sizeof *head);
    push<<<8, 256>>>(next, head);
    return cudaDeviceSynchronize();
}
