// divergent barrier
/* if (i < n) around the whole kernel, barrier and all. */
#include <device_arrays.h>

__global__ void mirror(int *x, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i < n) {
        s[t] = x[i];
        __syncthreads(); // HERE
        x[i] = s[t];
    }
    if (t == 127) s[0] = 0;
}

int main()
{
    int *x = filled<int>(200, 0);
    mirror<<<2, 128>>>(x, 200);
    return cudaDeviceSynchronize();
}
