/* graph_errors.cu: what a capture cannot bear, and graphs that make no sense. */
#include "check.h"

#include <thread>

__global__ void add(int *p)
{
    p[threadIdx.x]++;
}

static cudaStream_t stream_with(unsigned flags)
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static cudaStream_t capturing(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal,
                              unsigned flags = cudaStreamNonBlocking)
{
    cudaStream_t stream = stream_with(flags);
    OK(cudaStreamBeginCapture(stream, mode));
    return stream;
}

/* A capture that was spoilt fails until it is ended, and gives no graph. */
static void is_spoilt(cudaStream_t stream)
{
    cudaGraph_t graph = (cudaGraph_t)1;
    cudaStreamCaptureStatus status;
    OK(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusInvalidated);
    FAILS(cudaLaunchHostFunc(
              stream, [](void *) {}, nullptr),
          cudaErrorStreamCaptureInvalidated);
    FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    CHECK(graph == nullptr);
    OK(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    cudaGetLastError();
    OK(cudaStreamSynchronize(stream));
}

static void is_whole(cudaStream_t stream)
{
    cudaGraph_t graph;
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphDestroy(graph));
}

CASE(waiting_for_captured_work)
{
    cudaStream_t stream = capturing();
    FAILS(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    is_spoilt(stream);
    stream = capturing();
    FAILS(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported);
    is_spoilt(stream);
    stream = capturing(cudaStreamCaptureModeRelaxed);
    FAILS(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    is_spoilt(stream);
}

CASE(events_of_a_capture)
{
    int *p = device_array<int>(32);
    float ms;
    cudaEvent_t event, other;
    OK(cudaEventCreate(&event));
    OK(cudaEventCreate(&other));
    OK(cudaEventRecord(other));
    cudaStream_t stream = capturing(cudaStreamCaptureModeRelaxed);
    add<<<1, 32, 0, stream>>>(p);
    OK(cudaEventRecord(event, stream));
    FAILS(cudaEventQuery(event), cudaErrorCapturedEvent);
    FAILS(cudaEventSynchronize(event), cudaErrorCapturedEvent);
    is_whole(stream);
    FAILS(cudaEventElapsedTime(&ms, other, event), cudaErrorCapturedEvent);
    OK(cudaEventRecord(event, stream));
    OK(cudaEventElapsedTime(&ms, other, event));
    stream = capturing();
    FAILS(cudaStreamWaitEvent(stream, other, 0), cudaErrorStreamCaptureIsolation);
    is_spoilt(stream);
    cudaGetLastError();
}

CASE(two_captures_stay_apart)
{
    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    cudaStream_t one = capturing(), two = capturing();
    OK(cudaEventRecord(event, one));
    FAILS(cudaStreamWaitEvent(two, event, 0), cudaErrorStreamCaptureMerge);
    is_spoilt(one);
    is_spoilt(two);
}

CASE(the_legacy_stream)
{
    int host = 0, *p = to_device(std::vector<int>(32));
    cudaStreamCaptureStatus status;
    FAILS(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal),
          cudaErrorStreamCaptureUnsupported);
    cudaStream_t stream = capturing(cudaStreamCaptureModeRelaxed, cudaStreamDefault);
    FAILS(cudaStreamIsCapturing(0, &status), cudaErrorStreamCaptureImplicit);
    add<<<1, 32>>>(p);
    FAILS(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
    is_spoilt(stream);
    stream = capturing(cudaStreamCaptureModeRelaxed, cudaStreamDefault);
    FAILS(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost), cudaErrorStreamCaptureImplicit);
    is_spoilt(stream);
    stream = capturing(cudaStreamCaptureModeRelaxed, cudaStreamNonBlocking);
    add<<<1, 32>>>(p);
    OK(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    CHECK(host == 1);
    is_whole(stream);
    OK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
    is_whole(cudaStreamPerThread);
}

/* Calls that may wait: forbidden to this thread, or to all, or to nobody. */
CASE(modes)
{
    void *p;
    cudaStream_t stream = capturing(cudaStreamCaptureModeGlobal);
    FAILS(cudaMalloc(&p, 16), cudaErrorStreamCaptureUnsupported);
    is_spoilt(stream);
    stream = capturing(cudaStreamCaptureModeGlobal);
    std::thread([&] { FAILS(cudaMalloc(&p, 16), cudaErrorStreamCaptureUnsupported); }).join();
    is_spoilt(stream);
    stream = capturing(cudaStreamCaptureModeThreadLocal);
    std::thread([&] { OK(cudaMalloc(&p, 16)); }).join();
    is_whole(stream);
    stream = capturing(cudaStreamCaptureModeThreadLocal);
    FAILS(cudaFree(p), cudaErrorStreamCaptureUnsupported);
    is_spoilt(stream);
    stream = capturing(cudaStreamCaptureModeRelaxed);
    OK(cudaFree(p));
    is_whole(stream);
    stream = capturing(cudaStreamCaptureModeGlobal);
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeGlobal);
    OK(cudaMalloc(&p, 16));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    is_whole(stream);
}

CASE(a_branch_that_never_returns)
{
    int *p = device_array<int>(32);
    cudaStream_t origin = capturing(), side = stream_with(cudaStreamNonBlocking);
    cudaEvent_t fork;
    cudaGraph_t graph;
    OK(cudaEventCreate(&fork));
    OK(cudaEventRecord(fork, origin));
    OK(cudaStreamWaitEvent(side, fork, 0));
    add<<<1, 32, 0, side>>>(p);
    FAILS(cudaStreamEndCapture(side, &graph), cudaErrorStreamCaptureUnmatched);
    FAILS(cudaStreamEndCapture(origin, &graph), cudaErrorStreamCaptureUnjoined);
    OK(cudaStreamSynchronize(origin));
    OK(cudaStreamSynchronize(side));
    cudaGetLastError();
}

/* What a stream has added stays when the stream goes; it must have come back before. */
static cudaError_t capture_and_destroy(bool comes_back, cudaGraph_t *graph)
{
    int *p = device_array<int>(32);
    cudaStream_t origin = capturing(), side = stream_with(cudaStreamNonBlocking);
    cudaEvent_t fork, join;
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    OK(cudaEventRecord(fork, origin));
    OK(cudaStreamWaitEvent(side, fork, 0));
    add<<<1, 32, 0, side>>>(p);
    OK(cudaEventRecord(join, side));
    if (comes_back) OK(cudaStreamWaitEvent(origin, join, 0));
    OK(cudaStreamDestroy(side));
    return cudaStreamEndCapture(origin, graph);
}

CASE(a_joined_stream_is_destroyed)
{
    cudaGraph_t graph;
    size_t nodes = 0;
    OK(capture_and_destroy(true, &graph));
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(nodes == 1);
}

CASE(a_branch_is_destroyed)
{
    cudaGraph_t graph;
    FAILS(capture_and_destroy(false, &graph), cudaErrorStreamCaptureUnjoined);
    cudaGetLastError();
}

CASE(beginning_and_ending)
{
    cudaGraph_t graph;
    cudaStream_t stream = stream_with(0);
    FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
    FAILS(cudaStreamBeginCapture(stream, (cudaStreamCaptureMode)9), cudaErrorInvalidValue);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    FAILS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
    std::thread([&] {
        FAILS(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureWrongThread);
    }).join();
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphDestroy(graph));
    FAILS(cudaGraphDestroy(graph), cudaErrorInvalidValue);
    cudaGetLastError();
}

