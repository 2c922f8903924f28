/*
 * stream.h: streams and events: work in its order, done at once or noted by a capture.
 */
#ifndef SOFTGPU_RUNTIME_STREAM_H
#define SOFTGPU_RUNTIME_STREAM_H

#include "runtime/graph/graph.h"

/* async_visibility.c: copies that may still be under way, as far as the program knows. */
/** Submit an asynchronous copy. */
cudaError_t async_copy(cudaStream_t, struct work *);
/** Whatever is on its way to the host is there now. */
void async_arrive(void);
/** A kernel is about to run, or has run: it may write where copies that came before it read. */
void async_device_writes(void);
void async_device_wrote(void);
/** The program has waited: for everything, for a stream, for an event. */
void async_waited(void);
void async_waited_for_stream(cudaStream_t);
void async_waited_for_event(cudaEvent_t);
/** Streams wait for each other: who waits for one may have waited for another. */
void async_ordered(void);
/** The number of the last copy. */
unsigned long long async_last(void);
/** Pinned memory is about to be freed: say so if a copy needs it. */
void async_freeing(const void *start);

/** Of each lane (order.c), how many of its works are over. */
struct clock {
    uint32_t at[DEVICE_LANES];
};

/* event.c */
struct CUevent_st {
    struct handle handle;
    unsigned flags;
    int ordinal;
    bool recorded;
    double milliseconds;
    struct clock clock;            /* what it comes after */
    cudaStream_t stream;           /* in which it was last recorded, */
    unsigned long long last_async; /* and after which copy of async_visibility.c */
    unsigned long long capture;    /* 0, or the capture in which it was last recorded, */
    cudaGraphNode_t *nodes;        /* and after which nodes */
    size_t node_count;
};
bool event_lives(cudaEvent_t);
void event_note(cudaEvent_t);

/* stream.c */
struct CUstream_st {
    struct handle handle;
    unsigned flags;
    int priority;
    int ordinal;
    unsigned long long id;
    uint32_t lane;              /* order.c */
    struct clock clock;         /* what its next work comes after */
    unsigned long long capture; /* 0, or the capture that it takes part in, */
    cudaGraphNode_t *frontier;  /* and what its next work comes after */
    size_t frontier_count;
    struct cudaAccessPolicyWindow window;
    enum cudaSynchronizationPolicy policy;
};
/** NULL: no such stream. */
cudaStream_t stream_find(cudaStream_t);
bool stream_is_valid(cudaStream_t);
bool stream_is_legacy(cudaStream_t);
/** Is it a stream of the current device? */
bool stream_is_here(cudaStream_t);
/** Do it, or note it in the graph that the stream captures. */
cudaError_t stream_submit(cudaStream_t, const struct work *);

/* order.c: what comes after what. */
/** Lanes of the default streams; the others take one and leave it. */
enum { LEGACY_LANE, PER_THREAD_LANE };
uint32_t order_take_lane(void);
void order_leave_lane(uint32_t);
/** The stream is about to do it. */
void order_work(cudaStream_t, const struct work *);
/** What the stream does from now on comes after that. */
void order_after(cudaStream_t, const struct clock *);
/** What comes after all that the stream was asked for so far; nothing new of one that is gone. */
void order_reached(cudaStream_t, struct clock *);
/** The host knows that it is done. */
/** Does the call return when the copy's bytes are taken, before they arrive? */
bool order_is_staged(const struct cudaMemcpy3DParms *);
void order_host_waits_for_stream(cudaStream_t);
void order_host_waits_for_event(cudaEvent_t);
void order_host_waits_for_all(void);

/* turn.c */
/** Do the work now, as the stream's next. */
cudaError_t work_run(cudaStream_t, const struct work *);
/** The same of work that does nothing but use memory of the current device. */
cudaError_t turn_use(cudaStream_t, const void *pointer, size_t bytes, device_use);

/* capture.c: streams that note their work in a graph. */
/** For calls that a capture cannot bear: may fail, and spoils the capture. */
cudaError_t runtime_enter_unless_capturing(void);
/** Is anybody capturing? */
bool capture_any(void);
/** The stream's work goes into a graph: NULL or that capture, spoilt or not. */
struct capture *capture_of(cudaStream_t);
cudaError_t capture_add(struct capture *, cudaStream_t, const struct work *);
cudaError_t capture_spoil(struct capture *, cudaError_t);
/** A stream is destroyed. */
void capture_lose(cudaStream_t);
cudaGraph_t capture_graph(const struct capture *);
/** Waiting for the device is waiting for captured work: an error. */
cudaError_t capture_check_device(void);
/** What the legacy stream does would wait for a stream that captures: an error. */
cudaError_t capture_check_legacy(void);
cudaError_t capture_record(struct capture *, cudaStream_t, cudaEvent_t);
cudaError_t capture_wait(cudaStream_t, cudaEvent_t);

#endif
