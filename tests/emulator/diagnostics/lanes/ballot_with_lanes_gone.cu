// inactive lane
/* Some lanes have gone the other way when the others vote for all. */
#include <device_arrays.h>

__global__ void count(int *out, const int *x, int n)
{
    __shared__ int votes[32];
    int t = threadIdx.x;
    if (t < n)
        votes[t] = __popc(__ballot_sync(0xffffffff, x[t] == 0)); // HERE
    else
        votes[t] = 0;
    __syncwarp();
    out[t] = votes[31 - t];
}

int main()
{
    int *x = filled<int>(32, 0), *out = unwritten<int>(32);
    count<<<1, 32>>>(out, x, 20);
    return cudaDeviceSynchronize();
}
