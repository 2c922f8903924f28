// nothing
/* The loop loads the next element before it knows that there is one. */
#include <device_arrays.h>

__global__ void runs(int *out, const int *x, int n)
{
    int count = 0, next = x[0];
    for (int i = 0; i < n; i++) {
        int now = next;
        next = x[i + 1];
        if (i + 1 == n || now != next) count++;
    }
    out[threadIdx.x] = count;
}

int main()
{
    int *x = unwritten<int>(65), *out = unwritten<int>(32);
    cudaMemset(x, 0, 64 * sizeof *x);
    runs<<<1, 32>>>(out, x, 64);
    return cudaDeviceSynchronize();
}
