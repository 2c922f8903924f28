// prints: done
#include <stdio.h>
__global__ void scale(float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}
int main()
{
    static float h[4096];
    float *x;
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMalloc(&x, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
    scale<<<16, 256, 0, s>>>(x);
    cudaStreamSynchronize(s);
    puts("done");
    cudaFree(x);
    cudaStreamDestroy(s);
    return 0;
}
