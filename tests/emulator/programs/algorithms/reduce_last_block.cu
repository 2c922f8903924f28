// prints: 523776
#include <stdio.h>
__device__ unsigned int count = 0;
__global__ void reduce(const int *in, volatile int *partial, int *out)
{
    __shared__ int data[128];
    __shared__ bool amLast;
    data[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) data[threadIdx.x] += data[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = data[0];
        __threadfence();
        unsigned ticket = atomicInc(&count, gridDim.x);
        amLast = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (amLast && threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += partial[i];
        *out = sum;
        count = 0;
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
    int *partial;
    cudaMalloc(&partial, 8 * sizeof(int));
    reduce<<<8, 128>>>(in, partial, out);
    cudaFree(partial);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%d\n", sum);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
