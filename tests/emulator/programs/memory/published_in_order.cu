// prints: 7
#include <stdio.h>
__global__ void hand_on(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 7;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
        *out = *data;
    }
}
int main()
{
    int *m, h;
    cudaMalloc(&m, 3 * sizeof(int));
    cudaMemset(m, 0, 3 * sizeof(int));
    hand_on<<<2, 32>>>(m, m + 1, m + 2);
    cudaMemcpy(&h, m + 2, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(m);
    return 0;
}
