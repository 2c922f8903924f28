/*
 * 507_resnet18_optimized.cu: ResNet-18 as fast as its arithmetic allows, or near it.
 *
 * The idea: 505 calls a kernel for each layer; this file prepares everything that does not depend
 * on the images when the network is made, and a forward pass is one launch:
 *
 *   507_prepare.cuh           folded: batch normalization is part of weights and biases (309)
 *   507_tensor_core.cuh       tensor cores, in three precisions
 *   507_conv_tensor_core.cuh  fused: one kernel is convolution, bias, sum and ReLU
 *   507_pooling_nhwc.cuh      channels last, so that pooling too goes by 16 bytes
 *   507_plan.cuh              a tile for each layer, and how many blocks share one
 *   507_layers.cuh            one arena: one cudaMalloc for weights, activations, sums of splits
 *   507_launches.cuh          one graph: 24 launches become one
 *   507_early.cuh             kernels that begin before the one before them has ended
 *   507_hopper.cuh            a Hopper GPU's convolutions, by the products of 507_wgmma.cuh
 *   507_hopper_stem.cuh       there all that comes before the blocks is one kernel
 *
 * Each part says what is given. To write, in this order: pack_kernel; `split` and the product of
 * RESNET18_FP32; finish; launch_block and resnet18_forward_opt, with which the network runs without
 * a graph; capture; add_splits.
 *
 * What is left: each activation is written and read once; a launch inside a graph still costs up to
 * a microsecond, so that a batch of 1 waits more than it computes.
 */
#include "507_launches.cuh"

#include <stdlib.h>
#include <string.h>

static void drop_graph(resnet18_opt *net)
{
    if (net->exec) cudaGraphExecDestroy(net->exec);
    if (net->graph) cudaGraphDestroy(net->graph);
    net->exec = NULL;
    net->graph = NULL;
}

/* Plan, fill, capture; where there can be no graph, go without. What was made is freed by
 * resnet18_free_opt, whatever comes after. */
static cudaError_t prepare(resnet18_opt *net, const float *h_params)
{
    CUDA_CHECK(plan_arena(net));
    CUDA_CHECK(fill_arena(net, h_params));
    CUDA_CHECK(cudaStreamCreateWithFlags(&net->side_stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&net->forked, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreateWithFlags(&net->joined, cudaEventDisableTiming));
    if (capture(net) == cudaSuccess && find_nodes(net) == cudaSuccess) return cudaSuccess;
    drop_graph(net);
    cudaGetLastError(); /* it was reported on stderr, and is no error of the network */
    return cudaSuccess;
}

cudaError_t resnet18_create_opt(resnet18_opt **net, const float *h_params, int batch, int size,
                                resnet18_precision precision)
{
    cudaError_t e = cudaErrorNotSupported;
    *net = NULL;
    if (batch < 1 || size < 32 || precision < RESNET18_FP32 || precision > RESNET18_FP16)
        return cudaErrorInvalidValue;
    /* Tensor maps are aligned to 64 bytes, which calloc does not promise. */
    resnet18_opt *made = (resnet18_opt *)aligned_alloc(alignof(resnet18_opt), sizeof *made);
    if (made == NULL) return cudaErrorMemoryAllocation;
    memset(made, 0, sizeof *made);
    made->precision = precision;
    made->batch = batch;
    made->size = size;
    made->element_bytes = precision == RESNET18_FP16 ? sizeof(__half) : sizeof(float);
    e = find_units(made);
    plan_layers(made);
    if (e == cudaSuccess) e = prepare(made, h_params);
    if (e == cudaSuccess)
        *net = made;
    else
        resnet18_free_opt(made);
    return e;
}

cudaError_t resnet18_forward_opt(resnet18_opt *net, float *logits, const float *x,
                                 cudaStream_t stream)
{
    /* TODO: launch the graph, after set_pointers; into a stream that is being captured
       (cudaStreamIsCapturing), or without a graph, launch_all (about 6 lines). */
    NOT_IMPLEMENTED(net, logits, x, stream);
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
