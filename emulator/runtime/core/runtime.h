/*
 * runtime.h: the index of softgpu's CUDA runtime. Every function that one file of this folder lends
 * to another stands here under the name of its file; the CUDA API itself is in the toolkit's own
 * header, so that names, types and ABI are the compiler's to check.
 *
 * The shape of every API function that touches the device:
 *
 *     cudaError_t error = runtime_enter();          lock, open the device, refuse after a fault
 *     if (!error) error = ...;                      work
 *     return runtime_leave(error);                  unlock, remember the error for this thread
 *
 * and of one that does not: return error_keep(...).
 *
 * Streams run in order and at once: when a call returns, its work is done. So a launch reports its
 * own faults, as with CUDA_LAUNCH_BLOCKING=1. Only what copies bring to the host may be late.
 */
#ifndef SOFTGPU_RUNTIME_H
#define SOFTGPU_RUNTIME_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "device/device.h"
#include "device/residency.h"

/** Also export `name` for programs compiled with --default-stream per-thread. */
#define PER_THREAD_STREAM(name) extern __typeof__(name) name##_ptsz __attribute__((alias(#name)))
#define PER_THREAD_MEMORY(name) extern __typeof__(name) name##_ptds __attribute__((alias(#name)))

enum { MAX_DEVICES = 8 };

/* context.c: the devices, the lock around them, and the faults that end them. */
extern struct runtime {
    device *device; /* of the thread that holds the lock; NULL until it is needed */
    int ordinal;    /* its number */
    pid_t owner;    /* the process that opened the devices; a child cannot use them */
    struct context {
        device *device;
        cudaError_t sticky; /* the fault that every later call reports, or cudaSuccess */
        unsigned opened;    /* how often */
    } context[MAX_DEVICES];
} runtime;
cudaError_t runtime_enter(void);
cudaError_t runtime_leave(cudaError_t);
void runtime_lock(void);
/** Take the lock only if it is free: for the signal handler. */
bool runtime_try_lock(void);
void runtime_unlock(void);
/** Make another device the current one, under the lock. */
void runtime_look_at(int ordinal);
/** The current device has failed for good. @return the error */
cudaError_t runtime_fault(cudaError_t);
/** Run a callback of the program's without the lock; it may not use CUDA. */
void runtime_call_back(void (*function)(void *), void *data);
/** The device of this thread. */
int device_current(void);
void device_choose(int ordinal);
/** The device in whose memory an address lies, -1: none. */
int device_of(const void *pointer);
/** The same; NULL when it is not open either. */
device *device_at(const void *pointer);

/* choice.c: which device a thread uses. */
bool device_exists(int ordinal);

/* options.c: the environment. */
int option_devices(void);
/** Addresses of each device, in bytes. */
uint64_t option_device_range(void);
uint64_t option_memory_bytes(void);
device_options options_read(int ordinal);

/* checks.c: SOFTGPU_CHECKS: what to look for, and how serious it is. */
enum check_level { CHECK_OFF, CHECK_WARN, CHECK_FATAL };
enum check {
    CHECK_FAULTS, /* what ends a launch on a GPU as well */
    CHECK_UNINITIALISED,
    CHECK_RACES,
    CHECK_BARRIERS,
    CHECK_LANES,
    CHECK_FREES,
    CHECK_ERRORS,
    CHECK_LEAKS,
    CHECK_LINT,
    CHECKS,
};
enum check_level check_level(enum check);
/** As a bit set of device_check. */
uint32_t checks_for_device(void);

/* error.c: the last error of a thread, and what a device status means to CUDA. */
cudaError_t error_keep(cudaError_t);
cudaError_t error_from_device(device_status);
/** The error that a failed launch leaves for good; cudaSuccess when the device survives it. */
cudaError_t error_sticky(device_status);
/** A launch from <<<>>>, which returns nothing, failed: from now on the program should ask. */
void error_expect_question(cudaError_t, const char *kernel);
/** Say so if the program has not asked since. */
void error_report_unasked(void);

/* fatbin.c: the PTX inside a fat binary. */
const char *fatbin_ptx(const void *wrapper, size_t *bytes);
/** The same for bytes that end after `room`: what the fuzzer calls. */
const char *fatbin_find(const unsigned char *data, size_t room, size_t *bytes);

