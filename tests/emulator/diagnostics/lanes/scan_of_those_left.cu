// inactive lane
/* A scan after some lanes have left: lane 20 reads from one that is gone. */
#include <cuda_runtime.h>

__global__ void scan(int *out, const int *x)
{
    int t = threadIdx.x, v = x[t];
    if (t % 4 == 3) return;
    unsigned mask = __activemask();
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(mask, v, d); // HERE
        if (t >= d) v += left;
    }
    out[t] = v;
}

int main()
{
    int *x, *out;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(x, 0, 32 * sizeof *x);
    scan<<<1, 32>>>(out, x);
    return cudaDeviceSynchronize();
}
