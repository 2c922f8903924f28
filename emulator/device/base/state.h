/*
 * state.h: the whole state of a device, for its own files; other code sees device.h.
 *
 * Interface
 *   fail                                 why a call of device.h did
 *   freed_note, freed_find, freed_below  ranges freed not long ago
 *   is_admitted                          memory of the host's
 *   peer_at, device_linked               memory of other devices
 */
#ifndef SOFTGPU_DEVICE_STATE_H
#define SOFTGPU_DEVICE_STATE_H

#include "block.h"
#include "heap.h"

typedef struct pool pool;

/** Memory of this process that kernels may touch at its own address. */
typedef struct admission {
    uint64_t address, bytes;
} admission;

typedef struct texture_slot texture_slot;

/** Where the next module's variable of that name lies. */
typedef struct placement {
    char *name;
    device_address address;
    bool initialise;
} placement;

enum { PEERS = 7 }; /* of a device */

typedef struct finding_entry {
    device_finding finding;
    const function *function;
    uint32_t line;  /**< index into the module's places */
    uint32_t other; /**< of a race: that of the earlier access */
} finding_entry;

struct device {
    device_options options;
    uint8_t *bytes;  /**< device memory; index: address - DEVICE_BASE */
    uint16_t *owned; /**< how many bytes of each 256 belong to an allocation: its first ones */
    uint64_t *initialised; /**< a bit a byte: it is owned, and was written (or nobody checks) */
    heap heap;
    uint64_t kernel_heap,
        kernel_heap_used; /**< bytes that malloc in kernels may hand out in all, and has */
    admission *admitted;
    uint32_t admissions;
    device *peers[PEERS], *guests[PEERS]; /**< whose memory kernels may touch; whose kernels may
                                             touch this one's */
    uint32_t peer_count, guest_count;
    struct touched {
        uint64_t *words; /**< a bit a word of the whole range; NULL: there was no peer yet */
        uint32_t line;   /**< of one such access, as that of an op */
        struct span {
            uint64_t first, end;
        } of[PEERS];         /**< of each peer: no bit is set outside */
    } touched[2];            /**< by the launch that runs: read, written */
    uint64_t received, sent; /**< bytes from and to other devices, so far */
    placement *placed;
    uint32_t placements;
    module **modules;
    uint32_t module_count;
    function **functions; /**< by number */
    uint32_t function_count;
    texture_slot *textures;
    uint32_t texture_count;
    pool *pool;
    launch *in_flight;           /**< run/together.c: it waits for another device's; NULL: none */
    pthread_mutex_t allocations; /**< while a kernel runs: guards heap, freed */
    pthread_mutex_t reports;     /**< guards findings, output */
    finding_entry *findings; /**< those taken, those not yet taken, those of the launch that runs */
    uint32_t finding_count, finding_taken;
    char *output;
    size_t output_bytes, output_taken, output_capacity;
    struct {
        uint64_t offset, bytes;
    } freed[64]; /**< the last ranges freed, for diagnostics */
    uint32_t freed_count;
    uint64_t versions;            /**< modules loaded so far */
    trace *trace;                 /**< NULL: nobody has asked for one */
    counting *counting;           /**< NULL: nobody has counted yet */
    global_shadow *global_shadow; /**< NULL: no launch has needed it */
    work_order *order;            /**< NULL: it has been nobody's turn */
    struct kept_graph *graphs;    /**< graph.c: by number, from 1 on */
    uint32_t graph_count, graph_nodes;
    uint64_t graph_param_bytes;
    uint32_t last_graph, last_node; /**< that the latest launch was of; 0: of none */
    char error[512];
    uint64_t seed; /**< of the order in which blocks and warps begin; 0: that of their numbers */
    volatile bool interrupted; /* launches end */
};

/** Set device_error(). @return the status. */
device_status fail(device *, device_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The range is freed now. */
void freed_note(device *, uint64_t offset, uint64_t bytes);
/** It was never anybody's. */
void freed_forget_last(device *);
/** A range freed not long ago that holds `offset`. */
bool freed_find(const device *, uint64_t offset, uint64_t *base, uint64_t *bytes);
/** The one that ended last before `offset`. */
bool freed_below(const device *, uint64_t offset, uint64_t *base, uint64_t *bytes);

/** Is it memory of the host's that kernels may touch, outside the range? */
bool is_admitted(const device *, uint64_t address, uint32_t bytes);

/** The peer in whose part of the range that lies, or NULL. */
device *peer_at(const device *, uint64_t offset);
/** So many bytes went from one device to another. */
void device_linked(device *to, device *from, uint64_t bytes);

#endif
