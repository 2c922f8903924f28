// RIGHT: the smallest tile for every layer, and three blocks for each
#define conv_choose conv_choose_by_rule
#include "507_plan.cuh"
#undef conv_choose

static cudaError_t conv_choose(int *variant, conv_args *a, resnet18_precision precision, int)
{
    int resident;
    *variant = CONV_VARIANTS - 1;
    a->splits = a->steps < 3 ? a->steps : 3;
    return conv_prepare(&resident, conv_variant_of(precision, *variant));
}

#include "507_launches.cuh"

#include <stdlib.h>

static void drop_graph(resnet18_opt *net)
{
    if (net->exec) cudaGraphExecDestroy(net->exec);
    if (net->graph) cudaGraphDestroy(net->graph);
    net->exec = NULL;
    net->graph = NULL;
}

static cudaError_t prepare(resnet18_opt *net, const float *h_params)
{
    CUDA_CHECK(plan_arena(net));
    CUDA_CHECK(fill_arena(net, h_params));
    CUDA_CHECK(cudaStreamCreateWithFlags(&net->side_stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&net->forked, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreateWithFlags(&net->joined, cudaEventDisableTiming));
    if (capture(net) == cudaSuccess && find_nodes(net) == cudaSuccess) return cudaSuccess;
    drop_graph(net);
    cudaGetLastError(); /* it was said on stderr, and is no error of the network's */
    return cudaSuccess;
}

cudaError_t resnet18_create_opt(resnet18_opt **net, const float *h_params, int batch, int size,
                                resnet18_precision precision)
{
    cudaError_t e = cudaErrorNotSupported;
    *net = NULL;
    if (batch < 1 || size < 32 || precision < RESNET18_FP32 || precision > RESNET18_FP16)
        return cudaErrorInvalidValue;
    resnet18_opt *made = (resnet18_opt *)calloc(1, sizeof *made);
    if (made == NULL) return cudaErrorMemoryAllocation;
    made->precision = precision;
    made->batch = batch;
    made->size = size;
    made->element_bytes = precision == RESNET18_FP16 ? sizeof(__half) : sizeof(float);
    plan_layers(made);
    e = prepare(made, h_params);
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
    if (net->exec == NULL || status != cudaStreamCaptureStatusNone)
        return launch_all(net, logits, x, stream);
    CUDA_CHECK(set_pointers(net, logits, x));
    CUDA_CHECK(cudaGraphLaunch(net->exec, stream));
    return cudaGetLastError();
}

size_t resnet18_device_bytes_opt(const resnet18_opt *net)
{
    return net->bytes;
}

cudaError_t resnet18_free_opt(resnet18_opt *net)
{
    if (net == NULL) return cudaSuccess;
    drop_graph(net);
    if (net->forked) cudaEventDestroy(net->forked);
    if (net->joined) cudaEventDestroy(net->joined);
    if (net->side_stream) cudaStreamDestroy(net->side_stream);
    CUDA_CHECK(cudaFree(net->arena));
    free(net);
    return cudaGetLastError();
}
