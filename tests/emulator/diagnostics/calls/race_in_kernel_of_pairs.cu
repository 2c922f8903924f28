// race: kernel exchange,
// FLAGS: -O2
/* The kernel's name is its own, not that of its parameter's class: kernel exchange */
#include <device_arrays.h>

struct Pair {
    int *from, *to;
};

__global__ void exchange(Pair p)
{
    int t = threadIdx.x;
    p.to[t] = p.from[t];
    p.from[t] = p.to[63 - t]; // HERE
}

int main()
{
    int *p = filled<int>(128, 0);
    exchange<<<1, 64>>>(Pair{p, p + 64});
    return cudaDeviceSynchronize();
}
