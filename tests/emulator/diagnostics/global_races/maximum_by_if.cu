// race
/* Between the question and the answer another thread may have written more. */
#include <device_arrays.h>

__global__ void maximum(int *most, const int *x)
{
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (v > *most) *most = v; // HERE
}

int main()
{
    int host[2048], zero = 0;
    for (int i = 0; i < 2048; i++) host[i] = i;
    int *x = unwritten<int>(2048), *most = unwritten<int>(1);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(most, &zero, sizeof zero, cudaMemcpyHostToDevice);
    maximum<<<8, 256>>>(most, x);
    return cudaDeviceSynchronize();
}
