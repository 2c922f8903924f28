/*
 * 507_launches.cuh: the forward pass as launches, and as one graph of them.
 *
 * Launches are captured once, when the network is made. A call may change only where the images
 * come from and where the logits go: parameters of the first node and of the last, which are set
 * when they differ from those of the call before.
 *
 * To write: launch_block and capture.
 */
#ifndef LAUNCHES_CUH
#define LAUNCHES_CUH

#include "507_layers.cuh"
#include "507_pooling_nhwc.cuh"

static void *slot(const resnet18_opt *net, int i)
{
    return net->arena + net->slot[i];
}

template <resnet18_precision P> static const void *frame_function(void)
{
    return (const void *)frame_kernel<P>;
}

static const void *frame_function_of(resnet18_precision p)
{
    if (p == RESNET18_FP16) return frame_function<RESNET18_FP16>();
    return p == RESNET18_TF32 ? frame_function<RESNET18_TF32>() : frame_function<RESNET18_FP32>();
}

static cudaError_t launch_frame(const resnet18_opt *net, const float *x, cudaStream_t stream)
{
    int size = net->size, side = framed_side(size), pixels = net->batch * side * side;
    void *framed = slot(net, net->framed), *parameters[] = {&framed, &x, &size, &side, &pixels};
    return cudaLaunchKernel(frame_function_of(net->precision), dim3((pixels + 255) / 256),
                            dim3(256), parameters, 0, stream);
}

static cudaError_t launch_pooling(const resnet18_opt *net, cudaStream_t stream)
{
    const int chunks = chunks_of(net, resnet18_convs[0].out_channels);
    const int count = net->batch * net->pooled_side * net->pooled_side * chunks;
    uint4 *y = (uint4 *)slot(net, net->pooled);
    const uint4 *x = (const uint4 *)slot(net, net->layers[0].to);
    const auto kernel =
        net->precision == RESNET18_FP16 ? maxpool_kernel<__half> : maxpool_kernel<float>;
    kernel<<<(count + 255) / 256, 256, 0, stream>>>(y, x, net->stem_side, net->pooled_side, chunks,
                                                    count);
    return cudaGetLastError();
}

/* Do kernels begin before the one before them has ended? With one image each takes a few
 * microseconds. With eight, blocks that wait took the room of those that work: 0.405 ms, not 0.385.
 */
static bool begins_early(const resnet18_opt *net)
{
    return net->hopper > 0 && net->batch == 1;
}

static cudaError_t launch_mean(const resnet18_opt *net, cudaStream_t stream)
{
    const int chunks = chunks_of(net, RESNET18_FEATURES);
    const dim3 grid(chunks / MEAN_CHUNKS, net->batch);
    const auto kernel = net->precision == RESNET18_FP16 ? mean_kernel<__half> : mean_kernel<float>;
    uint4 *y = (uint4 *)slot(net, net->features);
    const uint4 *x = (const uint4 *)slot(net, net->last);
    int pixels = net->last_side * net->last_side, of_pixel = chunks;
    void *parameters[] = {&y, &x, &pixels, &of_pixel};
    return launch_kernel((const void *)kernel, grid, dim3(MEAN_CHUNKS * MEAN_GROUPS), parameters, 0,
                         begins_early(net), stream);
}

/* Early where there is one kernel to wait for, in the same stream (507_early.cuh). */
static cudaError_t launch_conv(resnet18_opt *net, int i, cudaStream_t stream)
{
    layer *l = &net->layers[i];
    const bool early = begins_early(net) && stream != net->side_stream && !l->joins;
    if (l->hopper.kernel) return hopper_launch(&l->hopper, early, stream);
    return conv_launch(&l->args, l->variant, early, stream);
}

/* The convolutions of a block. The shortcut's needs x alone, and so does the first one: neither
 * fills the GPU, so that they run side by side. */
