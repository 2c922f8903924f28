/*
 * node_info.c: what a node is and does, in the terms in which the program said it; the attributes
 * of kernel nodes; a drawing of a graph.
 */
#include "graph.h"

#include <stdio.h>

/** @return with the lock, as runtime_enter does */
static cudaError_t enter_with(cudaGraphNode_t node, enum cudaGraphNodeType type)
{
    cudaError_t error = runtime_enter();

    if (error) return error;
    return node_lives(node) && node->work.type == type ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    if (!type) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && !node_lives(node)) error = cudaErrorInvalidValue;
    if (!error) *type = node->work.type;
    return runtime_leave(error);
}

/** The pointers stay valid while the node lives and is not changed. */
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p)
{
    if (!p) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(node, cudaGraphNodeTypeKernel);
    if (error) return runtime_leave(error);
    const struct launch_work *w = &node->work.launch;
    *p = (struct cudaKernelNodeParams){.func = (void *)w->kernel->host,
                                       .gridDim = w->grid,
                                       .blockDim = w->block,
                                       .sharedMemBytes = (unsigned)w->shared,
                                       .kernelParams = w->args};
    return runtime_leave(cudaSuccess);
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p)
{
    if (!p) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(node, cudaGraphNodeTypeMemcpy);
    if (!error) *p = node->work.copy;
    return runtime_leave(error);
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *p)
{
    if (!p) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(node, cudaGraphNodeTypeMemset);
    if (!error) *p = node->work.fill.plane;
    return runtime_leave(error);
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *p)
{
    if (!p) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(node, cudaGraphNodeTypeHost);
    if (!error) *p = node->work.host;
    return runtime_leave(error);
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    if (!event) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(node, cudaGraphNodeTypeEventRecord);
    if (!error) *event = node->work.event;
    return runtime_leave(error);
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    if (!event) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(node, cudaGraphNodeTypeWaitEvent);
    if (!error) *event = node->work.event;
    return runtime_leave(error);
}

/** The node's own copy: changes to it change what the node does. */
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    if (!graph) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(node, cudaGraphNodeTypeGraph);
    if (!error) *graph = node->work.child;
    return runtime_leave(error);
}

/* ---- attributes of kernel nodes -------------------------------------------------------------- */

/** All but cooperation and clusters are hints. */
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID which,
                                            const cudaLaunchAttributeValue *value)
{
    if (!value) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(node, cudaGraphNodeTypeKernel);
    if (!error && which == cudaLaunchAttributeClusterDimension)
        node->work.launch.cluster =
            (dim3){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
    if (!error && which == cudaLaunchAttributeCooperative)
        node->work.launch.cooperative = value->cooperative;
    return runtime_leave(error);
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID which,
                                            cudaLaunchAttributeValue *value)
{
    if (!value) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = enter_with(node, cudaGraphNodeTypeKernel);
    if (!error) *value = (cudaLaunchAttributeValue){.cooperative = 0};
    if (!error && which == cudaLaunchAttributeCooperative)
        value->cooperative = node->work.launch.cooperative;
    const dim3 size = error ? (dim3){0} : node->work.launch.cluster;
    if (!error && which == cudaLaunchAttributeClusterDimension) {
        value->clusterDim.x = size.x;
        value->clusterDim.y = size.y;
        value->clusterDim.z = size.z;
    }
    return runtime_leave(error);
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    cudaError_t error = enter_with(to, cudaGraphNodeTypeKernel);

    if (!error && !(node_lives(from) && from->work.type == cudaGraphNodeTypeKernel))
        error = cudaErrorInvalidValue;
    if (!error) to->work.launch.cooperative = from->work.launch.cooperative;
    if (!error) to->work.launch.cluster = from->work.launch.cluster;
    return runtime_leave(error);
}

/* ---- a drawing ------------------------------------------------------------------------------- */

static const char *const type_names[] = {
    [cudaGraphNodeTypeKernel] = "kernel",        [cudaGraphNodeTypeMemcpy] = "memcpy",
    [cudaGraphNodeTypeMemset] = "memset",        [cudaGraphNodeTypeHost] = "host",
    [cudaGraphNodeTypeGraph] = "graph",          [cudaGraphNodeTypeEmpty] = "empty",
    [cudaGraphNodeTypeWaitEvent] = "wait event", [cudaGraphNodeTypeEventRecord] = "record event",
    [cudaGraphNodeTypeMemAlloc] = "alloc",       [cudaGraphNodeTypeMemFree] = "free",
};

static void draw(FILE *file, cudaGraph_t graph)
{
    fputs("digraph {\n", file);
    for (size_t i = 0; i < graph->count; i++) {
        cudaGraphNode_t node = graph->nodes[i];
        bool launch = node->work.type == cudaGraphNodeTypeKernel;
        fprintf(file, "    node%zu [label=\"%zu %s%s%s\"];\n", i, i, type_names[node->work.type],
                launch ? " " : "", launch ? node->work.launch.kernel->name : "");
        node->mark = i;
    }
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->before_count; k++)
            fprintf(file, "    node%zu -> node%zu;\n", graph->nodes[i]->before[k]->mark, i);
    fputs("}\n", file);
}

/** In the language of Graphviz. */
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags)
{
    (void)flags;
    if (!path) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && !graph_lives(graph)) error = cudaErrorInvalidValue;
    FILE *file = error ? NULL : fopen(path, "w");
    if (!error && !file) error = cudaErrorOperatingSystem;
    if (file) draw(file, graph);
    if (file) fclose(file);
    return runtime_leave(error);
}
