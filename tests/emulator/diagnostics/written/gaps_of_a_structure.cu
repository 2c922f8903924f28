// nothing
/* A structure has gaps between its members, which are copied with it. */
#include <device_arrays.h>

struct Entry {
    char key;
    double value;
    short count;
};

__global__ void fill(Entry *e)
{
    e[threadIdx.x].key = 'k';
    e[threadIdx.x].value = threadIdx.x;
    e[threadIdx.x].count = 1;
}

__global__ void rotate(Entry *to, const Entry *from)
{
    to[(threadIdx.x + 1) % blockDim.x] = from[threadIdx.x];
}

int main()
{
    Entry *a = unwritten<Entry>(64), *b = unwritten<Entry>(64);
    fill<<<1, 64>>>(a);
    rotate<<<1, 64>>>(b, a);
    return cudaDeviceSynchronize();
}