static cudaError_t launch_block(resnet18_opt *net, const resnet18_block *b, cudaStream_t stream)
{
    /* TODO: conv1, then conv2, by launch_conv. A downsample, if there is one (not -1), goes to
       net->side_stream: it waits for the event `forked`, which is recorded before conv1, and
       `stream` waits for `joined` before conv2 (about 9 lines). */
    NOT_IMPLEMENTED(net, b, stream);
    return cudaSuccess;
}

/* All before the blocks. */
static cudaError_t launch_stem(resnet18_opt *net, const float *x, cudaStream_t stream)
{
    if (net->stem.kernel) return stem_launch(&net->stem, x, stream);
    CUDA_CHECK(launch_frame(net, x, stream));
    CUDA_CHECK(launch_conv(net, 0, stream));
    return launch_pooling(net, stream);
}

/* The whole forward pass, layer by layer. */
static cudaError_t launch_all(resnet18_opt *net, float *logits, const float *x, cudaStream_t stream)
{
    CUDA_CHECK(launch_stem(net, x, stream));
    for (int i = 0; i < RESNET18_BLOCKS; i++) {
        CUDA_CHECK(launch_block(net, &resnet18_blocks[i], stream));
    }
    CUDA_CHECK(launch_mean(net, stream));
    layer linear = net->layers[RESNET18_CONVS];
    linear.args.y = logits;
    return conv_launch(&linear.args, linear.variant, begins_early(net), stream);
}

/* net->graph and net->exec: launch_all, captured once. On an error the caller drops what was made.
 */
static cudaError_t capture(resnet18_opt *net)
{
    cudaError_t e = cudaErrorNotSupported;
    /* TODO: a non-blocking stream of its own; begin a capture of this thread's launches in it,
       launch_all with NULL for both pointers, end the capture into net->graph. The stream is
       destroyed and a capture that was begun is ended, whatever happens. Then instantiate the graph
       (about 11 lines).
     */
    NOT_IMPLEMENTED(net);
    return e;
}

/* net->first_node, which reads the images, and net->last_node, which writes the logits. */
static cudaError_t find_nodes(resnet18_opt *net)
{
    cudaGraphNode_t nodes[64];
    size_t count = sizeof nodes / sizeof *nodes;
    CUDA_CHECK(cudaGraphGetNodes(net->graph, nodes, &count));
    for (size_t i = 0; i < count; i++) {
        cudaGraphNodeType type;
        cudaKernelNodeParams p;
        CUDA_CHECK(cudaGraphNodeGetType(nodes[i], &type));
        if (type != cudaGraphNodeTypeKernel) continue;
        CUDA_CHECK(cudaGraphKernelNodeGetParams(nodes[i], &p));
        if (p.func == frame_function_of(net->precision) || p.func == net->stem.kernel)
            net->first_node = nodes[i];
        const bool is_conv = p.func == net->layers[RESNET18_CONVS].variant.kernel;
        if (is_conv && ((const conv_args *)p.kernelParams[0])->y_is_float)
            net->last_node = nodes[i];
    }
    return net->first_node && net->last_node ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

/* A node's parameters are those it was captured with, but for the pointer that changed. */
static cudaError_t set_pointers(resnet18_opt *net, float *logits, const float *x)
{
    cudaKernelNodeParams p;
    if (x != net->x) {
        CUDA_CHECK(cudaGraphKernelNodeGetParams(net->first_node, &p));
        void *changed[5] = {p.kernelParams[0], &x}; /* frame_kernel has three more */
        for (int i = 2; i < 5 && !net->stem.kernel; i++) changed[i] = p.kernelParams[i];
        p.kernelParams = changed;
        CUDA_CHECK(cudaGraphExecKernelNodeSetParams(net->exec, net->first_node, &p));
        net->x = x;
    }
    if (logits != net->logits) {
        CUDA_CHECK(cudaGraphKernelNodeGetParams(net->last_node, &p));
        conv_args args = net->layers[RESNET18_CONVS].args;
        args.y = logits;
        void *changed[] = {&args};
        p.kernelParams = changed;
        CUDA_CHECK(cudaGraphExecKernelNodeSetParams(net->exec, net->last_node, &p));
        net->logits = logits;
    }
    return cudaSuccess;
}

#endif
