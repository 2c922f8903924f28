/*
 * graph.c: graphs: nodes, each with work and a list of the nodes that it comes after; in the order
 * of their making.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

static struct handle *graphs;

bool graph_lives(cudaGraph_t graph)
{
    return handle_lives(&graphs, graph);
}

bool node_is_in(const struct CUgraphNode_st *node, const cudaGraphNode_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == node) return true;
    return false;
}

bool node_lives(cudaGraphNode_t node)
{
    for (struct handle *h = graphs; h; h = h->next) {
        cudaGraph_t graph = (cudaGraph_t)h;
        if (node_is_in(node, graph->nodes, graph->count)) return true;
    }
    return false;
}

bool nodes_join(cudaGraphNode_t **list, size_t *count, const cudaGraphNode_t *more,
                size_t more_count)
{
    if (!more_count) return true;
    cudaGraphNode_t *longer = realloc(*list, (*count + more_count) * sizeof *longer);
    if (!longer) return false;
    *list = longer;
    for (size_t i = 0; i < more_count; i++)
        if (!node_is_in(more[i], longer, *count)) longer[(*count)++] = more[i];
    return true;
}

/* ---- making and ending ----------------------------------------------------------------------- */

cudaGraph_t graph_new(void)
{
    cudaGraph_t graph = calloc(1, sizeof *graph);

    if (graph) handle_add(&graphs, &graph->handle);
    return graph;
}

static void free_node(cudaGraphNode_t node)
{
    work_drop(&node->work);
    free(node->before);
    free(node);
}

void graph_free(cudaGraph_t graph)
{
    if (!graph) return;
    handle_remove(&graphs, graph);
    for (size_t i = 0; i < graph->count; i++) free_node(graph->nodes[i]);
    user_objects_release(&graph->user_objects);
    free(graph->nodes);
    free(graph);
}

static cudaGraphNode_t node_new(cudaGraph_t graph, const struct work *work)
{
    cudaGraphNode_t node = calloc(1, sizeof *node);

    if (!node || work_copy(&node->work, work)) {
        free(node);
        return NULL;
    }
    node->graph = graph;
    if (work->type == cudaGraphNodeTypeGraph) node->work.child->owned = true;
    if (nodes_join(&graph->nodes, &graph->count, &node, 1)) return node;
    free_node(node);
    return NULL;
}

cudaError_t graph_add(cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                      const struct work *work, cudaGraphNode_t *added)
{
    for (size_t i = 0; i < count; i++)
        if (!node_is_in(before[i], graph->nodes, graph->count)) return cudaErrorInvalidValue;
    cudaGraphNode_t node = node_new(graph, work);
    if (!node || !nodes_join(&node->before, &node->before_count, before, count))
        return cudaErrorMemoryAllocation;
    *added = node;
    return cudaSuccess;
}

/** `from`'s nodes are marked with their places. */
static bool clone_nodes(cudaGraph_t to, cudaGraph_t from)
{
    for (size_t i = 0; i < from->count; i++) {
        from->nodes[i]->mark = i;
        cudaGraphNode_t node = node_new(to, &from->nodes[i]->work);
        if (!node) return false;
        node->origin = from->nodes[i];
    }
    for (size_t i = 0; i < from->count; i++) {
        const struct CUgraphNode_st *old = from->nodes[i];
        cudaGraphNode_t node = to->nodes[i];
        for (size_t k = 0; k < old->before_count; k++) {
            cudaGraphNode_t before = to->nodes[old->before[k]->mark];
            if (!nodes_join(&node->before, &node->before_count, &before, 1)) return false;
        }
    }
    return user_objects_copy(&to->user_objects, from->user_objects);
}

cudaGraph_t graph_clone(cudaGraph_t from)
{
    cudaGraph_t to = graph_new();

    if (!to || clone_nodes(to, from)) return to;
    graph_free(to);
    return NULL;
}

cudaGraphNode_t graph_find_copy(cudaGraph_t graph, const struct CUgraphNode_st *origin)
{
    for (size_t i = 0; i < graph->count; i++) {
        cudaGraphNode_t node = graph->nodes[i];
        if (node->origin == origin) return node;
        bool nested = node->work.type == cudaGraphNodeTypeGraph;
        cudaGraphNode_t inner = nested ? graph_find_copy(node->work.child, origin) : NULL;
        if (inner) return inner;
    }
    return NULL;
}

/* ---- order ----------------------------------------------------------------------------------- */

enum { UNPLACED, PLACED };

static bool is_ready(const struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < node->before_count; i++)
        if (node->before[i]->mark != PLACED) return false;
    return true;
}

/** Graphs are mostly made in an order that works: then one round does it. */
cudaGraphNode_t *graph_order(cudaGraph_t graph)
{
    cudaGraphNode_t *order = calloc(graph->count + 1, sizeof *order);
    size_t placed = 0, before_round;

    if (!order) return NULL;
    for (size_t i = 0; i < graph->count; i++) graph->nodes[i]->mark = UNPLACED;
    do {
        before_round = placed;
        for (size_t i = 0; i < graph->count; i++) {
            cudaGraphNode_t node = graph->nodes[i];
            if (node->mark == PLACED || !is_ready(node)) continue;
            node->mark = PLACED;
            order[placed++] = node;
        }
    } while (placed > before_round);
    if (placed == graph->count) return order;
    free(order);
    return NULL;
}

/* ---- the API --------------------------------------------------------------------------------- */

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
    if (!graph || flags) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) *graph = graph_new();
    if (!error && !*graph) error = cudaErrorMemoryAllocation;
    return runtime_leave(error);
}

/** A child graph belongs to its node. */
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    cudaError_t error = runtime_enter();

    if (!error && (!graph_lives(graph) || graph->owned)) error = cudaErrorInvalidValue;
    if (!error) graph_free(graph);
    return runtime_leave(error);
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    if (!clone) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && !graph_lives(graph)) error = cudaErrorInvalidValue;
    if (!error) *clone = graph_clone(graph);
    if (!error && !*clone) error = cudaErrorMemoryAllocation;
    return runtime_leave(error);
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original,
                                     cudaGraph_t clone)
{
    if (!node) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error && !graph_lives(clone)) error = cudaErrorInvalidValue;
    if (!error) *node = graph_find_copy(clone, original);
    if (!error && !*node) error = cudaErrorInvalidValue;
    return runtime_leave(error);
}

static void remove_from(cudaGraphNode_t *list, size_t *count, const struct CUgraphNode_st *node)
{
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++)
        if (list[i] != node) list[kept++] = list[i];
    *count = kept;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    cudaError_t error = runtime_enter();

    if (!error && !node_lives(node)) error = cudaErrorInvalidValue;
    if (error) return runtime_leave(error);
    cudaGraph_t graph = node->graph;
    remove_from(graph->nodes, &graph->count, node);
    for (size_t i = 0; i < graph->count; i++)
        remove_from(graph->nodes[i]->before, &graph->nodes[i]->before_count, node);
    free_node(node);
    return runtime_leave(cudaSuccess);
}
