// uninitialised read
/* One kernel sets two of three members, another one uses the third. */
#include <cuda_runtime.h>

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
    Body *b;
    float *p;
    cudaMalloc(&b, 64 * sizeof *b);
    cudaMalloc(&p, 64 * sizeof *p);
    place<<<1, 64>>>(b);
    momentum<<<1, 64>>>(p, b);
    return cudaDeviceSynchronize();
}
