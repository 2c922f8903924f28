// prints: 1.000 0.2419
#include <stdio.h>
#include <math.h>
struct __align__(8) MD
{
    float m, d;
};
__device__ MD join(MD a, MD b)
{
    bool bigger = a.m > b.m;
    MD x = bigger ? a : b, y = bigger ? b : a;
    return {x.m, x.d + y.d * expf(y.m - x.m)};
}
__global__ void softmax(float *y, const float *x, int n)
{
    __shared__ MD warps[4], all;
    MD mine = {-INFINITY, 0};
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine = join(mine, MD{x[i], 1});
    for (int o = 16; o; o /= 2)
        mine = join(mine, MD{__shfl_xor_sync(~0u, mine.m, o), __shfl_xor_sync(~0u, mine.d, o)});
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) all = join(join(warps[0], warps[1]), join(warps[2], warps[3]));
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = expf(x[i] - all.m) / all.d;
}
int main()
{
    float h[200], *x, *y, sum = 0, last;
    for (int i = 0; i < 200; i++) h[i] = i < 195 ? -50 : 0.1f * (i - 195);
    cudaMalloc(&x, sizeof h);
    cudaMalloc(&y, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    softmax<<<1, 128>>>(y, x, 200);
    cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
    for (float v : h) sum += v;
    last = h[199];
    printf("%.3f %.4f\n", sum, last);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
