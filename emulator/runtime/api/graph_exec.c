/*
 * graph_exec.c: graphs that can run: a copy of a graph and an order for its work. Running one does
 * the work piece by piece, as everything here.
 */
#include "api.h"

#include <stdlib.h>

struct CUgraphExec_st {
    struct handle handle;
    cudaGraph_t graph;
    cudaGraphNode_t *order; /* of all nodes, those of child graphs in the place of their node */
    size_t count;
    unsigned long long flags;
    unsigned
        running; /* launches that are under way: a callback may be waiting for another thread */
    bool ended;
    struct clock done; /* what comes after its launches */
    struct {
        uint32_t graph;  /* that the device keeps for it; 0: none */
        unsigned opened; /* how often the device had been opened then */
    } kept[MAX_DEVICES];
};

static struct handle *execs;

/** The device that keeps kernels for it, or NULL. */
static device *keeper(const struct CUgraphExec_st *exec, int ordinal)
{
    const struct context *context = &runtime.context[ordinal];

    return exec->kept[ordinal].graph && exec->kept[ordinal].opened == context->opened
               ? context->device
               : NULL;
}

static void free_exec(cudaGraphExec_t exec)
{
    for (int i = 0; i < MAX_DEVICES; i++)
        if (keeper(exec, i)) device_graph_free(keeper(exec, i), exec->kept[i].graph);
    graph_free(exec->graph);
    free(exec->order);
    free(exec);
}

/* ---- making ---------------------------------------------------------------------------------- */

/** @return false: there is a cycle, or no memory */
static bool flatten(cudaGraphExec_t exec, cudaGraph_t graph)
{
    cudaGraphNode_t *order = graph_order(graph);
    bool good = order != NULL;

    for (size_t i = 0; good && i < graph->count; i++) {
        bool nested = order[i]->work.type == cudaGraphNodeTypeGraph;
        good = nested ? flatten(exec, order[i]->work.child)
                      : nodes_join(&exec->order, &exec->count, &order[i], 1);
    }
    free(order);
    return good;
}

static cudaError_t instantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long flags)
{
    const unsigned long long known =
        cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
        cudaGraphInstantiateFlagUseNodePriority | cudaGraphInstantiateFlagDeviceLaunch;

    if (!graph_lives(graph) || (flags & ~known)) return cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch) return cudaErrorNotSupported;
    cudaGraphExec_t exec = calloc(1, sizeof *exec);
    if (!exec) return cudaErrorMemoryAllocation;
    exec->graph = graph_clone(graph);
    exec->flags = flags;
    if (!exec->graph || !flatten(exec, exec->graph)) {
        free_exec(exec);
        return cudaErrorInvalidValue;
    }
    exec->graph->owned = true;
    handle_add(&execs, &exec->handle);
    *made = exec;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    if (!exec) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = instantiate(exec, graph, flags);
    return runtime_leave(error);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *p)
{
    if (!p) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = cudaGraphInstantiate(exec, graph, p->flags);
    p->errNode_out = NULL;
    p->result_out = error ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
    return error;
}
PER_THREAD_STREAM(cudaGraphInstantiateWithParams);

static bool lives(cudaGraphExec_t exec)
{
    return handle_lives(&execs, exec);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    cudaError_t error = runtime_enter();

    if (!error && !handle_remove(&execs, exec)) error = cudaErrorInvalidValue;
    if (!error) exec->ended = true;
    if (!error && !exec->running) free_exec(exec);
    return runtime_leave(error);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    if (!flags) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && !lives(exec)) error = cudaErrorInvalidValue;
    if (!error) *flags = exec->flags;
    return runtime_leave(error);
}

/* ---- keeping: the kernels of a graph lie on the device --------------------------------------- */

/** The device's numbers of nodes that it had before it was opened anew mean nothing. */
static void forget_if_gone(cudaGraphExec_t exec, int ordinal)
{
    if (keeper(exec, ordinal)) return;
    exec->kept[ordinal].graph = 0;
    exec->kept[ordinal].opened = runtime.context[ordinal].opened;
    for (size_t i = 0; i < exec->count; i++)
        if (exec->order[i]->work.ordinal == ordinal) exec->order[i]->kept = 0;
}

static cudaError_t keep(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    struct launch_work *launch = &node->work.launch;
    uint32_t *graph = &exec->kept[runtime.ordinal].graph;

    if (!runtime.device) return cudaErrorContextIsDestroyed;
    forget_if_gone(exec, runtime.ordinal);
    if (node->kept && !node->changed) return cudaSuccess;
    cudaError_t error = launch_keep(launch, graph, &node->kept);
    launch->graph = *graph;
    launch->node = node->kept;
    if (!error) node->changed = false;
    return error;
}

static cudaError_t keep_all(cudaGraphExec_t exec)
{
    int was = runtime.ordinal;
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < exec->count && !error; i++) {
        if (exec->order[i]->work.type != cudaGraphNodeTypeKernel) continue;
        runtime_look_at(exec->order[i]->work.ordinal);
        error = keep(exec, exec->order[i]);
    }
    runtime_look_at(was);
    return error;
}

/* ---- running --------------------------------------------------------------------------------- */

static cudaError_t run_node(const struct CUgraphNode_st *node, cudaStream_t stream)
{
    if (!runtime.context[node->work.ordinal].device) return cudaErrorContextIsDestroyed;
    return node->disabled ? cudaSuccess : work_run(stream, &node->work);
}

