/*
 * profile_graph.c: where the time of a graph goes. A launch of one is a single call, into which
 * profile.c cannot look. But into a stream that is being captured resnet18_forward_opt launches its
 * layers themselves: so its kernels are captured once more, with events around each, and while the
 * program profiles, that graph is launched instead of the network's own.
 *
 * In it the kernels run one after the other: of branches that overlap, time would count twice.
 *
 * What a kernel computes is told by its name (kernel_kind.c). The last one is the linear layer,
 * with which a ResNet-18 ends, whatever it is called: 507 computes it as a convolution.
 *
 * Where anything fails, stderr says what, and the network's own graph is launched: that counts as
 * "other", and is no error.
 */
#include "profile.h"

#include "cuda_check.h"
#include <string.h>

#define NODES_MAX 256 /* of a graph; that of 507 has 24 */
#define EDGES_MAX 1024

/* Since CUDA 13 edges have data: that of a kernel which may begin early says so. */
#if CUDART_VERSION >= 13000
#define EDGES(from, to, data) from, to, data
#else
#define EDGES(from, to, data) from, to
#endif

typedef struct edges {
    cudaGraphNode_t from[EDGES_MAX], to[EDGES_MAX];
#if CUDART_VERSION >= 13000
    cudaGraphEdgeData data[EDGES_MAX];
#endif
    size_t count;
} edges;

/* The graph, for these arguments; exec is NULL where there can be none for them. */
static struct {
    const resnet18_opt *net;
    const float *logits, *x;
    cudaGraphExec_t exec;
    bool launched; /* and its events are not read yet */
    int count;
    struct timed {
        layer_kind kind;
        cudaEvent_t start, stop; /* overwritten by the next launch */
    } kernels[NODES_MAX];
} graph;

/* ---- making it ------------------------------------------------------------------------------- */

static cudaError_t kind_of(layer_kind *kind, cudaGraphNode_t node, bool ends)
{
    struct cudaKernelNodeParams p;
    enum cudaGraphNodeType type;
    *kind = OTHER;
    CUDA_CHECK(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeKernel) return cudaSuccess;
    CUDA_CHECK(cudaGraphKernelNodeGetParams(node, &p));
    CUDA_CHECK(kernel_kind(kind, p.func));
    if (ends) *kind = LINEAR;
    return cudaSuccess;
}

static cudaError_t append_node(cudaGraph_t g, cudaGraphNode_t *last, cudaGraphNode_t node)
{
    if (*last) CUDA_CHECK(cudaGraphAddDependencies(g, EDGES(last, &node, NULL), 1));
    *last = node;
    return cudaSuccess;
}

static cudaError_t append_event(cudaGraph_t g, cudaGraphNode_t *last, cudaEvent_t *event)
{
    cudaGraphNode_t node;
    CUDA_CHECK(cudaEventCreate(event));
    CUDA_CHECK(cudaGraphAddEventRecordNode(&node, g, NULL, 0, *event));
    return append_node(g, last, node);
}

static cudaError_t append(cudaGraph_t g, cudaGraphNode_t *last, cudaGraphNode_t node, bool ends)
{
    struct timed *t = &graph.kernels[graph.count];
    CUDA_CHECK(kind_of(&t->kind, node, ends));
    if (t->kind == OTHER) return append_node(g, last, node);
    graph.count++;
    CUDA_CHECK(append_event(g, last, &t->start));
    CUDA_CHECK(append_node(g, last, node));
    return append_event(g, last, &t->stop);
}

/* Does nothing that is left have to come before it? */
static bool is_next(cudaGraphNode_t node, const cudaGraphNode_t *left, size_t count,
                    const edges *all)
{
    for (size_t e = 0; e < all->count; e++) {
        for (size_t i = 0; all->to[e] == node && i < count; i++) {
            if (left[i] == all->from[e]) return false;
        }
    }
    return true;
}

