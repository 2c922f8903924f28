// nothing
/* Between two launches everything is ordered, so two arrays take turns. */
#include <device_arrays.h>

__global__ void smooth(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) to[i] = (from[i - 1] + from[i + 1]) / 2;
}

int main()
{
    float *a = filled<float>(2048, 0), *b = filled<float>(2048, 0);
    for (int k = 0; k < 4; k++) {
        smooth<<<8, 256>>>(b, a, 2048);
        smooth<<<8, 256>>>(a, b, 2048);
    }
    return cudaDeviceSynchronize();
}