/* module.c: what the program registered: modules, kernels, variables. */
struct module;
struct kernel {
    struct kernel *next;
    struct module *module;
    const void *host;         /* address of the host stub: what the program calls the kernel */
    const char *name;         /* mangled */
    bool found[MAX_DEVICES];  /* id and facts hold */
    uint32_t id[MAX_DEVICES]; /* the device's number for it */
    int dynamic_limit;        /* cudaFuncAttributeMaxDynamicSharedMemorySize; -1: the default */
    device_function_facts facts;
};
struct variable {
    struct variable *next;
    struct module *module;
    const void *host; /* the shadow variable: what the program calls the symbol */
    const char *name;
    size_t bytes;
    void **managed; /* of a __managed__ variable: where the host keeps its address */
    bool placed;    /* it has storage, which *managed points to */
};
/** The kernel that a host stub or a cudaKernel_t names, known to the device. */
cudaError_t kernel_find(const void *name, struct kernel **);
cudaError_t variable_find(const void *symbol, struct variable **);
cudaError_t variable_address(const struct variable *, device_address *);
/** The current device was closed: nothing is loaded there any more. */
void modules_forget(void);
/** All are closed: managed variables have no storage. */
void modules_forget_shared(void);

/* trace.c: where in the program something was called. */
enum { TRACE_FRAMES = 8 };
struct trace {
    void *frame[TRACE_FRAMES]; /* return addresses outside this library, innermost first */
};
struct trace trace_here(void);
/** " at x.cu:12", " in f(int)" or "". Frames of the kernel `stub` do not count; it may be NULL. */
void trace_place(const struct trace *, const char *stub, char *text, size_t size);

/* allocations.c: where the program made its allocations, and where it freed them. */
struct allocation {
    struct allocation *next, *freed_after;
    device_address base; /* or a host address, of pinned memory */
    size_t bytes;
    bool is_freed, pinned_host, lent; /* lent: somebody else made it, and named it here */
    char name[64];                    /* what a tool calls it */
    struct trace made, freed;
};
void allocation_add(device_address base, size_t bytes, bool pinned_host);
void allocation_freed(device_address base);
/** The newest allocation that starts or started there, or NULL. */
struct allocation *allocation_find(device_address base);
/** " allocated at x.cu:12, freed at x.cu:15", as far as known, for an allocation of that size. */
void allocation_describe(device_address base, uint64_t bytes, char *text, size_t size);
void allocations_report_leaks(void);
void allocations_forget(void);

/* report.c: findings to stderr or the hook, printf output to stdout. */
/** After a launch, or after a copy or a fill.
 *  @return whether a finding makes it fail that would not have failed otherwise. */
bool report_work(bool is_copy);
/** A finding that is no kernel's: one line. */
void report_line(enum check, const char *line);

/* finding.c: a finding as one line. */
enum check finding_check(const device_finding *);
const char *finding_name(const device_finding *, bool is_host);
/** @param is_host the address is one of host memory @param words for the allocation, or "" */
void finding_line(const device_finding *, bool is_host, const char *words, char *line, size_t size);
/** The file as the reader would name it: from the working directory, if it lies below. */
const char *shorten(const char *file);

/* memory.c: device memory. */
static inline device_address address_of(const void *pointer)
{
    return (device_address)(uintptr_t)pointer;
}
static inline void *pointer_to(device_address address)
{
    return (void *)(uintptr_t)address;
}
/** Is it an address that only devices use? */
static inline bool is_device_address(const void *pointer)
{
    return address_of(pointer) - DEVICE_BASE < DEVICE_OWN_BYTES;
}
/** Is it one that a device and the host may share? */
static inline bool is_shared_address(const void *pointer)
{
    return address_of(pointer) - DEVICE_BASE - DEVICE_OWN_BYTES < DEVICE_HOST_BYTES;
}
/** Managed memory is the device's, wherever its bytes are. */
bool is_device_memory(const void *pointer);
cudaError_t memory_alloc(void **pointer, size_t bytes);
cudaError_t memory_free(void *pointer);
/** Say what is wrong with freeing this. @return cudaErrorInvalidValue */
cudaError_t memory_bad_free(const void *pointer);

