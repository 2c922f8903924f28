/*
 * graph.h: work, and graphs of it: what comes after what.
 */
#ifndef SOFTGPU_RUNTIME_GRAPH_H
#define SOFTGPU_RUNTIME_GRAPH_H

#include "runtime/launch/launch.h"
#include "runtime/memory/memory.h"

/* work.c: what a stream is asked to do, at once or as a node of a graph. */
struct graph_memory {
    void *pointer;
    size_t bytes;
    unsigned references; /* nodes */
    bool ends;           /* a node frees it, so it goes with the last of them */
};
struct work {
    enum cudaGraphNodeType type;
    int ordinal;   /* the device that was current */
    bool is_async; /* a copy from or to pinned memory, with bytes that async_visibility.c keeps for
                      a while */
    union {
        struct launch_work launch;
        struct cudaMemcpy3DParms copy;
        struct fill_work fill;
        struct cudaHostNodeParams host;
        cudaEvent_t event;
        cudaGraph_t child;
        struct graph_memory *memory;
    };
};
/** A copy that owns what it points to, or cudaErrorMemoryAllocation. */
cudaError_t work_copy(struct work *to, const struct work *from);
void work_drop(struct work *);

/* graph.c: nodes and what they come after. */
struct CUgraphNode_st {
    cudaGraph_t graph;
    struct work work;
    cudaGraphNode_t *before; /* what it comes after */
    size_t before_count;
    const struct CUgraphNode_st *origin; /* of a copy: the node that it was made from */
    bool disabled;                       /* in a graph that can run: left out; */
    uint32_t kept;                       /* the number that the device has for it, 0: none; */
    bool changed;                        /* since then */
    size_t mark;
};
struct CUgraph_st {
    struct handle handle;
    bool owned; /* by a node, or by a graph that can run */
    cudaGraphNode_t *nodes;
    size_t count;
    struct user_object *user_objects;
};
bool graph_lives(cudaGraph_t);
bool node_lives(cudaGraphNode_t);
cudaGraph_t graph_new(void);
void graph_free(cudaGraph_t);
cudaGraph_t graph_clone(cudaGraph_t);
cudaError_t graph_add(cudaGraph_t, const cudaGraphNode_t *before, size_t count, const struct work *,
                      cudaGraphNode_t *);
/** Is `node` in the list? */
bool node_is_in(const struct CUgraphNode_st *node, const cudaGraphNode_t *list, size_t count);
/** Add nodes to a list, each once. @return false when there is no memory. */
bool nodes_join(cudaGraphNode_t **list, size_t *count, const cudaGraphNode_t *more,
                size_t more_count);
/** All nodes in an order in which they can run, or NULL: they wait for each other. */
cudaGraphNode_t *graph_order(cudaGraph_t);
/** The copy of a node in a graph or in the graphs of its nodes. */
cudaGraphNode_t graph_find_copy(cudaGraph_t, const struct CUgraphNode_st *origin);

/* graph_memory.c: memory that belongs to graphs. */
cudaError_t graph_memory_work(struct work *, size_t bytes);
void graph_memory_undo(struct work *);
/** It is the program's from now on, unless a node has freed it, or the program has. */
void graph_memory_leave(struct graph_memory *);
/** Fresh memory holds nothing, each time the graph runs. */
cudaError_t graph_memory_renew(const struct graph_memory *);
cudaError_t graph_memory_end(struct work *, cudaGraph_t, const void *pointer);

/* user_object.c: objects of the program's that live as long as a graph. */
bool user_objects_copy(struct user_object **to, const struct user_object *from);
void user_objects_release(struct user_object **);

#endif
