// race: harmless
/* Several vertices find the same neighbour, and all give it the same level; that some have found
 * one is no race at all: nobody reads it. */
#include <cuda_runtime.h>

__global__ void expand(int *level, int *again, const int *first, const int *edges, int now)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (level[v] != now) return; // HERE
    for (int e = first[v]; e < first[v + 1]; e++) {
        int to = edges[e];
        if (level[to] < 0) {     // HERE
            level[to] = now + 1; // HERE
            *again = 1;
        }
    }
}

int main()
{
    const int n = 2048;
    static int first[2049], edges[4 * 2048], level[2048];
    for (int v = 0; v <= n; v++) first[v] = 4 * v;
    for (int v = 0; v < n; v++) {
        level[v] = v % 3 ? -1 : 0;
        for (int k = 0; k < 4; k++) edges[4 * v + k] = (3 * v + 7 * k + 1) % n;
    }
    int *d_level, *again, *d_first, *d_edges;
    cudaMalloc(&d_level, sizeof level);
    cudaMalloc(&again, sizeof *again);
    cudaMalloc(&d_first, sizeof first);
    cudaMalloc(&d_edges, sizeof edges);
    cudaMemcpy(d_level, level, sizeof level, cudaMemcpyHostToDevice);
    cudaMemcpy(d_first, first, sizeof first, cudaMemcpyHostToDevice);
    cudaMemcpy(d_edges, edges, sizeof edges, cudaMemcpyHostToDevice);
    cudaMemset(again, 0, sizeof *again);
    expand<<<8, 256>>>(d_level, again, d_first, d_edges, 0);
    return cudaDeviceSynchronize();
}
