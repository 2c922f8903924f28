// uninitialised read
/* The first round reads the buffer that the second one will fill. */
#include <device_arrays.h>

__global__ void rounds(int *out, const int *x)
{
    __shared__ int buffer[2][64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        buffer[k % 2][t] = x[k * 64 + t];
        __syncthreads();
        sum += buffer[(k + 1) % 2][63 - t]; // HERE
        __syncthreads();
    }
    out[t] = sum;
}

int main()
{
    int *x = filled<int>(256, 0), *out = unwritten<int>(64);
    rounds<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
