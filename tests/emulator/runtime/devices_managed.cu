/* devices_managed.cu: a managed variable is one for all devices, whoever loads it first. */
#include "check.h"

// NEEDS: nvcc, `__managed__` variables
// ENV shared_by_devices: SOFTGPU_DEVICES=2

__managed__ int variable = 6;

__global__ void use(int *out)
{
    *out = variable++;
}

CASE(shared_by_devices)
{
    for (int round = 0; round < 4; round++) {
        OK(cudaSetDevice(round % 2));
        int *out = device_array<int>(1);
        use<<<1, 1>>>(out);
        SYNC();
        CHECK(to_host(out, 1)[0] == 6 + 2 * round);
        variable++;
    }
    CHECK(variable == 14);
}