/* Each after all that it depends on. */
static void sort(cudaGraphNode_t *nodes, size_t count, const edges *all)
{
    for (; count > 1; nodes++, count--) {
        size_t next = 0;
        while (next < count - 1 && !is_next(nodes[next], nodes, count, all)) next++;
        const cudaGraphNode_t first = nodes[next];
        nodes[next] = nodes[0];
        nodes[0] = first;
    }
}

/* What was captured, one after the other, with events. */
static cudaError_t chain(cudaGraph_t g)
{
    edges all = {.count = EDGES_MAX};
    cudaGraphNode_t nodes[NODES_MAX], last = NULL;
    size_t count = NODES_MAX;
    CUDA_CHECK(cudaGraphGetNodes(g, nodes, &count));
    CUDA_CHECK(cudaGraphGetEdges(g, EDGES(all.from, all.to, all.data), &all.count));
    if (count == NODES_MAX || all.count == EDGES_MAX) return cudaErrorNotSupported; /* not all */
    sort(nodes, count, &all);
    CUDA_CHECK(cudaGraphRemoveDependencies(g, EDGES(all.from, all.to, all.data), all.count));
    for (size_t i = 0; i < count; i++) CUDA_CHECK(append(g, &last, nodes[i], i == count - 1));
    return cudaSuccess;
}

static cudaError_t capture(cudaGraph_t *g, forward_opt *real, resnet18_opt *net, float *logits,
                           const float *x)
{
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (!error) {
        profile_begin_host(OTHER); /* nothing of it runs now: it is no part of other kinds */
        error = real(net, logits, x, stream);
        profile_end_host();
        const cudaError_t ended = cudaStreamEndCapture(stream, g);
        if (!error) error = ended;
    }
    cudaStreamDestroy(stream);
    return error;
}

static cudaError_t make(forward_opt *real, resnet18_opt *net, float *logits, const float *x)
{
    cudaGraph_t g = NULL;
    cudaError_t error = capture(&g, real, net, logits, x);
    if (!error) error = chain(g);
    if (!error) error = cudaGraphInstantiate(&graph.exec, g, 0);
    if (g) cudaGraphDestroy(g);
    return error;
}

void profile_graph_drop(void)
{
    if (graph.exec) cudaGraphExecDestroy(graph.exec);
    for (int i = 0; i < graph.count; i++) {
        if (graph.kernels[i].start) cudaEventDestroy(graph.kernels[i].start);
        if (graph.kernels[i].stop) cudaEventDestroy(graph.kernels[i].stop);
    }
    memset(&graph, 0, sizeof graph);
}

/* ---- what is called -------------------------------------------------------------------------- */

static void make_anew(forward_opt *real, resnet18_opt *net, float *logits, const float *x)
{
    profile_graph_drop();
    const cudaError_t error = make(real, net, logits, x);
    if (error)
        fprintf(stderr, "resnet18: a graph counts as other: %s\n", cudaGetErrorString(error));
    if (error) profile_graph_drop();
    graph.net = net;
    graph.logits = logits;
    graph.x = x;
}

bool profile_graph_launch(forward_opt *real, resnet18_opt *net, float *logits, const float *x,
                          cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    if (cudaStreamIsCapturing(stream, &status) || status != cudaStreamCaptureStatusNone)
        return false;
    if (graph.net != net || graph.logits != logits || graph.x != x) make_anew(real, net, logits, x);
    graph.launched = graph.exec && !cudaGraphLaunch(graph.exec, stream);
    if (!graph.launched) cudaGetLastError(); /* it is no error of the network's */
    return graph.launched;
}

void profile_collect(void)
{
    for (int i = 0; graph.launched && i < graph.count; i++) {
        const struct timed *t = &graph.kernels[i];
        float ms;
        if (cudaEventElapsedTime(&ms, t->start, t->stop) == cudaSuccess) profile_add(t->kind, ms);
    }
    graph.launched = false;
}
