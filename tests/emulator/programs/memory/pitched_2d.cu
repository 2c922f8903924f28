// prints: 0 1 5 19
#include <stdio.h>
__global__ void fill(char *base, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) ((int *)(base + y * pitch))[x] = y * width + x;
}
int main()
{
    int h[4][5];
    char *d;
    size_t pitch;
    cudaMallocPitch((void **)&d, &pitch, 5 * sizeof(int), 4);
    fill<<<dim3(1, 1), dim3(8, 8)>>>(d, pitch, 5, 4);
    cudaMemcpy2D(h, 5 * sizeof(int), d, pitch, 5 * sizeof(int), 4, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d\n", h[0][0], h[0][1], h[1][0], h[3][4]);
    cudaFree(d);
    return 0;
}
