// uninitialised read
/* Every thread loads its element, nobody the two beside the tile. */
#include <device_arrays.h>

__global__ void smooth(float *to, const float *from)
{
    __shared__ float tile[66];
    int t = threadIdx.x + 1;
    tile[t] = from[blockIdx.x * 64 + t];
    __syncthreads();
    to[blockIdx.x * 64 + t - 1] = (tile[t - 1] + tile[t] + tile[t + 1]) / 3; // HERE
}

int main()
{
    float *a = filled<float>(200, 0), *b = unwritten<float>(192);
    smooth<<<3, 64>>>(b, a);
    return cudaDeviceSynchronize();
}
