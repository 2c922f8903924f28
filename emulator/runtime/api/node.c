/*
 * node.c: adding nodes to graphs, and changing what they do. Every kind of node can be described by
 * cudaGraphNodeParams; the calls for one kind each only fill that in.
 */
#include "api.h"

#include <string.h>

/* ---- from what the program says to work ------------------------------------------------------ */

static cudaError_t make_launch(struct work *work, const struct cudaKernelNodeParamsV2 *p,
                               unsigned char *params)
{
    struct cudaKernelNodeParams kernel = {.func = p->func,
                                          .gridDim = p->gridDim,
                                          .blockDim = p->blockDim,
                                          .sharedMemBytes = p->sharedMemBytes,
                                          .kernelParams = p->kernelParams};

    if (p->extra) return cudaErrorNotSupported;
    return launch_make(&work->launch, &kernel, false, (dim3){0}, params);
}

static cudaError_t make_fill(struct work *work, const struct cudaMemsetParamsV2 *p)
{
    work->fill = (struct fill_work){
        .plane = {p->dst, p->pitch, p->value, p->elementSize, p->width, p->height}, .depth = 1};
    return fill_check(&work->fill);
}

static cudaError_t make_event(struct work *work, cudaEvent_t event)
{
    work->event = event;
    return event_lives(event) ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t make_child(struct work *work, cudaGraph_t child)
{
    work->child = child;
    return graph_lives(child) ? cudaSuccess : cudaErrorInvalidValue;
}

/** @param params room for a kernel's parameters, which the work refers to */
static cudaError_t make(struct work *work, const struct cudaGraphNodeParams *p,
                        unsigned char *params)
{
    *work = (struct work){.type = p->type, .ordinal = runtime.ordinal};
    switch (p->type) {
    case cudaGraphNodeTypeKernel: return make_launch(work, &p->kernel, params);
    case cudaGraphNodeTypeMemcpy: work->copy = p->memcpy.copyParams; return copy_check(&work->copy);
    case cudaGraphNodeTypeMemset: return make_fill(work, &p->memset);
    case cudaGraphNodeTypeHost:
        work->host = (struct cudaHostNodeParams){p->host.fn, p->host.userData};
        return p->host.fn ? cudaSuccess : cudaErrorInvalidValue;
    case cudaGraphNodeTypeGraph: return make_child(work, p->graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: return make_event(work, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord: return make_event(work, p->eventRecord.event);
    default: return cudaErrorNotSupported;
    }
}

/* ---- the general calls ----------------------------------------------------------------------- */

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                       size_t count, const struct cudaGraphNodeParams *p)
{
    unsigned char params[LAUNCH_PARAMS];
    struct work work;

    if (!node || !p || (count && !before)) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && !graph_lives(graph)) error = cudaErrorInvalidValue;
    if (!error) error = make(&work, p, params);
    if (!error) error = graph_add(graph, before, count, &work, node);
    return runtime_leave(error);
}

cudaError_t node_set(cudaGraphNode_t node, const struct work *work)
{
    struct work copy, given = *work;

    if (node->work.type != work->type) return cudaErrorInvalidValue;
    if (work->type == cudaGraphNodeTypeKernel)
        given.launch.cooperative |= node->work.launch.cooperative;
    if (work->type == cudaGraphNodeTypeKernel && !given.launch.cluster.x)
        given.launch.cluster = node->work.launch.cluster;
    cudaError_t error = work_copy(&copy, &given);
    if (error) return error;
    if (work->type == cudaGraphNodeTypeGraph) copy.child->owned = true;
    work_drop(&node->work);
    node->work = copy;
    node->changed = true;
    return cudaSuccess;
}

/** @param exec the graph that can run whose copy of the node is meant; NULL: the node itself */
static cudaError_t set(cudaGraphExec_t exec, cudaGraphNode_t node,
                       const struct cudaGraphNodeParams *p, bool of_exec)
{
    unsigned char params[LAUNCH_PARAMS];
    struct work work;

    if (!p) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && of_exec) node = exec_node(exec, node);
    if (!error && (of_exec ? !node : !node_lives(node))) error = cudaErrorInvalidValue;
    if (!error) error = make(&work, p, params);
    if (!error && of_exec && p->type == cudaGraphNodeTypeGraph)
        error = node->work.type == p->type ? graph_update(node->work.child, work.child, NULL)
                                           : cudaErrorInvalidValue;
    else if (!error)
        error = node_set(node, &work);
    return runtime_leave(error);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *before, const cudaGraphEdgeData *edges,
                             size_t count, struct cudaGraphNodeParams *p)
{
    (void)edges;
    return add(node, graph, before, count, p);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    return set(NULL, node, p, false);
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *p)
{
    return set(exec, node, p, true);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static struct cudaGraphNodeParams of_kernel(const struct cudaKernelNodeParams *p)
{
    struct cudaGraphNodeParams all = {.type = cudaGraphNodeTypeKernel};

    all.kernel = (struct cudaKernelNodeParamsV2){.func = p->func,
                                                 .gridDim = p->gridDim,
                                                 .blockDim = p->blockDim,
                                                 .sharedMemBytes = p->sharedMemBytes,
                                                 .kernelParams = p->kernelParams,
                                                 .extra = p->extra};
    return all;
}

/* The three calls of a kind of node: add one, change it, change its copy in a graph that runs. */
#define NODE_CALLS(Add, Set, ExecSet, type, convert)                                               \
    cudaError_t Add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,       \
                    size_t count, const struct type *p)                                            \
    {                                                                                              \
        if (!p) return error_keep(cudaErrorInvalidValue);                                          \
        struct cudaGraphNodeParams all = convert(p);                                               \
        return add(node, graph, before, count, &all);                                              \
    }                                                                                              \
    cudaError_t Set(cudaGraphNode_t node, const struct type *p)                                    \
    {                                                                                              \
        if (!p) return error_keep(cudaErrorInvalidValue);                                          \
        struct cudaGraphNodeParams all = convert(p);                                               \
        return set(NULL, node, &all, false);                                                       \
    }                                                                                              \
    cudaError_t ExecSet(cudaGraphExec_t exec, cudaGraphNode_t node, const struct type *p)          \
    {                                                                                              \
        if (!p) return error_keep(cudaErrorInvalidValue);                                          \
        struct cudaGraphNodeParams all = convert(p);                                               \
        return set(exec, node, &all, true);                                                        \
    }

