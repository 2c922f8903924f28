// uninitialised read
/* C += A * B, and nobody has set C. */
#include <device_arrays.h>

__global__ void matmul(float *c, const float *a, const float *b, int n)
{
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] += sum; // HERE
}

int main()
{
    float *a = filled<float>(256, 0), *b = filled<float>(256, 0), *c = unwritten<float>(256);
    matmul<<<1, dim3(16, 16)>>>(c, a, b, 16);
    return cudaDeviceSynchronize();
}
