// race: blocks run in any order
/* Each vertex numbers its neighbours by itself: who finds one last wins. */
#include <cuda_runtime.h>

__global__ void expand(int *parent, const int *edges)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int to = edges[v];
    parent[to] = v; // HERE
}

int main()
{
    const int n = 2048;
    static int edges[2048];
    for (int v = 0; v < n; v++) edges[v] = v % 256;
    int *parent, *d_edges;
    cudaMalloc(&parent, 256 * sizeof *parent);
    cudaMalloc(&d_edges, sizeof edges);
    cudaMemcpy(d_edges, edges, sizeof edges, cudaMemcpyHostToDevice);
    expand<<<8, 256>>>(parent, d_edges);
    return cudaDeviceSynchronize();
}
