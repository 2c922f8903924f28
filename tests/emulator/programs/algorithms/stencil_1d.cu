// prints: 7 7 4
#include <stdio.h>
#define RADIUS 3
#define BLOCK  64
__global__ void stencil(const int *in, int *out)
{
    __shared__ int temp[BLOCK + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x, lindex = threadIdx.x + RADIUS;
    temp[lindex] = in[gindex];
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = in[gindex - RADIUS];
        temp[lindex + BLOCK] = in[gindex + BLOCK];
    }
    __syncthreads();
    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++) result += temp[lindex + offset];
    out[gindex] = result;
}
int main()
{
    const int n = 256, bytes = (n + 2 * RADIUS) * sizeof(int);
    int h[n + 2 * RADIUS], *in, *out;
    for (int &x : h) x = 1;
    h[n + RADIUS] = h[n + RADIUS + 1] = h[n + RADIUS + 2] = 0;
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, bytes);
    cudaMemcpy(in, h, bytes, cudaMemcpyHostToDevice);
    stencil<<<n / BLOCK, BLOCK>>>(in + RADIUS, out + RADIUS);
    cudaMemcpy(h + RADIUS, out + RADIUS, n * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", h[RADIUS], h[RADIUS + 100], h[RADIUS + n - 1]);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