static cudaError_t run(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error = keep_all(exec);

    if (!error) order_after(stream, &exec->done); /* only one launch of it runs at a time */
    exec->running++;
    for (size_t i = 0; i < exec->count && !error; i++) error = run_node(exec->order[i], stream);
    order_reached(stream, &exec->done);
    if (--exec->running == 0 && exec->ended) free_exec(exec);
    return error;
}

/** A callback may tell the program that all before it is done. */
static bool calls_back(const struct CUgraphExec_st *exec)
{
    size_t i = 0;

    while (i < exec->count && exec->order[i]->work.type != cudaGraphNodeTypeHost) i++;
    return i < exec->count;
}

/** A stream that captures takes the graph in as a node. */
static cudaError_t launch(cudaGraphExec_t exec, cudaStream_t stream)
{
    struct work work = {.type = cudaGraphNodeTypeGraph, .ordinal = runtime.ordinal};
    struct capture *capture = capture_of(stream);

    work.child = exec->graph;
    if (capture) return capture_add(capture, stream, &work);
    cudaError_t error = stream_is_legacy(stream) ? capture_check_legacy() : cudaSuccess;
    if (error) return error;
    if (calls_back(exec)) async_waited();
    async_arrive();
    async_device_writes();
    error = run(exec, stream);
    async_device_wrote();
    return error;
}

static cudaError_t check(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (!stream_is_valid(stream)) return cudaErrorInvalidResourceHandle;
    return lives(exec) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error = runtime_enter();

    if (!error) error = check(exec, stream);
    if (!error) error = launch(exec, stream);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaGraphLaunch);

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error = runtime_enter();

    if (!error) error = check(exec, stream);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaGraphUpload);

/* ---- changing -------------------------------------------------------------------------------- */

cudaGraphNode_t exec_node(cudaGraphExec_t exec, const struct CUgraphNode_st *origin)
{
    return lives(exec) ? graph_find_copy(exec->graph, origin) : NULL;
}

static bool can_be_disabled(const struct CUgraphNode_st *node)
{
    return node && (node->work.type == cudaGraphNodeTypeKernel ||
                    node->work.type == cudaGraphNodeTypeMemset ||
                    node->work.type == cudaGraphNodeTypeMemcpy);
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    unsigned int enabled)
{
    cudaError_t error = runtime_enter();
    cudaGraphNode_t copy = error ? NULL : exec_node(exec, node);

    if (!error && !can_be_disabled(copy)) error = cudaErrorInvalidValue;
    if (!error) copy->changed |= copy->disabled != !enabled; /* it is another graph now */
    if (!error) copy->disabled = !enabled;
    return runtime_leave(error);
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    unsigned int *enabled)
{
    if (!enabled) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    cudaGraphNode_t copy = error ? NULL : exec_node(exec, node);
    if (!error && !can_be_disabled(copy)) error = cudaErrorInvalidValue;
    if (!error) *enabled = !copy->disabled;
    return runtime_leave(error);
}

static enum cudaGraphExecUpdateResult compare(cudaGraph_t old, cudaGraph_t new,
                                              cudaGraphNode_t *culprit);

static void mark_places(cudaGraph_t graph)
{
    for (size_t i = 0; i < graph->count; i++) graph->nodes[i]->mark = i;
}

static enum cudaGraphExecUpdateResult compare_nodes(const struct CUgraphNode_st *old,
                                                    const struct CUgraphNode_st *new,
                                                    cudaGraphNode_t *culprit)
{
    if (old->work.type != new->work.type) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (old->before_count != new->before_count) return cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; i < old->before_count; i++)
        if (old->before[i]->mark != new->before[i]->mark)
            return cudaGraphExecUpdateErrorTopologyChanged;
    bool memory = old->work.type == cudaGraphNodeTypeMemAlloc;
    if (memory && old->work.memory != new->work.memory) return cudaGraphExecUpdateErrorNotSupported;
    if (old->work.type == cudaGraphNodeTypeGraph)
        return compare(old->work.child, new->work.child, culprit);
    return cudaGraphExecUpdateSuccess;
}

static enum cudaGraphExecUpdateResult compare(cudaGraph_t old, cudaGraph_t new,
                                              cudaGraphNode_t *culprit)
{
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;

    if (old->count != new->count) return cudaGraphExecUpdateErrorTopologyChanged;
    mark_places(old);
    mark_places(new);
    for (size_t i = 0; i < new->count && !result; i++) {
        result = compare_nodes(old->nodes[i], new->nodes[i], culprit);
        if (result && culprit && !*culprit) *culprit = new->nodes[i];
    }
    return result;
}

static cudaError_t take_over(cudaGraph_t old, cudaGraph_t new)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < new->count && !error; i++) {
        cudaGraphNode_t node = old->nodes[i];
        const struct work *work = &new->nodes[i]->work;
        error = work->type == cudaGraphNodeTypeGraph ? take_over(node->work.child, work->child)
                                                     : node_set(node, work);
    }
    return error;
}

/** All or nothing. */
cudaError_t graph_update(cudaGraph_t old, cudaGraph_t new, cudaGraphExecUpdateResultInfo *info)
{
    cudaGraphNode_t culprit = NULL;
    enum cudaGraphExecUpdateResult result = compare(old, new, &culprit);

    if (info) *info = (cudaGraphExecUpdateResultInfo){result, culprit, NULL};
    return result ? cudaErrorGraphExecUpdateFailure : take_over(old, new);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    cudaError_t error = runtime_enter();

    if (!error && (!lives(exec) || !graph_lives(graph))) error = cudaErrorInvalidValue;
    if (!error) error = graph_update(exec->graph, graph, info);
    return runtime_leave(error);
}