NODE_CALLS(cudaGraphAddKernelNode, cudaGraphKernelNodeSetParams, cudaGraphExecKernelNodeSetParams,
           cudaKernelNodeParams, of_kernel)

/* ---- copies ---------------------------------------------------------------------------------- */

static struct cudaGraphNodeParams of_copy(const struct cudaMemcpy3DParms *p)
{
    struct cudaGraphNodeParams all = {.type = cudaGraphNodeTypeMemcpy};

    all.memcpy.copyParams = *p;
    return all;
}

NODE_CALLS(cudaGraphAddMemcpyNode, cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams,
           cudaMemcpy3DParms, of_copy)

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *before, size_t count, void *to,
                                     const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = copy_row(to, from, bytes, kind);

    return cudaGraphAddMemcpyNode(node, graph, before, count, &p);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                           size_t bytes, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = copy_row(to, from, bytes, kind);

    return cudaGraphMemcpyNodeSetParams(node, &p);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                               const void *from, size_t bytes,
                                               enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = copy_row(to, from, bytes, kind);

    return cudaGraphExecMemcpyNodeSetParams(exec, node, &p);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *before, size_t count,
                                           const void *symbol, const void *from, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind)
{
    void *to;
    cudaError_t error = symbol_locate(symbol, offset, bytes, &to);

    return error ? error
                 : cudaGraphAddMemcpyNode1D(node, graph, before, count, to, from, bytes, kind);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *before, size_t count, void *to,
                                             const void *symbol, size_t bytes, size_t offset,
                                             enum cudaMemcpyKind kind)
{
    void *from;
    cudaError_t error = symbol_locate(symbol, offset, bytes, &from);

    return error ? error
                 : cudaGraphAddMemcpyNode1D(node, graph, before, count, to, from, bytes, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                 const void *from, size_t bytes, size_t offset,
                                                 enum cudaMemcpyKind kind)
{
    void *to;
    cudaError_t error = symbol_locate(symbol, offset, bytes, &to);

