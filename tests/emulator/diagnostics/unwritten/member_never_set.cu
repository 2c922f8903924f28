// uninitialised read
/* One kernel sets two of three members, another one uses the third. */
#include <device_arrays.h>

struct Body {
    float position, speed, mass;
};

__global__ void place(Body *b)
{
    b[threadIdx.x].position = threadIdx.x;
    b[threadIdx.x].speed = 0;
}

__global__ void momentum(float *p, const Body *b)
{
    p[threadIdx.x] = b[threadIdx.x].mass * b[threadIdx.x].speed; // HERE
}

int main()
{
    Body *b = unwritten<Body>(64);
    float *p = unwritten<float>(64);
    place<<<1, 64>>>(b);
    momentum<<<1, 64>>>(p, b);
    return cudaDeviceSynchronize();
}
