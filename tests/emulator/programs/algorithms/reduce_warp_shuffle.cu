// prints: 523776
#include <stdio.h>
__inline__ __device__ int warp_sum(int v)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}
__inline__ __device__ int block_sum(int v)
{
    static __shared__ int shared[32];
    int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
    v = warp_sum(v);
    if (lane == 0) shared[wid] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / warpSize ? shared[lane] : 0;
    if (wid == 0) v = warp_sum(v);
    return v;
}
__global__ void reduce(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
int main()
{
    const int n = 1024;
    int h[n], *in, *out, sum = 0;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof(int));
    cudaMemset(out, 0, sizeof(int));
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    reduce<<<2, 256>>>(in, out, n);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%d\n", sum);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