    return error ? error : cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                   const void *symbol, size_t bytes, size_t offset,
                                                   enum cudaMemcpyKind kind)
{
    void *from;
    cudaError_t error = symbol_locate(symbol, offset, bytes, &from);

    return error ? error : cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void *symbol, const void *from,
                                                     size_t bytes, size_t offset,
                                                     enum cudaMemcpyKind kind)
{
    void *to;
    cudaError_t error = symbol_locate(symbol, offset, bytes, &to);

    return error ? error : cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void *to, const void *symbol, size_t bytes,
                                                       size_t offset, enum cudaMemcpyKind kind)
{
    void *from;
    cudaError_t error = symbol_locate(symbol, offset, bytes, &from);

    return error ? error : cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind);
}

/* ---- fills, calls, events, graphs, nothing --------------------------------------------------- */

static struct cudaGraphNodeParams of_fill(const struct cudaMemsetParams *p)
{
    struct cudaGraphNodeParams all = {.type = cudaGraphNodeTypeMemset};

    all.memset = (struct cudaMemsetParamsV2){p->dst,         p->pitch, p->value,
                                             p->elementSize, p->width, p->height};
    return all;
}

NODE_CALLS(cudaGraphAddMemsetNode, cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams,
           cudaMemsetParams, of_fill)

static struct cudaGraphNodeParams of_host(const struct cudaHostNodeParams *p)
{
    struct cudaGraphNodeParams all = {.type = cudaGraphNodeTypeHost};

    all.host = (struct cudaHostNodeParamsV2){p->fn, p->userData};
    return all;
}

NODE_CALLS(cudaGraphAddHostNode, cudaGraphHostNodeSetParams, cudaGraphExecHostNodeSetParams,
           cudaHostNodeParams, of_host)

/** Both kinds of event nodes have the same parameter. */
static struct cudaGraphNodeParams of_event(enum cudaGraphNodeType type, cudaEvent_t event)
{
    struct cudaGraphNodeParams all = {.type = type};

    if (type == cudaGraphNodeTypeWaitEvent)
        all.eventWait.event = event;
    else
        all.eventRecord.event = event;
    return all;
}

#define EVENT_CALLS(Add, Set, ExecSet, type)                                                       \
    cudaError_t Add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,       \
                    size_t count, cudaEvent_t event)                                               \
    {                                                                                              \
        struct cudaGraphNodeParams all = of_event(type, event);                                    \
        return add(node, graph, before, count, &all);                                              \
    }                                                                                              \
    cudaError_t Set(cudaGraphNode_t node, cudaEvent_t event)                                       \
    {                                                                                              \
        struct cudaGraphNodeParams all = of_event(type, event);                                    \
        return set(NULL, node, &all, false);                                                       \
    }                                                                                              \
    cudaError_t ExecSet(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)             \
    {                                                                                              \
        struct cudaGraphNodeParams all = of_event(type, event);                                    \
        return set(exec, node, &all, true);                                                        \
    }

EVENT_CALLS(cudaGraphAddEventRecordNode, cudaGraphEventRecordNodeSetEvent,
            cudaGraphExecEventRecordNodeSetEvent, cudaGraphNodeTypeEventRecord)
EVENT_CALLS(cudaGraphAddEventWaitNode, cudaGraphEventWaitNodeSetEvent,
            cudaGraphExecEventWaitNodeSetEvent, cudaGraphNodeTypeWaitEvent)

static struct cudaGraphNodeParams of_child(cudaGraph_t child)
{
    struct cudaGraphNodeParams all = {.type = cudaGraphNodeTypeGraph};

    all.graph.graph = child;
    return all;
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *before, size_t count,
                                       cudaGraph_t child)
{
    struct cudaGraphNodeParams all = of_child(child);

    return add(node, graph, before, count, &all);
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child)
{
    struct cudaGraphNodeParams all = of_child(child);

    return set(exec, node, &all, true);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *before, size_t count)
{
    struct cudaGraphNodeParams all = {.type = cudaGraphNodeTypeEmpty};

    return add(node, graph, before, count, &all);
}
