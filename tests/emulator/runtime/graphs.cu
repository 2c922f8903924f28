/* graphs.cu: graphs: captured from streams or built by hand, run, changed, looked at. */
#include "check.h"

#include <unistd.h>

__global__ void add(int *p, int by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += by;
}

__global__ void times(int *p, int by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= by;
}

__device__ int in_symbol[16];

static int first(const int *device)
{
    return to_host(device, 1)[0];
}

static size_t nodes_of(cudaGraph_t graph)
{
    size_t count = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &count));
    return count;
}

static size_t edges_of(cudaGraph_t graph)
{
    size_t count = 0;
    OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    return count;
}

/* Nothing happens while a stream captures; all of it happens at each launch. */
CASE(captured_and_launched)
{
    int n = 64, host = 0, *p = to_device(std::vector<int>(n, 1));
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 3; i++) add<<<2, 32, 0, stream>>>(p, 1, n);
    times<<<2, 32, 0, stream>>>(p, 2, n);
    OK(cudaMemcpyAsync(&host, p, 4, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    CHECK(first(p) == 1 && nodes_of(graph) == 5 && edges_of(graph) == 4);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphUpload(exec, stream));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(host == 8);
    for (int i = 0; i < 2; i++) OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(host == ((8 + 3) * 2 + 3) * 2 && first(p) == host);
    OK(cudaGraphExecDestroy(exec));
    FAILS(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
}

static void note(void *data)
{
    ++*(int *)data;
}

/* Events carry a capture to other streams and back. */
CASE(fork_and_join)
{
    int n = 32, calls = 0, *a = to_device(std::vector<int>(n, 1)),
        *b = to_device(std::vector<int>(n, 1));
    cudaStream_t origin, side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    OK(cudaStreamCreate(&origin));
    OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    OK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
    OK(cudaMemsetAsync(a, 0, n * sizeof(int), origin));
    OK(cudaEventRecord(fork, origin));
    OK(cudaStreamWaitEvent(side, fork, 0));
    OK(cudaStreamIsCapturing(side, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    add<<<1, n, 0, side>>>(b, 4, n);
    add<<<1, n, 0, origin>>>(a, 5, n);
    OK(cudaEventRecord(join, side));
    OK(cudaStreamWaitEvent(origin, join, 0));
    OK(cudaMemcpyAsync(a, b, 4, cudaMemcpyDeviceToDevice, origin));
    OK(cudaLaunchHostFunc(origin, note, &calls));
    OK(cudaStreamEndCapture(origin, &graph));
    OK(cudaStreamIsCapturing(side, &status));
    CHECK(status == cudaStreamCaptureStatusNone && calls == 0);
    CHECK(nodes_of(graph) == 5 && edges_of(graph) == 5);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    SYNC();
    std::vector<int> got = to_host(a, n);
    CHECK(got[0] == 5 && got[1] == 5 && first(b) == 5 && calls == 1);
    size_t roots = 8;
    cudaGraphNode_t root[8];
    OK(cudaGraphGetRootNodes(graph, root, &roots));
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(root[0], &type));
    CHECK(roots == 1 && type == cudaGraphNodeTypeMemset && root[1] == nullptr);
}

static cudaKernelNodeParams kernel(void *function, int n, void **args)
{
    cudaKernelNodeParams p = {};
    p.func = function;
    p.gridDim = dim3((n + 31) / 32), p.blockDim = dim3(32);
    p.kernelParams = args;
    return p;
}

CASE(built_by_hand)
{
    int n = 64, three = 3, seven = 7, host[64] = {}, calls = 0, *p = device_array<int>(n);
    void *add_args[] = {&p, &three, &n}, *times_args[] = {&p, &seven, &n};
    cudaKernelNodeParams adds = kernel((void *)add, n, add_args),
                         multiplies = kernel((void *)times, n, times_args);
    cudaMemsetParams zero = {p, 0, 0, 4, (size_t)n, 1};
    cudaHostNodeParams call = {note, &calls};
    cudaGraph_t graph;
    cudaGraphNode_t fill, sum, product, back, host_call, nothing;
    cudaGraphExec_t exec;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
    OK(cudaGraphAddKernelNode(&sum, graph, &fill, 1, &adds));
    OK(cudaGraphAddKernelNode(&product, graph, &sum, 1, &multiplies));
    OK(cudaGraphAddMemcpyNode1D(&back, graph, nullptr, 0, host, p, sizeof host,
                                cudaMemcpyDeviceToHost));
    OK(cudaGraphAddEmptyNode(&nothing, graph, &product, 1));
    OK(cudaGraphAddDependencies(graph, &nothing, &back, nullptr, 1));
    OK(cudaGraphAddHostNode(&host_call, graph, &back, 1, &call));
    three = seven = 0; /* the node has copies of its own */
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    SYNC();
    CHECK(host[0] == 21 && host[63] == 21 && calls == 1);

    size_t count = 1;
    cudaGraphNode_t other;
    OK(cudaGraphNodeGetDependencies(back, &other, nullptr, &count));
    CHECK(count == 1 && other == nothing);
    count = 1;
    OK(cudaGraphNodeGetDependentNodes(fill, &other, nullptr, &count));
    CHECK(count == 1 && other == sum);
    cudaKernelNodeParams got;
    OK(cudaGraphKernelNodeGetParams(sum, &got));
    CHECK(got.func == (void *)add && got.gridDim.x == 2 && *(int *)got.kernelParams[1] == 3);
    cudaMemsetParams filled;
    OK(cudaGraphMemsetNodeGetParams(fill, &filled));
    CHECK(filled.dst == p && filled.elementSize == 4 && filled.width == 64);
}

/* A dependency may be added against the order in which the nodes were made. */
CASE(order_follows_dependencies)
{
    int n = 32, two = 2, five = 5, *p = to_device(std::vector<int>(n, 1));
    void *add_args[] = {&p, &five, &n}, *times_args[] = {&p, &two, &n};
    cudaKernelNodeParams adds = kernel((void *)add, n, add_args),
                         multiplies = kernel((void *)times, n, times_args);
    cudaGraph_t graph;
    cudaGraphNode_t sum, product;
    cudaGraphExec_t exec;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&sum, graph, nullptr, 0, &adds));
    OK(cudaGraphAddKernelNode(&product, graph, nullptr, 0, &multiplies));
    OK(cudaGraphAddDependencies(graph, &product, &sum, nullptr, 1));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    SYNC();
    CHECK(first(p) == 1 * 2 + 5);
    OK(cudaGraphRemoveDependencies(graph, &product, &sum, nullptr, 1));
    CHECK(edges_of(graph) == 0);
    OK(cudaGraphDestroyNode(product));
    CHECK(nodes_of(graph) == 1);
}

