// prints: 5 9 0
#include <stdio.h>
__global__ void set(int *p, int v)
{
    *p = v;
}
int main()
{
    cudaStream_t s;
    cudaGraph_t g, g2;
    cudaGraphExec_t x;
    int *d, a = 0, b = 0;
    cudaMalloc(&d, sizeof a);
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
    set<<<1, 1, 0, s>>>(d, 5);
    cudaStreamEndCapture(s, &g);
    cudaGraphInstantiate(&x, g, 0);
    cudaGraphLaunch(x, s);
    cudaMemcpyAsync(&a, d, sizeof a, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
    set<<<1, 1, 0, s>>>(d, 9);
    cudaStreamEndCapture(s, &g2);
    cudaGraphExecUpdateResultInfo info;
    cudaError_t updated = cudaGraphExecUpdate(x, g2, &info);
    cudaGraphLaunch(x, s);
    cudaMemcpyAsync(&b, d, sizeof b, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    printf("%d %d %d\n", a, b, (int)updated);
    cudaGraphDestroy(g);
    cudaGraphDestroy(g2);
    cudaGraphExecDestroy(x);
    cudaStreamDestroy(s);
    cudaFree(d);
    return 0;
}
