// prints: 8192 right
#include <stdio.h>
#include <math.h>
__global__ void kernel(float *a, int offset)
{
    int i = offset + threadIdx.x + blockIdx.x * blockDim.x;
    float s = sinf((float)i), c = cosf((float)i);
    a[i] = a[i] + sqrtf(s * s + c * c);
}
int main()
{
    const int n = 8192, nStreams = 4, streamSize = n / nStreams,
              streamBytes = streamSize * sizeof(float);
    float *a, *d_a;
    int right = 0;
    cudaStream_t stream[nStreams];
    cudaMallocHost((void **)&a, n * sizeof(float));
    cudaMalloc((void **)&d_a, n * sizeof(float));
    for (int i = 0; i < n; i++) a[i] = 0;
    for (int i = 0; i < nStreams; ++i) cudaStreamCreate(&stream[i]);
    for (int i = 0; i < nStreams; ++i) {
        int offset = i * streamSize;
        cudaMemcpyAsync(&d_a[offset], &a[offset], streamBytes, cudaMemcpyHostToDevice, stream[i]);
        kernel<<<streamSize / 256, 256, 0, stream[i]>>>(d_a, offset);
        cudaMemcpyAsync(&a[offset], &d_a[offset], streamBytes, cudaMemcpyDeviceToHost, stream[i]);
    }
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) right += fabsf(a[i] - 1) < 1e-5f;
    printf("%d right\n", right);
    for (int i = 0; i < nStreams; ++i) cudaStreamDestroy(stream[i]);
    cudaFree(d_a);
    cudaFreeHost(a);
    return 0;
}