/* Only the copy in the graph that runs changes. */
CASE(exec_set_params)
{
    int n = 32, one = 1, ten = 10, *p = to_device(std::vector<int>(n)),
        *q = to_device(std::vector<int>(n)), host[2] = {};
    void *args[] = {&p, &one, &n}, *new_args[] = {&p, &ten, &n};
    cudaKernelNodeParams before = kernel((void *)add, n, args),
                         after = kernel((void *)add, n, new_args);
    cudaGraph_t graph;
    cudaGraphNode_t sum, copy;
    cudaGraphExec_t exec;
    unsigned enabled;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&sum, graph, nullptr, 0, &before));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &sum, 1, host, p, 4, cudaMemcpyDeviceToHost));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecKernelNodeSetParams(exec, sum, &after));
    OK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, host + 1, p, 4, cudaMemcpyDeviceToHost));
    OK(cudaGraphLaunch(exec, 0));
    SYNC();
    CHECK(host[0] == 0 && host[1] == 10);
    cudaKernelNodeParams got;
    OK(cudaGraphKernelNodeGetParams(sum, &got));
    CHECK(*(int *)got.kernelParams[1] == 1);
    OK(cudaGraphNodeSetEnabled(exec, sum, 0));
    OK(cudaGraphNodeGetEnabled(exec, sum, &enabled));
    OK(cudaGraphLaunch(exec, 0));
    SYNC();
    CHECK(enabled == 0 && host[1] == 10);
    void *other_args[] = {&q, &ten, &n};
    cudaKernelNodeParams other = kernel((void *)times, n, other_args);
    OK(cudaGraphKernelNodeSetParams(sum, &other));
    OK(cudaGraphKernelNodeGetParams(sum, &got));
    CHECK(got.func == (void *)times);
}

