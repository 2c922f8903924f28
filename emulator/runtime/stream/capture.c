/*
 * capture.c: streams that note their work in a graph instead of doing it.
 *
 * A capture begins at one stream and spreads: a stream that waits for an event which a capturing
 * stream has recorded joins. Each of them has a frontier, the nodes that its next work comes after;
 * in the end all must have come back to the first stream. What a capture cannot bear (waiting for
 * captured work, tying it to work outside) spoils it: it goes on failing until it is ended.
 */
#include "stream.h"

#include <stdlib.h>

struct capture {
    struct capture *next;
    unsigned long long id;
    cudaStream_t origin;
    cudaGraph_t graph;
    bool borrowed; /* the graph is the program's */
    size_t first;  /* nodes that it had before */
    enum cudaStreamCaptureMode mode;
    const void *thread;
    bool spoilt;
};

static struct capture *all;
static unsigned long long last_id;
static _Thread_local enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

static const void *this_thread(void)
{
    return &thread_mode;
}

bool capture_any(void)
{
    return all != NULL;
}

static struct capture *capture_with(unsigned long long id)
{
    struct capture *c = all;

    while (c && c->id != id) c = c->next;
    return id ? c : NULL;
}

struct capture *capture_of(cudaStream_t stream)
{
    const struct CUstream_st *s = all ? stream_find(stream) : NULL;

    return s ? capture_with(s->capture) : NULL;
}

cudaGraph_t capture_graph(const struct capture *capture)
{
    return capture->graph;
}

cudaError_t capture_spoil(struct capture *capture, cudaError_t error)
{
    capture->spoilt = true;
    return error;
}

/** What a stream has added remains, and must have come back to the first one; that one must last.
 */
void capture_lose(cudaStream_t stream)
{
    struct capture *c = capture_of(stream);

    if (c && c->origin == stream) capture_spoil(c, cudaErrorStreamCaptureInvalidated);
}

/* ---- what a capture cannot bear -------------------------------------------------------------- */

/** Calls that may wait for the device: whose captures do they disturb? */
static bool disturbs(const struct capture *c)
{
    if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
    if (c->thread == this_thread()) return c->mode != cudaStreamCaptureModeRelaxed;
    return thread_mode == cudaStreamCaptureModeGlobal && c->mode == cudaStreamCaptureModeGlobal;
}

cudaError_t runtime_enter_unless_capturing(void)
{
    cudaError_t error = runtime_enter();

    for (struct capture *c = all; c && !error; c = c->next)
        if (disturbs(c)) error = capture_spoil(c, cudaErrorStreamCaptureUnsupported);
    return error;
}

cudaError_t capture_check_device(void)
{
    cudaError_t error = cudaSuccess;

    for (struct capture *c = all; c; c = c->next)
        if (c->origin->ordinal == runtime.ordinal)
            error = capture_spoil(c, cudaErrorStreamCaptureUnsupported);
    return error;
}

/** The legacy stream waits for all but those that were made with cudaStreamNonBlocking. */
cudaError_t capture_check_legacy(void)
{
    cudaError_t error = cudaSuccess;

    for (struct capture *c = all; c; c = c->next)
        if (!(c->origin->flags & cudaStreamNonBlocking))
            error = capture_spoil(c, cudaErrorStreamCaptureImplicit);
    return error;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    if (!mode || *mode > cudaStreamCaptureModeRelaxed) return error_keep(cudaErrorInvalidValue);
    enum cudaStreamCaptureMode was = thread_mode;
    thread_mode = *mode;
    *mode = was;
    return cudaSuccess;
}

/* ---- what happens in one --------------------------------------------------------------------- */

static cudaError_t set_frontier(cudaStream_t stream, const cudaGraphNode_t *nodes, size_t count)
{
    stream->frontier_count = 0;
    return nodes_join(&stream->frontier, &stream->frontier_count, nodes, count)
               ? cudaSuccess
               : cudaErrorMemoryAllocation;
}

