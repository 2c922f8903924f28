// prints: 21
#include <stdio.h>
__global__ void twice(int *p)
{
    *p = 2 * *p + 1;
}
int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    int *d, h = 0;
    cudaMalloc(&d, sizeof h);
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(d, 0, sizeof h, stream);
    for (int i = 0; i < 4; i++) twice<<<1, 1, 0, stream>>>(d);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&instance, graph, NULL, NULL, 0);
    int sum = 0;
    for (int i = 0; i < 3; i++) cudaGraphLaunch(instance, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    sum = h + 6;
    printf("%d\n", sum);
    cudaGraphExecDestroy(instance);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(d);
    return 0;
}
