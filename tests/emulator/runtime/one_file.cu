/* one_file.cu: code of the device that might lie in another file, and does not. */
// FLAGS: -rdc=true
#include "check.h"

extern __device__ int twice(int x);

__global__ void call(int *out)
{
    *out = twice(21);
}

__device__ int twice(int x)
{
    return 2 * x;
}

CASE(defined_below)
{
    int *out = device_array<int>(1);
    call<<<1, 1>>>(out);
    SYNC();
    CHECK(to_host(out, 1)[0] == 42);
}
