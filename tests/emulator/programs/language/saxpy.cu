// prints: max error 0
#include <math.h>
#include <stdio.h>
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
int main()
{
    const int n = 1 << 12;
    float *x = (float *)malloc(n * sizeof(float)), *y = (float *)malloc(n * sizeof(float)), *d_x,
          *d_y;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_y, n * sizeof(float));
    for (int i = 0; i < n; i++) x[i] = 1.0f, y[i] = 2.0f;
    cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, y, n * sizeof(float), cudaMemcpyHostToDevice);
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, d_x, d_y);
    cudaMemcpy(y, d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    float worst = 0;
    for (int i = 0; i < n; i++) worst = fmaxf(worst, fabsf(y[i] - 4.0f));
    printf("max error %g\n", worst);
    cudaFree(d_x);
    cudaFree(d_y);
    free(x);
    free(y);
    return 0;
}