/* What a launch refuses, a capture refuses at once. */
CASE(refused_while_capturing)
{
    int *p = device_array<int>(32);
    cudaStream_t stream = capturing();
    add<<<1, 2000, 0, stream>>>(p);
    FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    FAILS(cudaFreeAsync(p, stream), cudaErrorInvalidValue);
    is_spoilt(stream);
}

CASE(capture_info)
{
    int *p = device_array<int>(32);
    cudaStream_t stream = stream_with(0);
    cudaStreamCaptureStatus status;
    unsigned long long id, again;
    cudaGraph_t graph, ended;
    const cudaGraphNode_t *nodes;
    const cudaGraphEdgeData *edges;
    size_t count = 9;
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, &edges, &count));
    CHECK(status == cudaStreamCaptureStatusNone && count == 0);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    add<<<1, 32, 0, stream>>>(p);
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, &edges, &count));
    CHECK(status == cudaStreamCaptureStatusActive && id != 0 && count == 1);
    cudaGraphNode_t node = nodes[0], free_standing;
    OK(cudaGraphAddEmptyNode(&free_standing, graph, nullptr, 0));
    OK(cudaStreamUpdateCaptureDependencies(stream, &free_standing, nullptr, 1,
                                           cudaStreamAddCaptureDependencies));
    OK(cudaStreamGetCaptureInfo(stream, &status, &again, &graph, &nodes, &edges, &count));
    CHECK(again == id && count == 2 && nodes[0] == node && nodes[1] == free_standing);
    OK(cudaStreamEndCapture(stream, &ended));
    CHECK(ended == graph);
}

