// nothing
/* Each thread keeps to its own column, so there is nothing to wait for. */
#include <device_arrays.h>

__global__ void stack(int *out, const int *x)
{
    __shared__ int s[8][64];
    int t = threadIdx.x;
    for (int k = 0; k < 8; k++) s[k][t] = x[k] + t;
    int sum = 0;
    for (int k = 8; k-- > 0;) sum = 3 * sum + s[k][t];
    out[t] = sum;
}

int main()
{
    int *x = filled<int>(8, 0), *out = unwritten<int>(64);
    stack<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}
