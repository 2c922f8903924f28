// nothing
/* Bytes are written one by one and read as words. */
#include <device_arrays.h>

__global__ void pack(unsigned char *to, const int *x)
{
    to[threadIdx.x] = (unsigned char)x[threadIdx.x];
}

__global__ void sum(unsigned *out, const unsigned *words)
{
    __shared__ unsigned char bytes[64];
    bytes[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 16)
        out[threadIdx.x] = words[threadIdx.x] + ((const unsigned *)bytes)[threadIdx.x];
}

int main()
{
    int *x = filled<int>(64, 0);
    unsigned char *bytes = unwritten<unsigned char>(64);
    unsigned *out = unwritten<unsigned>(16);
    pack<<<1, 64>>>(bytes, x);
    sum<<<1, 64>>>(out, (unsigned *)bytes);
    return cudaDeviceSynchronize();
}
