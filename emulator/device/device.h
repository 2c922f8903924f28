/*
 * device.h: the narrow waist of softgpu. Everything that the CUDA runtime (emulator/runtime) asks
 * of the device (emulator/device) goes through this page: memory, modules, launches, findings.
 *
 * Interface
 *   open     device_open, device_close
 *   memory   device_alloc, device_lend, device_limit_heap, device_free, device_find, device_write,
 * device_read, device_copy, device_copy_peer, device_peer, device_fill, device_forget,
 * device_touch host
 * device_share, device_unshare, device_admit, device_dismiss, device_place texture
 * device_texture_add, device_texture_remove modules  device_load, device_unload, device_function,
 * device_function_info, device_symbol order    device_take_turn, device_settle run device_launch,
 * device_finish, device_shuffle, device_graph_add, device_graph_set, device_graph_run,
 * device_graph_free, device_interrupt (from its own process) report   device_take_finding,
 * device_annotate, device_take_output, device_error count    device_count, device_count_total,
 * device_count_kernel, device_count_instruction, device_count_launch
 *
 * All arguments are plain data, without pointers into the other side. No callback, no shared
 * global. So the two sides can live in two processes: emulator/remote/client.c is this page for a
 * device elsewhere. A device address is a number, never a host pointer: the runtime keeps what
 * begins at DEVICE_BASE unmapped in the host program, where to dereference one faults.
 *
 * Caller's duties: one thread at a time inside the device (the runtime holds a lock).
 */
#ifndef SOFTGPU_DEVICE_H
#define SOFTGPU_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "counts.h"
#include "finding.h"
#include "kernel.h"
#include "status.h"
#include "texture.h"

#ifndef DEVICE_BASE                          /* a sanitizer may want this range for itself */
#define DEVICE_BASE UINT64_C(0x500000000000) /* first device address */
#endif
#define DEVICE_BYTES (UINT64_C(1) << 36) /* size of the device's address range: 64 GiB */

/* Device memory fills the range but for its last part, where the host's own memory appears that
 * kernels may touch: the same address on both sides, the same bytes. Several devices divide the
 * first part among them. */
#define DEVICE_HOST_BYTES (UINT64_C(1) << 33)
#define DEVICE_OWN_BYTES  (DEVICE_BYTES - DEVICE_HOST_BYTES)
#define DEVICE_RESIDENT   1024 /* blocks of a cooperative grid */

typedef struct device device;

/** How a device is made. Zero in a field means its default. */
typedef struct device_options {
    uint64_t memory_bytes; /**< what cudaMalloc may hand out in all; default 8 GiB */
    uint64_t budget;       /**< warp instructions that one warp may execute in one launch */
    uint32_t threads;      /**< host threads that run blocks; default: the cores of the machine */
    uint32_t checks;       /**< bit set of device_check; 0: whatever is wrong; or ..._NONE */
    uint64_t first_byte, range_bytes; /**< its part of the range of addresses; default: all of
                                         DEVICE_OWN_BYTES. Both multiples of 1 MiB */
    uint64_t host_memory; /**< where this process maps the DEVICE_HOST_BYTES to share; 0: none */
} device_options;

typedef enum device_check {
    DEVICE_CHECK_UNINITIALISED = 1, /* reads of memory nothing has written */
    DEVICE_CHECK_RACES = 2,         /* unordered accesses, to shared or global memory */
    DEVICE_CHECK_LANES = 4,         /* warp operations with lanes that do not take part */
    DEVICE_CHECK_BARRIERS = 8,      /* barriers that a block waits at in different places */
    DEVICE_CHECK_RETURNS = 16,      /* threads that return before a barrier: legal, so off in 0 */
    DEVICE_CHECK_NONE = 1u << 31,
} device_check;

/** @return a device, or NULL when its address range cannot be reserved. */
device *device_open(const device_options *options);
void device_close(device *);

/** @return DEVICE_OUT_OF_MEMORY, and *address is untouched, when it does not fit. 0 bytes is legal
 *  and gives a unique address, a multiple of 256. Fresh memory counts as uninitialised. */
device_status device_alloc(device *, uint64_t bytes, device_address *address);
/** The same, for who gives all of it back before the next lot: the same sizes, in the same order,
 *  then get the same addresses. */
device_status device_lend(device *, uint64_t bytes, device_address *address);
/** What malloc in kernels may hand out in all; default 8 MiB. Beyond, it gives NULL. */
device_status device_limit_heap(device *, uint64_t bytes);
device_status device_free(device *, device_address);
/** Of memory that no program knew of: who reads there later has not read what was freed. */
device_status device_free_unused(device *, device_address);
/** The live allocation that holds `address`: its base and size. */
device_status device_find(device *, device_address address, device_address *base, uint64_t *bytes);
/** Bytes free and in all. */
void device_memory(device *, uint64_t *free_bytes, uint64_t *total_bytes);

device_status device_write(device *, device_address to, const void *from, uint64_t bytes);
device_status device_read(device *, void *to, device_address from, uint64_t bytes);
device_status device_copy(device *, device_address to, device_address from, uint64_t bytes);
/** From another device. What comes from there counts as written. */
device_status device_copy_peer(device *, device_address to, device *source, device_address from,
                               uint64_t bytes);
/** Kernels may touch another device's memory, at its own address; and no longer. Both are of one
 *  process. */