CASE(capture_to_a_graph)
{
    int *p = to_device(std::vector<int>(32));
    cudaStream_t stream = stream_with(0);
    cudaGraph_t graph, ended;
    cudaGraphNode_t first, nodes[2];
    size_t count = 2;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
    OK(cudaStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1,
                                     cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, stream>>>(p);
    OK(cudaStreamEndCapture(stream, &ended));
    OK(cudaGraphGetNodes(graph, nodes, &count));
    CHECK(ended == graph && count == 2 && (nodes[0] == first || nodes[1] == first));
    cudaGraphNode_t kernel = nodes[nodes[0] == first];
    count = 1;
    OK(cudaGraphNodeGetDependencies(kernel, &nodes[0], nullptr, &count));
    CHECK(count == 1 && nodes[0] == first);
}

CASE(cycles)
{
    cudaGraph_t graph;
    cudaGraphNode_t a, b;
    cudaGraphExec_t exec;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
    OK(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    FAILS(cudaGraphAddDependencies(graph, &a, &b, nullptr, 1), cudaErrorInvalidValue);
    OK(cudaGraphAddDependencies(graph, &b, &a, nullptr, 1));
    FAILS(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
    cudaGetLastError();
}

CASE(wrong_nodes)
{
    int *p = device_array<int>(32), host;
    void *args[] = {&p};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)add, launch.gridDim = 1, launch.blockDim = 2000;
    launch.kernelParams = args;
    cudaMemsetParams fill = {&host, 0, 0, 1, 4, 1};
    cudaHostNodeParams call = {};
    cudaGraph_t graph, other;
    cudaGraphNode_t node, foreign;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&other, 0));
    OK(cudaGraphAddEmptyNode(&foreign, other, nullptr, 0));
    FAILS(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &launch), cudaErrorInvalidConfiguration);
    FAILS(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill), cudaErrorInvalidValue);
    FAILS(cudaGraphAddHostNode(&node, graph, nullptr, 0, &call), cudaErrorInvalidValue);
    FAILS(cudaGraphAddEmptyNode(&node, graph, &foreign, 1), cudaErrorInvalidValue);
    FAILS(cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, p), cudaErrorInvalidValue);
    FAILS(cudaGraphKernelNodeGetParams(foreign, &launch), cudaErrorInvalidValue);
    FAILS(cudaGraphCreate(&graph, 1), cudaErrorInvalidValue);
    size_t count = 1;
    OK(cudaGraphGetNodes(graph, &node, &count));
    CHECK(count == 0 && node == nullptr);
    cudaGetLastError();
}
