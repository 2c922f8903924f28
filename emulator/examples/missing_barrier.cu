/* missing_barrier.cu: a block turns its elements round; each thread reads what another one wrote.
 */
#include <stdio.h>

__global__ void reverse(int *x)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = tile[127 - threadIdx.x];
}

int main()
{
    int *x, h_x[128];
    for (int i = 0; i < 128; i++) h_x[i] = i;
    cudaMalloc(&x, sizeof h_x);
    cudaMemcpy(x, h_x, sizeof h_x, cudaMemcpyHostToDevice);
    reverse<<<1, 128>>>(x);
    cudaMemcpy(h_x, x, sizeof h_x, cudaMemcpyDeviceToHost);
    printf("x[0] is %d\n", h_x[0]);
    cudaFree(x);
}
