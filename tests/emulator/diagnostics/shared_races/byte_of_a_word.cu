// race
/* Two threads set bits of the same byte. */
#include <device_arrays.h>

__global__ void mark(unsigned *out)
{
    __shared__ unsigned char bits[32];
    int t = threadIdx.x;
    if (t < 32) bits[t] = 0;
    __syncthreads();
    bits[t % 32] |= 1 << t / 32; // HERE
    __syncthreads();
    if (t < 32) out[t] = bits[t];
}

int main()
{
    unsigned *out = unwritten<unsigned>(32);
    mark<<<1, 128>>>(out);
    return cudaDeviceSynchronize();
}
