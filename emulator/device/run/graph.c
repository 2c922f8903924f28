/*
 * graph.c: launches that are kept, with their parameters, to be run by number: the kernels of the
 * program's graphs. What runs is what was kept, so that the device itself knows which launches are
 * one run of a graph: nodes in the order of their numbers, with no other launch in between.
 *
 * Interface
 *   device_graph_add, device_graph_set, device_graph_run, device_graph_free
 *   graphs_close
 */
#include <stdlib.h>
#include <string.h>

#include "device/base/arena.h"
#include "run.h"

enum { MOST_GRAPHS = 1 << 16, MOST_NODES = 1 << 20, MOST_PARAM_BYTES = 1 << 28 };

typedef struct node {
    device_launch_request request; /* its params are the node's own */
} node;

/** A place for a graph; `nodes` is NULL where there is none. */
struct kept_graph {
    node *nodes;
    uint32_t count;
};

static struct kept_graph *graph_of(const device *d, uint32_t number)
{
    struct kept_graph *g = number - 1 < d->graph_count ? &d->graphs[number - 1] : NULL;
    return g && g->nodes ? g : NULL;
}

static node *node_of(const device *d, uint32_t graph, uint32_t number)
{
    struct kept_graph *g = graph_of(d, graph);
    return g && number - 1 < g->count ? &g->nodes[number - 1] : NULL;
}

/* ---- keeping --------------------------------------------------------------------------------- */

/* @return the number of an empty place; 0: there are too many graphs */
static uint32_t find_place(device *d)
{
    for (uint32_t i = 0; i < d->graph_count; i++)
        if (!d->graphs[i].nodes) return i + 1;
    if (d->graph_count == MOST_GRAPHS) return 0;
    d->graphs = retake(d->graphs, (d->graph_count + 1) * sizeof *d->graphs);
    d->graphs[d->graph_count++] = (struct kept_graph){NULL, 0};
    return d->graph_count;
}

static device_status check_params(device *d, const device_launch_request *r)
{
    if (r->param_bytes > MAX_PARAMS) return fail(d, DEVICE_BAD_LAUNCH, "too many parameters");
    if (d->graph_param_bytes + r->param_bytes <= MOST_PARAM_BYTES) return DEVICE_OK;
    return fail(d, DEVICE_OUT_OF_MEMORY, "too many parameters of nodes");
}

static void keep(device *d, node *n, const device_launch_request *r)
{
    void *params = take(1, r->param_bytes + 1);
    if (r->param_bytes) memcpy(params, r->params, r->param_bytes);
    n->request = *r;
    n->request.params = params;
    d->graph_param_bytes += r->param_bytes;
}

static void let_go(device *d, node *n)
{
    d->graph_param_bytes -= n->request.param_bytes;
    free((void *)n->request.params);
}

device_status device_graph_add(device *d, uint32_t *graph, const device_launch_request *r,
                               uint32_t *number)
{
    device_status status = check_params(d, r);
    if (status) return status;
    if (*graph && !graph_of(d, *graph)) return fail(d, DEVICE_NOT_FOUND, "no such graph");
    if (d->graph_nodes == MOST_NODES) return fail(d, DEVICE_OUT_OF_MEMORY, "too many nodes");
    if (!*graph && !(*graph = find_place(d)))
        return fail(d, DEVICE_OUT_OF_MEMORY, "too many graphs");
    struct kept_graph *g = &d->graphs[*graph - 1];
    g->nodes = retake(g->nodes, (g->count + 1) * sizeof *g->nodes);
    keep(d, &g->nodes[g->count++], r);
    d->graph_nodes++;
    d->last_graph = 0;
    *number = g->count;
    return DEVICE_OK;
}

device_status device_graph_set(device *d, uint32_t graph, uint32_t number,
                               const device_launch_request *r)
{
    node *n = node_of(d, graph, number);
    if (!n) return fail(d, DEVICE_NOT_FOUND, "no such node");
    device_status status = check_params(d, r);
    if (status) return status;
    let_go(d, n);
    keep(d, n, r);
    d->last_graph = 0;
    return DEVICE_OK;
}

static void free_graph(device *d, struct kept_graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) let_go(d, &g->nodes[i]);
    d->graph_nodes -= g->count;
    free(g->nodes);
    *g = (struct kept_graph){NULL, 0};
}

device_status device_graph_free(device *d, uint32_t graph)
{
    struct kept_graph *g = graph_of(d, graph);
    if (!g) return fail(d, DEVICE_NOT_FOUND, "no such graph");
    free_graph(d, g);
    d->last_graph = 0;
    return DEVICE_OK;
}

void graphs_close(device *d)
{
    for (uint32_t i = 0; i < d->graph_count; i++) free_graph(d, &d->graphs[i]);
    free(d->graphs);
}

/* ---- running --------------------------------------------------------------------------------- */

device_status device_graph_run(device *d, uint32_t graph, uint32_t number)
{
    const node *n = node_of(d, graph, number);
    if (!n) return fail(d, DEVICE_NOT_FOUND, "no such node");
    bool goes_on = graph == d->last_graph && number > d->last_node;
    device_status status = launch_now(d, &n->request, goes_on);
    d->last_graph = graph;
    d->last_node = number;
    return status;
}
