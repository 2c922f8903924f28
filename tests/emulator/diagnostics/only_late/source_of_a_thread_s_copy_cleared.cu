// failed assert
/* Each thread brings 16 bytes, and clears them in global memory before it has waited for its copy. */
#include "../device_arrays.h"
#include <assert.h>
#include <cuda_pipeline.h>

__global__ void take(int4 *x)
{
    __shared__ int4 tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof *x);
    __pipeline_commit();
    x[threadIdx.x].x = -1;
    __pipeline_wait_prior(0);
    assert(tile[threadIdx.x].x == 0); // HERE
}

int main()
{
    take<<<1, 64>>>(filled<int4>(64, 0));
    return cudaDeviceSynchronize();
}
