// nothing
/* Rows lie farther apart than they are long; what is between them is not touched. */
#include <cuda_runtime.h>

__global__ void fill(float *x, size_t pitch, int width)
{
    float *row = (float *)((char *)x + blockIdx.x * pitch);
    for (int i = threadIdx.x; i < width; i += blockDim.x) row[i] = i;
}

int main()
{
    float *x;
    size_t pitch;
    cudaMallocPitch(&x, &pitch, 100 * sizeof *x, 8);
    fill<<<8, 32>>>(x, pitch, 100);
    return cudaDeviceSynchronize();
}
