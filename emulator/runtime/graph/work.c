/*
 * work.c: the work of a stream: a launch, a copy, a fill, a call of the program's. It runs at once
 * (stream/turn.c), or becomes a node of a graph, which then owns a copy of it.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/** One piece of memory: the pointers to the arguments, and the arguments. */
static bool own_params(struct launch_work *launch)
{
    const device_function_facts *facts = &launch->kernel->facts;
    void **args = malloc(facts->param_count * sizeof *args + facts->param_bytes + 1);

    if (!args) return false;
    unsigned char *params = (unsigned char *)(args + facts->param_count);
    memcpy(params, launch->params, facts->param_bytes);
    for (uint32_t i = 0; i < facts->param_count; i++) args[i] = params + facts->param_offset[i];
    launch->args = args;
    launch->params = params;
    launch->graph = launch->node = 0;
    return true;
}

static bool own(struct work *work)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel: return own_params(&work->launch);
    case cudaGraphNodeTypeGraph: return (work->child = graph_clone(work->child)) != NULL;
    case cudaGraphNodeTypeMemFree: work->memory->ends = true; /* fall through */
    case cudaGraphNodeTypeMemAlloc: work->memory->references++; return true;
    default: return true;
    }
}

cudaError_t work_copy(struct work *to, const struct work *from)
{
    *to = *from;
    return own(to) ? cudaSuccess : cudaErrorMemoryAllocation;
}

static void release(struct graph_memory *memory)
{
    if (!--memory->references) graph_memory_leave(memory);
}

void work_drop(struct work *work)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel: free(work->launch.args); break;
    case cudaGraphNodeTypeGraph: graph_free(work->child); break;
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree: release(work->memory); break;
    default: break;
    }
}
