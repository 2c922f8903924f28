// endless loop
/* The lower bound of the search never moves. */
#include <device_arrays.h>

__global__ void find(int *out, const int *x, int n)
{
    int low = 0, high = n - 1;
    while (low < high) {                  // HERE
        int middle = (low + high) / 2;    // HERE
        if (x[middle] < (int)threadIdx.x) // HERE
            low = middle;
        else
            high = middle;
    }
    out[threadIdx.x] = low;
}

int main()
{
    int host[64];
    for (int i = 0; i < 64; i++) host[i] = i;
    int *x = unwritten<int>(64), *out = unwritten<int>(32);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    find<<<1, 32>>>(out, x, 64);
    return cudaDeviceSynchronize();
}
