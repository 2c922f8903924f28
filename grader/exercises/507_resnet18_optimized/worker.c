/* worker.c: a forward pass of 507 into a stream that its caller is capturing. */
#ifdef WITH_CUDA
#include "worker/worker.h"

#include <cuda_runtime_api.h>

typedef cudaError_t forward_function(void *, float *, const float *, cudaStream_t);

static cudaError_t capture(cudaGraph_t *graph, void *net, float *logits, const float *x,
                           cudaStream_t stream)
{
    forward_function *forward = (forward_function *)code_function("resnet18_forward_opt");
    if (!forward) return cudaErrorSymbolNotFound;
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error) return error;
    error = forward(net, logits, x, stream);
    const cudaError_t ended = cudaStreamEndCapture(stream, graph);
    return error ? error : ended;
}

static cudaError_t forward_captured(void *net, float *logits, const float *x, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t error = capture(&graph, net, logits, x, stream);
    if (!error) error = cudaGraphInstantiate(&exec, graph, 0);
    if (!error) error = cudaGraphLaunch(exec, stream);
    if (!error) error = cudaStreamSynchronize(stream);
    if (exec) cudaGraphExecDestroy(exec);
    if (graph) cudaGraphDestroy(graph);
    return error;
}

WORKER_FUNCTION(forward_captured);
#endif
