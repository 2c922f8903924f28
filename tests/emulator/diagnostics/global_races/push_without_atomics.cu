// race
/* Two threads take the same head of the list. */
#include <device_arrays.h>

__global__ void push(int *next, int *head)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    next[i] = *head; // HERE
    *head = i;       // HERE
}

int main()
{
    int *next = unwritten<int>(2048), *head = filled<int>(1, 0);
    push<<<8, 256>>>(next, head);
    return cudaDeviceSynchronize();
}
