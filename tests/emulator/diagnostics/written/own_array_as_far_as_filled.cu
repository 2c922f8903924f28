// nothing
/* A small stack of each thread, of which only what was pushed is popped. */
#include <device_arrays.h>

__global__ void depth(int *out, const int *x, int n)
{
    int stack[16], top = 0, popped = 0;
    for (int k = 0; k < n; k++) {
        if (x[k] > 0)
            stack[top++ % 16] = x[k];
        else if (top > 0)
            popped += stack[--top];
    }
    out[threadIdx.x] = popped;
}

int main()
{
    int *x = filled<int>(8, 1), *out = unwritten<int>(64);
    depth<<<1, 64>>>(out, x, 8);
    return cudaDeviceSynchronize();
}
