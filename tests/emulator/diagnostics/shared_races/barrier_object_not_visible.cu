// race: thread 0 wrote at line 12
/* A barrier in shared memory is used before its initialisation is visible to all. */
#include <cuda/barrier>
#include <device_arrays.h>

__global__ void reverse(int *out)
{
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> filled;
    __shared__ int tile[128];
    int t = threadIdx.x;
    if (t == 0) init(&filled, blockDim.x);
    tile[t] = t;
    filled.arrive_and_wait(); // HERE
    out[t] = tile[127 - t];
}

int main()
{
    int *out = unwritten<int>(128);
    reverse<<<1, 128>>>(out);
    return cudaDeviceSynchronize();
}
