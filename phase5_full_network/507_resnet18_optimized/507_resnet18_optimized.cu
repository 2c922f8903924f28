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
 *
 * That is also the order in which to write them; the first two can be tried on one layer.
 *
 * What is left: each activation is written and read once; a launch inside a graph still costs about
 * a microsecond, so that a batch of 1 waits more than it computes.
 */
#include "507_launches.cuh"

#include <stdlib.h>

/* TODO: prepare: plan, fill, capture; where there can be no graph, go without; what was made is
   freed by free_opt, whatever comes after (about 25 lines). */

cudaError_t resnet18_create_opt(resnet18_opt **net, const float *h_params, int batch, int size,
                                resnet18_precision precision)
{
    cudaError_t e = cudaErrorNotSupported;
    *net = NULL;
    /* TODO: refuse what there is no network for; on an error, free what there is (about 16
     * lines). */
    NOT_IMPLEMENTED(net, h_params, batch, size, precision);
    return e;
}

cudaError_t resnet18_forward_opt(resnet18_opt *net, float *logits, const float *x,
                                 cudaStream_t stream)
{
    /* TODO: launch the graph; into a stream that is being captured, or without a graph, the
       layers themselves (about 7 lines). */
    NOT_IMPLEMENTED(net, logits, x, stream);
    return cudaGetLastError();
}

size_t resnet18_device_bytes_opt(const resnet18_opt *net)
{
    /* TODO: the arena is all there is (about 1 line). */
    NOT_IMPLEMENTED(net);
    return 0;
}

cudaError_t resnet18_free_opt(resnet18_opt *net)
{
    /* TODO: everything, the arena last: cudaFree waits for whoever uses it (about 9 lines). */
    NOT_IMPLEMENTED(net);
    return cudaGetLastError();
}