/* shared.c: memory with the same address on both sides. */
enum shared_kind { SHARED_NOT, SHARED_MANAGED, SHARED_PINNED, SHARED_VARIABLE };
/** Zeroed. */
cudaError_t shared_alloc(void **pointer, size_t bytes, enum shared_kind, unsigned flags);
/** @return false when no allocation of that kind starts there. */
bool shared_free(const void *pointer, enum shared_kind);
enum shared_kind shared_kind_of(const void *pointer);
/** Are all those bytes in one allocation? */
bool shared_holds(const void *pointer, size_t bytes);
/** Of the allocation around the pointer. */
unsigned shared_flags(const void *pointer);
/** Tell a device that was just opened. */
void shared_show_all(device *);
void shared_forget_all(void);

/* pinned.c: page-locked host memory. */
bool pinned_contains(const void *pointer);
void pinned_show_all(device *);

/* guard.c: the device's addresses are not the host's. */
void guard_install(void);
/** Is there memory to share with the devices? */
bool guard_has_host_memory(void);
/** Let the host touch the pages of a shared range, or stop it and throw them away. */
bool guard_open(device_address, size_t bytes);
void guard_close(device_address, size_t bytes);

/* count.c: what launches and copies cost. */
/** The device was just opened; it will be closed. */
void count_opened(void);
void count_closing(void);
/** A copy or a fill that the program asked for is done. */
void count_copy(const void *to, const void *from, size_t bytes);
void count_fill(size_t bytes);
void count_allocation(size_t bytes);
void count_free(size_t bytes);
/** Since the program began, as far as somebody asked for it. */
device_counts count_so_far(void);

/* profile_ratio.c: arithmetic. */
void count_add(device_counts *to, const device_counts *from);
/** Modulo 2^64: minus one time subtracts. */
void count_add_times(device_counts *to, const device_counts *from, uint64_t times);

/* profile.c: SOFTGPU_PROFILE. */
bool profile_wanted(void);
/** Take the counts of the device, which will be closed. */
void profile_collect(void);

/* handle.c: streams, events, graphs and pools that are alive. */
struct handle {
    struct handle *next;
};
void handle_add(struct handle **list, struct handle *);
bool handle_remove(struct handle **list, const void *handle);
bool handle_lives(struct handle *const *list, const void *handle);

/* work.c: what a stream is asked to do, at once or as a node of a graph. */
struct launch_work {
    struct kernel *kernel;
    dim3 grid, block;
    size_t shared;
    bool cooperative;
    unsigned char *params; /* laid out as kernel->facts says */
    void **args;           /* where each begins; only in a node */
    uint32_t graph, node;  /* that the device keeps for it; 0: none */
};
struct fill_work {
    struct cudaMemsetParams plane;
    size_t depth, layer_step; /* planes, and bytes from one to the next */
};
struct graph_memory {
    void *pointer;
    size_t bytes;
    unsigned references; /* nodes */
    bool ends;           /* a node frees it, so it goes with the last of them */
};
struct work {
    enum cudaGraphNodeType type;
    int ordinal;  /* the device that was current */
    bool is_late; /* a copy from or to pinned memory, with bytes that late.c keeps for a while */
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
cudaError_t work_run(cudaStream_t, const struct work *);
/** A copy that owns what it points to, or cudaErrorMemoryAllocation. */
cudaError_t work_copy(struct work *to, const struct work *from);
void work_drop(struct work *);

/* launch.c */
cudaError_t launch_run(const struct launch_work *);
/** Have the device keep it: as the next node of *graph, 0 a new one; or in the place of *node. */
cudaError_t launch_keep(const struct launch_work *, uint32_t *graph, uint32_t *node);
/** From what a program says of a kernel node; `params` has room for LAUNCH_PARAMS. */
enum { LAUNCH_PARAMS = 32 << 10 };
cudaError_t launch_make(struct work *, const struct cudaKernelNodeParams *, bool cooperative,
                        unsigned char *params);

/* copy.c: between host and device, in any direction. */
cudaError_t copy_run(const struct cudaMemcpy3DParms *);
cudaError_t copy_check(const struct cudaMemcpy3DParms *);
cudaError_t fill_run(const struct fill_work *);
cudaError_t fill_check(const struct fill_work *);
/** One row. */
struct cudaMemcpy3DParms copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind);
/** For a call of the API that copies; `waits`: until it is done. */
cudaError_t copy_submit(const struct cudaMemcpy3DParms *, cudaStream_t, bool waits);

