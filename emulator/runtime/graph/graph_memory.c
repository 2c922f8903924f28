/*
 * graph_memory.c: memory that belongs to graphs. It is allocated when the node is made and keeps
 * its address; each run of the graph finds it with no contents. If a node frees it, it goes with
 * the last node that knows it; otherwise the program frees it, after each run.
 */
#include "graph.h"

#include <stdlib.h>

struct graph_memory *graph_memory_of(cudaGraph_t graph, const void *pointer)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct work *work = &graph->nodes[i]->work;
        if (work->type == cudaGraphNodeTypeMemAlloc && work->memory->pointer == pointer)
            return work->memory;
    }
    return NULL;
}

static void own(const struct graph_memory *memory, bool of_graph)
{
    struct allocation *a = allocation_find(address_of(memory->pointer));

    if (a) a->of_graph = of_graph;
}

void graph_memory_leave(struct graph_memory *memory)
{
    const struct allocation *a = allocation_find(address_of(memory->pointer));
    const bool idle = a && a->idle;

    own(memory, false);
    if (memory->ends || idle) memory_free(memory->pointer);
    free(memory);
}

cudaError_t graph_memory_renew(const struct graph_memory *memory)
{
    struct allocation *a = allocation_find(address_of(memory->pointer));
    device *device = device_at(memory->pointer);

    if (!device) return cudaErrorInvalidValue;
    if (a) a->idle = false;
    return error_from_device(device_forget(device, address_of(memory->pointer), memory->bytes));
}

cudaError_t graph_memory_work(struct work *work, size_t bytes)
{
    void *pointer = NULL;
    cudaError_t error = bytes ? memory_alloc(&pointer, bytes) : cudaErrorInvalidValue;
    struct graph_memory *memory = error ? NULL : calloc(1, sizeof *memory);

    if (error) return error;
    if (!memory) {
        memory_free(pointer);
        return cudaErrorMemoryAllocation;
    }
    *memory = (struct graph_memory){.pointer = pointer, .bytes = bytes};
    *work = (struct work){.type = cudaGraphNodeTypeMemAlloc, .ordinal = runtime.ordinal};
    work->memory = memory;
    own(memory, true);
    return cudaSuccess;
}

void graph_memory_undo(struct work *work)
{
    own(work->memory, false);
    memory_free(work->memory->pointer);
    free(work->memory);
}

/** Memory is freed once, by a node of the graph in which it was allocated. */
cudaError_t graph_memory_end(struct work *work, cudaGraph_t graph, const void *pointer)
{
    struct graph_memory *memory = graph_memory_of(graph, pointer);

    *work = (struct work){.type = cudaGraphNodeTypeMemFree, .ordinal = runtime.ordinal};
    work->memory = memory;
    return memory && !memory->ends ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t add_alloc(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *before, size_t count, size_t bytes)
{
    struct work work;

    if (!graph_lives(graph)) return cudaErrorInvalidValue;
    cudaError_t error = graph_memory_work(&work, bytes);
    if (error) return error;
    error = graph_add(graph, before, count, &work, node);
    if (error) graph_memory_undo(&work);
    return error;
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *before, size_t count,
                                     struct cudaMemAllocNodeParams *p)
{
    if (!node || !p || (count && !before)) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = add_alloc(node, graph, before, count, p->bytesize);
    if (!error) p->dptr = (*node)->work.memory->pointer;
    return runtime_leave(error);
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *p)
{
    if (!p) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && !(node_lives(node) && node->work.type == cudaGraphNodeTypeMemAlloc))
        error = cudaErrorInvalidValue;
    if (!error)
        *p = (struct cudaMemAllocNodeParams){.bytesize = node->work.memory->bytes,
                                             .dptr = node->work.memory->pointer};
    return runtime_leave(error);
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *before, size_t count, void *pointer)
{
    struct work work;

    if (!node || (count && !before)) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && !graph_lives(graph)) error = cudaErrorInvalidValue;
    if (!error) error = graph_memory_end(&work, graph, pointer);
    if (!error) error = graph_add(graph, before, count, &work, node);
    return runtime_leave(error);
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer)
{
    if (!pointer) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && !(node_lives(node) && node->work.type == cudaGraphNodeTypeMemFree))
        error = cudaErrorInvalidValue;
    if (!error) *(void **)pointer = node->work.memory->pointer;
    return runtime_leave(error);
}

/** Nothing is kept that could be given back. */
cudaError_t cudaDeviceGraphMemTrim(int ordinal)
{
    return error_keep(device_exists(ordinal) ? cudaSuccess : cudaErrorInvalidDevice);
}
