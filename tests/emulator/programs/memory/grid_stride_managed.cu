// prints: 3 4096
#include <stdio.h>
__global__ void add(int n, const float *x, float *y)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x, stride = blockDim.x * gridDim.x;
    for (int i = index; i < n; i += stride) y[i] = x[i] + y[i];
}
int main()
{
    int n = 1 << 12, right = 0;
    float *x, *y;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    for (int i = 0; i < n; i++) {
        x[i] = 1.0f;
        y[i] = 2.0f;
    }
    add<<<4, 128>>>(n, x, y);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) right += y[i] == 3.0f;
    printf("%g %d\n", y[0], right);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