device_status device_peer(device *, device *peer, int on);
/** Repeat an element of `width` (1, 2 or 4) bytes `count` times. */
device_status device_fill(device *, device_address to, uint32_t value, uint32_t width,
                          uint64_t count);
/** Count the range as uninitialised again; its bytes stay. */
device_status device_forget(device *, device_address, uint64_t bytes);
typedef enum { DEVICE_READS, DEVICE_WRITES, DEVICE_ALLOCATES, DEVICE_FREES } device_use;
/** That happens to the range now, in the turn of the work that asks for this. */
device_status device_touch(device *, device_address, uint64_t bytes, device_use);

/** Bytes of host_memory at that device address become an allocation, which counts as written; and
 *  no longer. */
device_status device_share(device *, device_address, uint64_t bytes);
device_status device_unshare(device *, device_address);
/** Let kernels touch memory of this very process, outside the range of device addresses: what a
 *  program registers; and no longer. The only place where the device needs the host's pointers:
 *  DEVICE_UNSUPPORTED where it is in another process. */
device_status device_admit(device *, uint64_t host_address, uint64_t bytes);
device_status device_dismiss(device *, uint64_t host_address);
/** The next module to be loaded finds its variable `name` in shared memory at that address, and
 *  gives it its first value if `initialise`. */
void device_place(device *, const char *name, device_address, int initialise);

/** @return DEVICE_BAD_ADDRESS for what no texture can be. `*object` is what kernels are given. */
device_status device_texture_add(device *, const device_texture *, uint64_t *object);
device_status device_texture_remove(device *, uint64_t object);

/** Parse and decode PTX text. On DEVICE_BAD_MODULE nothing is loaded. An unknown opcode is no error
 *  here: it becomes DEVICE_UNSUPPORTED when a launch reaches the kernel. */
device_status device_load(device *, const char *ptx, size_t bytes, uint32_t *module);
/** Bytes of the variables that loaded modules bring along: memory that nobody allocates. */
uint64_t device_module_bytes(const device *);
device_status device_unload(device *, uint32_t module);
device_status device_function(device *, uint32_t module, const char *name, uint32_t *function);
device_status device_function_info(device *, uint32_t function, device_function_facts *);
/** A __device__ or __constant__ variable of a module. */
device_status device_symbol(device *, uint32_t module, const char *name, device_address *,
                            uint64_t *bytes);

/** What is asked for from here on is that work's, until it is the next one's turn. NULL: nobody's,
 *  which is in no order with anything. Works that nothing orders may overlap (counts.h: span), and
 *  race: FINDING_STREAM_RACE. */
void device_take_turn(device *, const device_turn *);
/** All works so far are over before any that follow. */
void device_settle(device *);

/** Run a whole grid; return when it is done. Findings and printf output are queued.
 *  @return DEVICE_UNFINISHED: it waits for what a kernel of another device will write. Then nothing
 *  but launches on other devices may follow, until device_finish */
device_status device_launch(device *, const device_launch_request *);
/** Run the launch that is unfinished to its end, together with those of others. @return as
 *  device_launch; DEVICE_OK: there is none */
device_status device_finish(device *);

/** In launches from here on blocks, and the warps of a block, begin in an order that the seed
 * draws, and asynchronous copies move their bytes at once. 0: in that of their numbers, and as late
 * as the program allows. */
void device_shuffle(device *, uint64_t seed);

/** Keep a launch, as the next node of a graph; `*graph` 0: of a new one. Graphs and nodes have
 *  numbers from 1 on. */
device_status device_graph_add(device *, uint32_t *graph, const device_launch_request *,
                               uint32_t *node);
/** Keep another launch in its place. */
device_status device_graph_set(device *, uint32_t graph, uint32_t node,
                               const device_launch_request *);
/** Launch a node. Nodes that run in the order of their numbers, with no other launch in between,
 *  are one run of the graph (counts.h: host_launches). */
device_status device_graph_run(device *, uint32_t graph, uint32_t node);
device_status device_graph_free(device *, uint32_t graph);

/** A launch ends at once from now on, with a finding of where it was. For signal handlers. */
void device_interrupt(device *);

/** The next queued finding. @return 0 when there is none. */
int device_take_finding(device *, device_finding *);
/** What the runtime knows of the finding that was taken last: that the address is one of host
 *  memory, where the allocation was made. @return whether somebody else reads findings, from the
 *  device itself, so that the runtime need not tell them */
int device_annotate(device *, int is_host, const char *words);
/** Move queued printf output, at most `bytes`. @return bytes moved. */
size_t device_take_output(device *, char *to, size_t bytes);
/** Text of the last failure of this device, "" if none. */
const char *device_error(device *);

/** Count the launches from here on, or stop; what was counted so far stays. Costs speed. */
void device_count(device *, int on);
/** Sums over all counted launches; copies are for who asks for them to count. */
void device_count_total(device *, device_counts *);
/** The counts of the kernel of that number, in the order of their first counted launches.
 *  @return 0 when there is none. */
int device_count_kernel(device *, uint32_t kernel, char name[128], device_counts *);
/** The statement of that number of the kernel of that number, in the order of the program; some
 *  were never executed. @return 0 when there is none. */
int device_count_instruction(device *, uint32_t kernel, uint32_t number, device_instruction *);
/** The counted launch of that number, of the first 10000. @return 0 when there is none. */
int device_count_launch(device *, uint32_t number, device_counted_launch *);

#endif