cudaError_t capture_add(struct capture *capture, cudaStream_t stream, const struct work *work)
{
    cudaStream_t s = stream_find(stream);
    cudaGraphNode_t node;

    if (capture->spoilt) return cudaErrorStreamCaptureInvalidated;
    cudaError_t error = graph_add(capture->graph, s->frontier, s->frontier_count, work, &node);
    return error ? capture_spoil(capture, error) : set_frontier(s, &node, 1);
}

cudaError_t capture_record(struct capture *capture, cudaStream_t stream, cudaEvent_t event)
{
    const struct CUstream_st *s = stream_find(stream);

    if (capture->spoilt) return cudaErrorStreamCaptureInvalidated;
    event->capture = capture->id;
    event->node_count = 0;
    bool done = nodes_join(&event->nodes, &event->node_count, s->frontier, s->frontier_count);
    return done ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t join(cudaStream_t stream, struct capture *capture, cudaEvent_t event)
{
    cudaStream_t s = stream_find(stream);

    if (capture->spoilt) return cudaErrorStreamCaptureInvalidated;
    if (stream_is_legacy(stream)) return capture_spoil(capture, cudaErrorStreamCaptureImplicit);
    if (capture_of(stream) != capture) s->frontier_count = 0;
    s->capture = capture->id;
    return nodes_join(&s->frontier, &s->frontier_count, event->nodes, event->node_count)
               ? cudaSuccess
               : cudaErrorMemoryAllocation;
}

/** All work outside a capture is done already. */
cudaError_t capture_wait(cudaStream_t stream, cudaEvent_t event)
{
    struct capture *mine = capture_of(stream), *its = capture_with(event->capture);

    if (!mine && !event->capture) return cudaSuccess;
    if (mine && its && mine != its) {
        capture_spoil(its, cudaSuccess);
        return capture_spoil(mine, cudaErrorStreamCaptureMerge);
    }
    if (its) return join(stream, its, event);
    return mine ? capture_spoil(mine, cudaErrorStreamCaptureIsolation) : cudaErrorCapturedEvent;
}

/* ---- beginning and ending -------------------------------------------------------------------- */

static cudaError_t begin(cudaStream_t stream, cudaGraph_t graph, bool borrowed,
                         enum cudaStreamCaptureMode mode)
{
    cudaStream_t s = stream_find(stream);
    struct capture *capture = graph ? malloc(sizeof *capture) : NULL;

    if (!capture) return cudaErrorMemoryAllocation;
    *capture = (struct capture){.next = all,
                                .id = ++last_id,
                                .origin = s,
                                .graph = graph,
                                .borrowed = borrowed,
                                .first = graph->count,
                                .mode = mode,
                                .thread = this_thread()};
    all = capture;
    s->capture = capture->id;
    s->frontier_count = 0;
    return cudaSuccess;
}

static cudaError_t check_begin(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    if (mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    if (!stream_is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (stream_is_legacy(stream)) return cudaErrorStreamCaptureUnsupported;
    return capture_of(stream) ? cudaErrorIllegalState : cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    cudaError_t error = runtime_enter();

    if (!error) error = check_begin(stream, mode);
    if (!error) error = begin(stream, graph_new(), false, mode);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamBeginCapture);

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *edges, size_t count,
                                          enum cudaStreamCaptureMode mode)
{
    cudaError_t error = runtime_enter();

    (void)edges;
    if (!error) error = check_begin(stream, mode);
    if (!error && (!graph_lives(graph) || (count && !dependencies))) error = cudaErrorInvalidValue;
    if (!error) error = begin(stream, graph, true, mode);
    if (!error) error = set_frontier(stream_find(stream), dependencies, count);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamBeginCaptureToGraph);

static bool has_successor(cudaGraph_t graph, cudaGraphNode_t node)
{
    for (size_t i = 0; i < graph->count; i++)
        if (node_is_in(node, graph->nodes[i]->before, graph->nodes[i]->before_count)) return true;
    return false;
}

/** Has all that was captured come back to the first stream? */
static bool is_joined(const struct capture *c)
{
    for (size_t i = c->first; i < c->graph->count; i++) {
        cudaGraphNode_t node = c->graph->nodes[i];
        bool back = node_is_in(node, c->origin->frontier, c->origin->frontier_count);
        if (!back && !has_successor(c->graph, node)) return false;
    }
    return true;
}

static void forget(struct capture *capture)
{
    struct capture **at = &all;

    while (*at != capture) at = &(*at)->next;
    *at = capture->next;
    capture->origin->capture = 0;
    free(capture);
}

/** An attempt from the wrong stream or thread leaves the capture as it is. */
static cudaError_t end(cudaStream_t stream, cudaGraph_t *graph)
{
    struct capture *c = capture_of(stream);

    if (!stream_is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (!c) return cudaErrorIllegalState;
    if (c->origin != stream_find(stream)) return cudaErrorStreamCaptureUnmatched;
    if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != this_thread())
        return cudaErrorStreamCaptureWrongThread;
    bool good = !c->spoilt && is_joined(c);
    cudaError_t error =
        c->spoilt ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined;
    if (good) *graph = c->graph;
    if (!good && !c->borrowed) graph_free(c->graph);
    forget(c);
    return good ? cudaSuccess : error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    if (!graph) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    *graph = NULL;
    if (!error) error = end(stream, graph);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamEndCapture);

/* ---- asking ---------------------------------------------------------------------------------- */

static enum cudaStreamCaptureStatus status_of(const struct capture *c)
{
    if (!c) return cudaStreamCaptureStatusNone;
    return c->spoilt ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

static cudaError_t check_ask(cudaStream_t stream)
{
    if (!stream_is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (!stream_is_legacy(stream)) return cudaSuccess;
    for (struct capture *c = all; c; c = c->next)
        if (!(c->origin->flags & cudaStreamNonBlocking)) return cudaErrorStreamCaptureImplicit;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    if (!status) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = check_ask(stream);
    if (!error) *status = status_of(capture_of(stream));
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamIsCapturing);

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, size_t *count)
{
    if (!status) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = check_ask(stream);
    const struct capture *c = capture_of(stream);
    const struct CUstream_st *s = stream_find(stream);
    if (!error) *status = status_of(c);
    if (!error && id) *id = c ? c->id : 0;
    if (!error && graph) *graph = c ? c->graph : NULL;
    if (!error && dependencies) *dependencies = c ? s->frontier : NULL;
    if (!error && edges) *edges = NULL;
    if (!error && count) *count = c ? s->frontier_count : 0;
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamGetCaptureInfo);

static cudaError_t update(cudaStream_t stream, const cudaGraphNode_t *nodes, size_t count,
                          unsigned flags)
{
    struct capture *c = capture_of(stream);
    cudaStream_t s = stream_find(stream);

    if (!s) return cudaErrorInvalidResourceHandle;
    if (!c) return cudaErrorIllegalState;
    for (size_t i = 0; i < count; i++)
        if (!node_is_in(nodes[i], c->graph->nodes, c->graph->count)) return cudaErrorInvalidValue;
    if (flags == cudaStreamSetCaptureDependencies) return set_frontier(s, nodes, count);
    return nodes_join(&s->frontier, &s->frontier_count, nodes, count) ? cudaSuccess
                                                                      : cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                const cudaGraphEdgeData *edges, size_t count,
                                                unsigned int flags)
{
    (void)edges;
    if ((count && !nodes) || flags > cudaStreamSetCaptureDependencies)
        return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = update(stream, nodes, count, flags);
    return runtime_leave(error);
}
PER_THREAD_STREAM(cudaStreamUpdateCaptureDependencies);