/* late.c: copies that may still be under way, as far as the program knows. */
/** Submit an asynchronous copy. */
cudaError_t late_copy(cudaStream_t, struct work *);
/** Whatever is on its way to the host is there now. */
void late_arrive(void);
/** The program has waited: for everything, for a stream, for an event. */
void late_waited(void);
void late_waited_for_stream(cudaStream_t);
void late_waited_for_event(cudaEvent_t);
/** Streams wait for each other: who waits for one may have waited for another. */
void late_ordered(void);
/** The number of the last copy. */
unsigned long long late_last(void);
/** Pinned memory is about to be freed: say so if a copy needs it. */
void late_freeing(const void *start);

/* symbol.c */
/** Where part of a variable lies on the current device. */
cudaError_t symbol_locate(const void *symbol, size_t offset, size_t bytes, void **address);

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
    struct clock clock;           /* what it comes after */
    cudaStream_t stream;          /* in which it was last recorded, */
    unsigned long long last_late; /* and after which copy of late.c */
    unsigned long long capture;   /* 0, or the capture in which it was last recorded, */
    cudaGraphNode_t *nodes;       /* and after which nodes */
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
void order_host_waits_for_stream(cudaStream_t);
void order_host_waits_for_event(cudaEvent_t);
void order_host_waits_for_all(void);

/* capture.c: streams that note their work in a graph. */
/** For calls that a capture cannot bear: may fail, and spoils the capture. */
cudaError_t runtime_enter_unless_capturing(void);
/** Is anybody capturing? */
bool capture_any(void);
/** The stream's work goes into a graph: NULL or that capture, spoilt or not. */
struct capture *capture_of(cudaStream_t);
cudaError_t capture_add(struct capture *, cudaStream_t, const struct work *);
cudaError_t capture_spoil(struct capture *, cudaError_t);
cudaGraph_t capture_graph(const struct capture *);
/** Waiting for the device is waiting for captured work: an error. */
cudaError_t capture_check_device(void);
/** What the legacy stream does would wait for a stream that captures: an error. */
cudaError_t capture_check_legacy(void);
cudaError_t capture_record(struct capture *, cudaStream_t, cudaEvent_t);
cudaError_t capture_wait(cudaStream_t, cudaEvent_t);

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
    struct keepsake *keepsakes;
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

/* node.c: what a node does. */
/** Give a node other work of the same kind. */
cudaError_t node_set(cudaGraphNode_t, const struct work *);

/* graph_exec.c: graphs that can run. */
/** Its copy of a node, or NULL. */
cudaGraphNode_t exec_node(cudaGraphExec_t, const struct CUgraphNode_st *origin);
/** Take over what the nodes of another graph do, which must be like the old one. */
cudaError_t graph_update(cudaGraph_t old, cudaGraph_t new, cudaGraphExecUpdateResultInfo *);

/* graph_memory.c: memory that belongs to graphs. */
cudaError_t graph_memory_work(struct work *, size_t bytes);
void graph_memory_undo(struct work *);
cudaError_t graph_memory_end(struct work *, cudaGraph_t, const void *pointer);

/* keepsake.c: objects of the program's that live as long as a graph. */
bool keepsakes_copy(struct keepsake **to, const struct keepsake *from);
void keepsakes_release(struct keepsake **);

/* properties.c: what the device claims to be: compute capability 8.0, small; its size stands in
 * residency.h. */
enum {
    MAX_BLOCK_THREADS = 1024,
    SHARED_DEFAULT = 48 << 10,
    SHARED_OPT_IN = 163 << 10,
    MAX_GRID_X = 0x7fffffff,
    MAX_GRID_YZ = 65535,
    MAX_BLOCK_Z = 64,
    PITCH_ALIGNMENT = 512,
    CUDA_VERSION_NUMBER = 13000,
};

/* occupancy.c */
/** Blocks of `threads` threads and `dynamic_shared` bytes that one multiprocessor can hold. */
int blocks_per_multiprocessor(const struct kernel *, int threads, size_t dynamic_shared);
/** Dynamic shared memory that a launch of this kernel may ask for. */
size_t dynamic_shared_limit(const struct kernel *);

#endif
