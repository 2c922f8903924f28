/*
 * edge.c: the order of a graph's nodes: query, add, remove edges. Every list that the API fills
 * works the same way: without room for it, it tells how long it is; with, it is filled as far as it
 * goes, and what is left of the room is cleared. CUDA promises no order of a list. Here it begins
 * in the middle, so that a program that relies on the order of creation fails.
 */
#include "graph.h"

#include <string.h>

struct list {
    cudaGraphNode_t *first, *second; /* the program's room, or NULL; second: of edges */
    size_t room, used;
};

static void put(struct list *list, cudaGraphNode_t first, cudaGraphNode_t second)
{
    if (list->used < list->room) {
        if (list->first) list->first[list->used] = first;
        if (list->second) list->second[list->used] = second;
    }
    list->used++;
}

static struct list list_with(cudaGraphNode_t *first, cudaGraphNode_t *second, const size_t *room)
{
    return (struct list){first, second, first || second ? *room : 0, 0};
}

static void finish(struct list *list, size_t *count)
{
    bool wanted = list->first || list->second;

    for (size_t i = list->used; i < list->room; i++) {
        if (list->first) list->first[i] = NULL;
        if (list->second) list->second[i] = NULL;
    }
    *count = wanted && list->room < list->used ? list->room : list->used;
}

/* The i-th in a list. */
static cudaGraphNode_t listed(cudaGraph_t graph, size_t i)
{
    return graph->nodes[(i + graph->count / 2) % graph->count];
}

static void clear(cudaGraphEdgeData *edges, size_t count)
{
    if (edges) memset(edges, 0, count * sizeof *edges);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (!count) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    struct list list = list_with(nodes, NULL, count);
    if (!error && !graph_lives(graph)) error = cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < graph->count; i++) put(&list, listed(graph, i), NULL);
    if (!error) finish(&list, count);
    return runtime_leave(error);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (!count) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    struct list list = list_with(nodes, NULL, count);
    if (!error && !graph_lives(graph)) error = cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < graph->count; i++)
        if (!listed(graph, i)->before_count) put(&list, listed(graph, i), NULL);
    if (!error) finish(&list, count);
    return runtime_leave(error);
}

static void put_edges(struct list *list, const struct CUgraphNode_st *to)
{
    for (size_t i = 0; i < to->before_count; i++) put(list, to->before[i], (cudaGraphNode_t)to);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *edges, size_t *count)
{
    if (!count || !from != !to) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    struct list list = list_with(from, to, count);
    if (!error && !graph_lives(graph)) error = cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < graph->count; i++) put_edges(&list, listed(graph, i));
    if (!error) finish(&list, count);
    if (!error) clear(edges, *count);
    return runtime_leave(error);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         cudaGraphEdgeData *edges, size_t *count)
{
    if (!count) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    struct list list = list_with(nodes, NULL, count);
    if (!error && !node_lives(node)) error = cudaErrorInvalidValue;
    if (!error) put_edges(&list, node);
    if (!error) finish(&list, count);
    if (!error && nodes) clear(edges, *count);
    return runtime_leave(error);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                           cudaGraphEdgeData *edges, size_t *count)
{
    if (!count) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    struct list list = list_with(nodes, NULL, count);
    if (!error && !node_lives(node)) error = cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < node->graph->count; i++) {
        cudaGraphNode_t other = listed(node->graph, i);
        if (node_is_in(node, other->before, other->before_count)) put(&list, other, NULL);
    }
    if (!error) finish(&list, count);
    if (!error && nodes) clear(edges, *count);
    return runtime_leave(error);
}

/* ---- changing -------------------------------------------------------------------------------- */

static bool are_of(cudaGraph_t graph, const cudaGraphNode_t *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!node_is_in(nodes[i], graph->nodes, graph->count)) return false;
    return true;
}

static cudaError_t check(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                         size_t count)
{
    if (!graph_lives(graph) || (count && (!from || !to))) return cudaErrorInvalidValue;
    return are_of(graph, from, count) && are_of(graph, to, count) ? cudaSuccess
                                                                  : cudaErrorInvalidValue;
}

static cudaError_t add_edge(cudaGraphNode_t from, cudaGraphNode_t to)
{
    if (from == to || node_is_in(from, to->before, to->before_count)) return cudaErrorInvalidValue;
    return nodes_join(&to->before, &to->before_count, &from, 1) ? cudaSuccess
                                                                : cudaErrorMemoryAllocation;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                     size_t count)
{
    cudaError_t error = runtime_enter();

    (void)edges;
    if (!error) error = check(graph, from, to, count);
    for (size_t i = 0; i < count && !error; i++) error = add_edge(from[i], to[i]);
    return runtime_leave(error);
}

static cudaError_t remove_edge(cudaGraphNode_t from, cudaGraphNode_t to)
{
    for (size_t i = 0; i < to->before_count; i++) {
        if (to->before[i] != from) continue;
        size_t after = --to->before_count - i;
        memmove(&to->before[i], &to->before[i + 1], after * sizeof *to->before);
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                        size_t count)
{
    cudaError_t error = runtime_enter();

    (void)edges;
    if (!error) error = check(graph, from, to, count);
    for (size_t i = 0; i < count && !error; i++) error = remove_edge(from[i], to[i]);
    return runtime_leave(error);
}
