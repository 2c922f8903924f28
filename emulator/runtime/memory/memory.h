/*
 * memory.h: memory: of the devices, of the host, of both; and moving what is in it.
 */
#ifndef SOFTGPU_RUNTIME_MEMORY_H
#define SOFTGPU_RUNTIME_MEMORY_H

#include "runtime/core/runtime.h"

/* memory.c */
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
cudaError_t pinned_register(void *start, size_t bytes, unsigned flags);
/** @return whether memory that was registered from `start` on was found and let go. */
bool pinned_unregister(const void *start);
/** Of registered memory. @return false: it is not registered */
bool pinned_flags(const void *pointer, unsigned *flags);

/* copy.c: between host and device, in any direction. */
cudaError_t copy_run(const struct cudaMemcpy3DParms *);
cudaError_t copy_check(const struct cudaMemcpy3DParms *);
size_t copy_bytes(const struct cudaMemcpy3DParms *);
/** One row. */
struct cudaMemcpy3DParms copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind);

/* fill.c */
struct fill_work {
    struct cudaMemsetParams plane;
    size_t depth, layer_step; /* planes, and bytes from one to the next */
};
cudaError_t fill_run(const struct fill_work *);
cudaError_t fill_check(const struct fill_work *);

#endif
