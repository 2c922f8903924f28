// nothing
/* A structure is copied before all of its members have a value. */
#include <device_arrays.h>

struct Body {
    int id;
    float x, y, mass;
};

__global__ void name(Body *b)
{
    b[threadIdx.x].id = threadIdx.x;
    b[threadIdx.x].x = b[threadIdx.x].y = 0;
}

__global__ void sort(Body *to, const Body *from)
{
    to[63 - threadIdx.x] = from[threadIdx.x];
}

__global__ void weigh(Body *b)
{
    b[threadIdx.x].mass = b[threadIdx.x].id;
    b[threadIdx.x].x += b[threadIdx.x].mass;
}

int main()
{
    Body *a = unwritten<Body>(64), *b = unwritten<Body>(64);
    name<<<1, 64>>>(a);
    sort<<<1, 64>>>(b, a);
    weigh<<<1, 64>>>(b);
    return cudaDeviceSynchronize();
}
