// endless loop
/* The last node points to the first one; the loop counts, so nothing comes again. */
#include <device_arrays.h>

struct node {
    node *next;
    int value;
};

__global__ void link(node *p, int n)
{
    p[threadIdx.x].next = &p[(threadIdx.x + 7) % n];
    p[threadIdx.x].value = threadIdx.x;
}

__global__ void walk(const node *p, int *sums, int n)
{
    const node *q = &p[threadIdx.x % n];
    int sum = 0;
    while (q) {          // HERE
        sum += q->value; // HERE
        q = q->next;     // HERE
    }
    sums[threadIdx.x] = sum;
}

int main()
{
    node *p = unwritten<node>(64);
    int *sums = unwritten<int>(256);
    link<<<1, 64>>>(p, 64);
    walk<<<1, 256>>>(p, sums, 64);
    return cudaDeviceSynchronize();
}
