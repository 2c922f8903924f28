// prints: 523776
#include <stdio.h>
template <unsigned blockSize> __global__ void reduce(const int *in, int *out, int n)
{
    __shared__ int data[blockSize];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockSize * 2 + tid;
    data[tid] = in[i] + (i + blockSize < n ? in[i + blockSize] : 0);
    __syncthreads();
    if (blockSize >= 256) {
        if (tid < 128) data[tid] += data[tid + 128];
        __syncthreads();
    }
    if (blockSize >= 128) {
        if (tid < 64) data[tid] += data[tid + 64];
        __syncthreads();
    }
    if (tid < 32) {
        int sum = data[tid] + data[tid + 32];
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (tid == 0) atomicAdd(out, sum);
    }
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
    switch (256) {
    case 256: reduce<256><<<n / 512, 256>>>(in, out, n); break;
    case 128: reduce<128><<<n / 256, 128>>>(in, out, n); break;
    }
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%d\n", sum);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
