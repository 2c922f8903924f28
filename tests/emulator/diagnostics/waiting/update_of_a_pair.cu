// nothing
/* Two numbers in one word, replaced together until nobody was in between. */
#include <cuda_runtime.h>

__global__ void extremes(unsigned long long *pair)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long old = atomicAdd(pair, 0ull), seen;
    do {
        seen = old;
        unsigned least = min((unsigned)seen, v), most = max((unsigned)(seen >> 32), v);
        old = atomicCAS(pair, seen, (unsigned long long)most << 32 | least);
    } while (old != seen);
}

int main()
{
    unsigned long long *pair;
    cudaMalloc(&pair, 1 * sizeof *pair);
    cudaMemset(pair, 0, 1 * sizeof *pair);
    extremes<<<8, 128>>>(pair);
    return cudaDeviceSynchronize();
}
