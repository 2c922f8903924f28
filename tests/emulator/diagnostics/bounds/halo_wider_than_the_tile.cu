// out of bounds
/* The tile has room for a halo of one, the loop reads two. */
#include <device_arrays.h>

__global__ void blur(float *to, const float *from)
{
    __shared__ float tile[66];
    int t = threadIdx.x;
    for (int i = t; i < 66; i += 64) tile[i] = from[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += tile[t + k]; // HERE
    to[t] = sum;
}

int main()
{
    float *a = filled<float>(66, 0), *b = unwritten<float>(64);
    blur<<<1, 64>>>(b, a);
    return cudaDeviceSynchronize();
}
