// nothing
/* Numbers at odd places, read byte by byte. */
#include <device_arrays.h>

__global__ void read(unsigned *out, const unsigned char *records)
{
    const unsigned char *r = records + 7 * threadIdx.x + 3;
    out[threadIdx.x] = r[0] | r[1] << 8 | r[2] << 16 | (unsigned)r[3] << 24;
}

int main()
{
    unsigned char *records = filled<unsigned char>(448, 1);
    unsigned *out = unwritten<unsigned>(64);
    read<<<1, 64>>>(out, records);
    return cudaDeviceSynchronize();
}