static cudaGraph_t capture(int *p, int by, int kernels)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < kernels; i++) add<<<1, 32, 0, stream>>>(p, by, 32);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaStreamDestroy(stream));
    return graph;
}

/* The loop of the textbooks: capture again, update, instantiate anew only when that fails. */
CASE(exec_update)
{
    int *p = to_device(std::vector<int>(32));
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphInstantiate(&exec, capture(p, 1, 2), 0));
    OK(cudaGraphExecUpdate(exec, capture(p, 100, 2), &info));
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    OK(cudaGraphLaunch(exec, 0));
    CHECK(first(p) == 200);
    FAILS(cudaGraphExecUpdate(exec, capture(p, 1, 3), &info), cudaErrorGraphExecUpdateFailure);
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    cudaGraph_t other;
    cudaGraphNode_t node, nothing;
    cudaMemsetParams zero = {p, 0, 0, 1, 4, 1};
    OK(cudaGraphCreate(&other, 0));
    OK(cudaGraphAddMemsetNode(&node, other, nullptr, 0, &zero));
    OK(cudaGraphAddEmptyNode(&nothing, other, &node, 1));
    FAILS(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
    CHECK(info.result == cudaGraphExecUpdateErrorNodeTypeChanged && info.errorNode == node);
    OK(cudaGraphLaunch(exec, 0));
    CHECK(first(p) == 400);
    cudaGetLastError();
}

CASE(child_graphs)
{
    int *p = to_device(std::vector<int>(32)), n = 32, two = 2;
    void *args[] = {&p, &two, &n};
    cudaKernelNodeParams doubles = kernel((void *)times, n, args);
    cudaGraph_t child = capture(p, 3, 2), graph, inner;
    cudaGraphNode_t node, product, leaf;
    cudaGraphExec_t exec;
    size_t one = 1;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    OK(cudaGraphAddKernelNode(&product, graph, &node, 1, &doubles));
    OK(cudaGraphDestroy(child));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    CHECK(first(p) == 12);
    OK(cudaGraphChildGraphNodeGetGraph(node, &inner));
    OK(cudaGraphGetRootNodes(inner, &leaf, &one));
    FAILS(cudaGraphDestroy(inner), cudaErrorInvalidValue);
    int minus = -12;
    void *inner_args[] = {&p, &minus, &n};
    cudaKernelNodeParams subtracts = kernel((void *)add, n, inner_args);
    OK(cudaGraphExecKernelNodeSetParams(exec, leaf, &subtracts));
    OK(cudaGraphLaunch(exec, 0));
    CHECK(first(p) == (12 - 12 + 3) * 2);
    OK(cudaGraphExecChildGraphNodeSetParams(exec, node, capture(p, 1, 2)));
    OK(cudaGraphLaunch(exec, 0));
    CHECK(first(p) == (6 + 2) * 2);
    cudaGetLastError();
}

/* A graph that is launched into a stream that captures becomes a node there. */
CASE(graph_in_a_capture)
{
    int *p = to_device(std::vector<int>(32));
    cudaStream_t stream;
    cudaGraph_t outer;
    cudaGraphExec_t inner, exec;
    OK(cudaGraphInstantiate(&inner, capture(p, 5, 1), 0));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaGraphLaunch(inner, stream));
    OK(cudaGraphLaunch(inner, stream));
    OK(cudaStreamEndCapture(stream, &outer));
    CHECK(nodes_of(outer) == 2 && first(p) == 0);
    OK(cudaGraphInstantiate(&exec, outer, 0));
    OK(cudaGraphLaunch(exec, stream));
    CHECK(first(p) == 10);
}

CASE(clones)
{
    int *p = to_device(std::vector<int>(32));
    cudaGraph_t graph = capture(p, 1, 2), clone;
    cudaGraphNode_t nodes[2], copy;
    size_t count = 2;
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphGetNodes(graph, nodes, &count));
    OK(cudaGraphNodeFindInClone(&copy, nodes[1], clone));
    CHECK(copy != nodes[1] && nodes_of(clone) == 2 && edges_of(clone) == 1);
    OK(cudaGraphDestroyNode(copy));
    CHECK(nodes_of(clone) == 1 && nodes_of(graph) == 2);
    FAILS(cudaGraphNodeFindInClone(&copy, nodes[1], clone), cudaErrorInvalidValue);
    cudaGetLastError();
}

