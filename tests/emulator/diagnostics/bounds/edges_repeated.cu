// nothing
/* Neighbours outside are replaced by the edge. */
#include <device_arrays.h>

__global__ void blur(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = -2; k <= 2; k++) sum += from[min(max(i + k, 0), n - 1)];
    to[i] = sum / 5;
}

int main()
{
    float *a = filled<float>(500, 0), *b = unwritten<float>(500);
    blur<<<2, 256>>>(b, a, 500);
    return cudaDeviceSynchronize();
}
