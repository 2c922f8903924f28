// nothing
/* Each warp has a barrier of its own: __syncwarp() makes its initialisation visible where it is used. */
#include <cuda/barrier>
#include <device_arrays.h>

__global__ void reverse(int *out)
{
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> filled[4];
    __shared__ int tile[128];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    if (lane == 0) init(&filled[warp], 32);
    __syncwarp();
    tile[t] = t;
    filled[warp].arrive_and_wait();
    out[t] = tile[32 * warp + 31 - lane];
}

int main()
{
    int *out = unwritten<int>(128);
    reverse<<<1, 128>>>(out);
    return cudaDeviceSynchronize();
}
