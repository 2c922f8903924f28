// nothing
/* A tiled product as it should be. */
#include <device_arrays.h>

__global__ void matmul(float *c, const float *a, const float *b, int n)
{
    __shared__ float s_a[16][16], s_b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s_a[y][x] = a[y * n + k + x];
        s_b[y][x] = b[(k + y) * n + x];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += s_a[y][i] * s_b[i][x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

int main()
{
    float *a = filled<float>(1024, 0), *b = filled<float>(1024, 0), *c = unwritten<float>(1024);
    matmul<<<1, dim3(16, 16)>>>(c, a, b, 32);
    return cudaDeviceSynchronize();
}