/* CUDA promises no order; softgpu gives another one than that of the capture. */
CASE(nodes_in_no_order)
{
    int *p = to_device(std::vector<int>(32));
    cudaGraph_t graph = capture(p, 1, 4);
    cudaGraphNode_t nodes[4], root;
    size_t count = 4, one = 1;
    OK(cudaGraphGetNodes(graph, nodes, &count));
    OK(cudaGraphGetRootNodes(graph, &root, &one));
    CHECK(count == 4 && one == 1 && nodes[0] != root && nodes[3] != root);
    CHECK(nodes[1] == root || nodes[2] == root);
}

CASE(symbols_and_events)
{
    int one = 1, back = 0;
    cudaGraph_t graph;
    cudaGraphNode_t in, out, start, stop;
    cudaEvent_t begin, end;
    cudaGraphExec_t exec;
    float ms = -1;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEventRecordNode(&start, graph, nullptr, 0, begin));
    OK(cudaGraphAddMemcpyNodeToSymbol(&in, graph, &start, 1, in_symbol, &one, 4, 8,
                                      cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &in, 1, &back, in_symbol, 4, 8,
                                        cudaMemcpyDeviceToHost));
    OK(cudaGraphAddEventRecordNode(&stop, graph, &out, 1, end));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    one = 77;
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(back == 77 && ms >= 0);
}

/* Memory of a graph keeps its address and loses its contents from run to run. */
CASE(memory_nodes)
{
    int host = 0, *p;
    size_t before, after, unused;
    cudaFuncAttributes attributes;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaFuncGetAttributes(&attributes, add)); /* from here on the module has its memory */
    OK(cudaMemGetInfo(&before, &unused));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync(&p, 128, stream));
    OK(cudaMemsetAsync(p, 0, 128, stream));
    add<<<1, 32, 0, stream>>>(p, 9, 32);
    OK(cudaMemcpyAsync(&host, p + 31, 4, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(p, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(host == 9 && nodes_of(graph) == 5);
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaMemGetInfo(&after, &unused));
    CHECK(before == after);
}

CASE(general_node)
{
    int *p = to_device(std::vector<int>(32, 4));
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeMemset;
    params.memset.dst = p, params.memset.value = 0x01020304, params.memset.elementSize = 4;
    params.memset.width = 2, params.memset.height = 1;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    std::vector<int> got = to_host(p, 3);
    CHECK(got[0] == 0x01020304 && got[1] == 0x01020304 && got[2] == 4);
    params.memset.value = 7;
    OK(cudaGraphExecNodeSetParams(exec, node, &params));
    OK(cudaGraphLaunch(exec, 0));
    CHECK(first(p) == 7);
}

static int destroyed;
static void destroy(void *count)
{
    destroyed += *(int *)count;
}

CASE(user_objects)
{
    int one = 1;
    cudaUserObject_t object;
    cudaGraph_t graph, clone;
    OK(cudaUserObjectCreate(&object, &one, destroy, 1, cudaUserObjectNoDestructorSync));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphDestroy(graph));
    CHECK(destroyed == 0);
    OK(cudaGraphDestroy(clone));
    CHECK(destroyed == 1);
    FAILS(cudaUserObjectRelease(object, 1), cudaErrorInvalidValue);
    cudaGetLastError();
}

CASE(drawing)
{
    const char *name = "graphs.drawing.dot";
    OK(cudaGraphDebugDotPrint(capture(to_device(std::vector<int>(32)), 1, 2), name, 0));
    char text[512] = {};
    FILE *file = fopen(name, "r");
    CHECK(file && fread(text, 1, sizeof text - 1, file) > 0);
    CHECK(strstr(text, "digraph") && strstr(text, "node0 -> node1"));
    if (file) fclose(file);
    unlink(name);
}

__global__ void out_of_bounds(int *p)
{
    p[threadIdx.x] = 1; // FINDING a_fault_ends_the_run: out-of-bounds
}

CASE(a_fault_ends_the_run)
{
    int *p = device_array<int>(16), calls = 0;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    out_of_bounds<<<1, 32, 0, stream>>>(p);
    OK(cudaLaunchHostFunc(stream, note, &calls));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    FAILS(cudaGraphLaunch(exec, stream), cudaErrorIllegalAddress);
    CHECK(calls == 0);
}
