/*
 * runtime.h: the base of softgpu's CUDA runtime: the devices and the lock around them, errors,
 * findings, handles. Each room has a header of its own, with its functions under the names of their
 * files; the CUDA API itself is in the toolkit's header, so that names, types and ABI are the
 * compiler's to check.
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
 * own faults, as with CUDA_LAUNCH_BLOCKING=1. Only what copies bring to the host may be late, and a
 * launch that waits for one of another device: whatever enters next, but a launch there, ends it.
 */
#ifndef SOFTGPU_RUNTIME_H
#define SOFTGPU_RUNTIME_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "device/device.h"
#include "runtime/caller/caller.h"
#include "runtime/finding/finding.h"
#include "runtime/options/options.h"

/** Also export `name` for programs compiled with --default-stream per-thread. */
#define PER_THREAD_STREAM(name) extern __typeof__(name) name##_ptsz __attribute__((alias(#name)))
#define PER_THREAD_MEMORY(name) extern __typeof__(name) name##_ptds __attribute__((alias(#name)))

/* context.c: the devices, the lock around them, and the faults that end them. */
extern struct runtime {
    device *device; /* of the thread that holds the lock; NULL until it is needed */
    int ordinal;    /* its number */
    pid_t owner;    /* the process that opened the devices; a child cannot use them */
    struct context {
        device *device;
        cudaError_t sticky; /* the fault that every later call reports, or cudaSuccess */
        bool in_flight;     /* its last launch waits for one of another device */
        unsigned opened;    /* how often */
        unsigned peers;     /* a bit for each device whose memory its kernels may touch */
    } context[MAX_DEVICES];
} runtime;
cudaError_t runtime_enter(void);
cudaError_t runtime_leave(cudaError_t);
/** The same for a launch, which leaves those of other devices in flight. */
cudaError_t runtime_enter_launch(void);
/** A launch of the current device has been run, with what it left. */
cudaError_t runtime_launched(device_status);
void runtime_lock(void);
/** Take the lock only if it is free: for the signal handler. */
bool runtime_try_lock(void);
void runtime_unlock(void);
/** A device, opened if it is not, without making it the current one; NULL: it cannot be. */
device *runtime_open(int ordinal);
/** Make another device the current one, under the lock. */
void runtime_look_at(int ordinal);
/** The current device has failed for good. @return the error */
cudaError_t runtime_fault(cudaError_t);
/** May the current device be closed? Not after a fault, nor by a child. */
bool runtime_may_close(void);
void runtime_close(void);
/** The current device has just opened: what api/device.c does then. */
void runtime_opened(void);
/** Run a callback of the program's without the lock; it may not use CUDA. */
void runtime_call_back(void (*function)(void *), void *data);
/** The device of this thread. */
int device_current(void);
void device_choose(int ordinal);
/** The device in whose memory an address lies, -1: none. */
int device_of(const void *pointer);
/** The same; NULL when it is not open either. */
device *device_at(const void *pointer);

/* device_select.c: which device a thread uses. */
bool device_exists(int ordinal);

/* error.c: the last error of a thread, and what a device status means to CUDA. */
cudaError_t error_keep(cudaError_t);
cudaError_t error_from_device(device_status);
/** The error that a failed launch leaves for good; cudaSuccess when the device survives it. */
cudaError_t error_sticky(device_status);
/** Remember why a launch is refused (softgpu_refusal). @return the error */
cudaError_t error_refuse(cudaError_t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** A launch from <<<>>>, which returns nothing, failed: from now on the program should ask. */
void error_expect_question(cudaError_t, const char *kernel);
/** softgpu has named the mistake of the call that runs: nobody need be told of its error as well.
 */
void error_is_said(void);
/** Name the failures since that the program has not asked about. */
void error_report_unasked(void);

/* allocations.c: where the program made its allocations, and where it freed them. */
struct allocation {
    struct allocation *next, *freed_after;
    device_address base; /* or a host address, of pinned memory */
    size_t bytes;
    bool is_freed, pinned_host, lent; /* lent: somebody else made it, and named it here */
    bool of_graph, idle; /* a graph's; idle: the program has freed it, until the graph runs */
    char name[64];       /* what a tool calls it */
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
/** A finding of host code. */
void report_host(enum check, device_finding_kind, device_relation, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Where memory lies is seen from its address. */
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

/* guard.c: the device's addresses are not the host's. */
void guard_install(void);
/** Is there memory to share with the devices? */
bool guard_has_host_memory(void);
/** Let the host touch the pages of a shared range, or stop it and throw them away. */
bool guard_open(device_address, size_t bytes);
void guard_close(device_address, size_t bytes);

/* handle.c: streams, events, graphs and pools that are alive. */
struct handle {
    struct handle *next;
};
void handle_add(struct handle **list, struct handle *);
bool handle_remove(struct handle **list, const void *handle);
bool handle_lives(struct handle *const *list, const void *handle);

#endif
