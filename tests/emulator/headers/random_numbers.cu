/* random_numbers.cu: random numbers of each thread, by a header of the toolkit's. */
// NEEDS: nvcc
#include <curand_kernel.h>

#include "check.h"

__global__ void draw(float *out)
{
    curandState state;
    curand_init(1, threadIdx.x, 0, &state);
    out[threadIdx.x] = curand_uniform(&state);
}

CASE(uniform)
{
    float *out = device_array<float>(64);
    draw<<<1, 64>>>(out);
    SYNC();
    double sum = 0;
    for (float x : to_host(out, 64)) sum += x;
    CHECK(sum > 20 && sum < 44);
}
