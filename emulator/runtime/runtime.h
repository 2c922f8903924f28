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
 * own faults, as with CUDA_LAUNCH_BLOCKING=1.
 */
#ifndef SOFTGPU_RUNTIME_H
#define SOFTGPU_RUNTIME_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../device/device.h"

/** Also export `name` for programs compiled with --default-stream per-thread. */
#define PER_THREAD_STREAM(name) extern __typeof__(name) name##_ptsz __attribute__((alias(#name)))
#define PER_THREAD_MEMORY(name) extern __typeof__(name) name##_ptds __attribute__((alias(#name)))

/* context.c: the one device, its lock, and the fault that ends it. */
extern struct runtime {
    device *device;     /* NULL until the first call that needs it */
    cudaError_t sticky; /* the fault that every later call reports, or cudaSuccess */
    pid_t owner;        /* the process that opened the device; a child cannot use it */
} runtime;
cudaError_t runtime_enter(void);
cudaError_t runtime_leave(cudaError_t);
void runtime_lock(void);
/** Take the lock only if it is free: for the signal handler. */
bool runtime_try_lock(void);
void runtime_unlock(void);

/* options.c: the environment. */
uint64_t option_memory_bytes(void);
device_options options_read(void);

/* error.c: the last error of a thread, and what a device status means to CUDA. */
cudaError_t error_keep(cudaError_t);
cudaError_t error_from_device(device_status);
/** The error that a failed launch leaves for good; cudaSuccess when the device survives it. */
cudaError_t error_sticky(device_status, bool assertion);

/* fatbin.c: the PTX inside a fat binary. */
const char *fatbin_ptx(const void *wrapper, size_t *bytes);
const char *fatbin_find(const unsigned char *data, size_t room, size_t *bytes);

/* module.c: what the program registered: modules, kernels, variables. */
struct module;
struct kernel {
    struct kernel *next;
    struct module *module;
    const void *host;  /* address of the host stub: what the program calls the kernel */
    const char *name;  /* mangled */
    bool found;        /* id and facts hold */
    uint32_t id;       /* the device's number for it */
    int dynamic_limit; /* cudaFuncAttributeMaxDynamicSharedMemorySize; -1: the default */
    device_function_facts facts;
};
struct variable {
    struct variable *next;
    struct module *module;
    const void *host; /* the shadow variable: what the program calls the symbol */
    const char *name;
    size_t bytes;
    void **managed; /* of a __managed__ variable: where the host keeps its address */
};
/** The kernel that a host stub or a cudaKernel_t names, known to the device. */
cudaError_t kernel_find(const void *name, struct kernel **);
cudaError_t variable_find(const void *symbol, struct variable **);
cudaError_t variable_address(const struct variable *, device_address *);
/** The device was closed: nothing is loaded any more. */
void modules_forget(void);

/* report.c: findings to stderr or the hook, printf output to stdout. */
/** @return whether one of the findings was a failed assert. */
bool report_launch(void);

/* memory.c: device memory. */
static inline device_address address_of(const void *pointer)
{
    return (device_address)(uintptr_t)pointer;
}
static inline void *pointer_to(device_address address)
{
    return (void *)(uintptr_t)address;
}
static inline bool is_device_address(const void *pointer)
{
    return address_of(pointer) - DEVICE_BASE < DEVICE_BYTES;
}
cudaError_t memory_alloc(void **pointer, size_t bytes);
cudaError_t memory_free(void *pointer);

/* count.c: what launches and copies cost. */
/** The device was just opened; it will be closed. */
void count_opened(void);
void count_closing(void);
/** A copy or a fill that the program asked for is done. */
void count_copy(const void *to, const void *from, size_t bytes);
void count_fill(size_t bytes);

/* copy.c: between host and device, in any direction; ranges may be managed. */
cudaError_t copy_bytes(void *to, const void *from, size_t bytes, enum cudaMemcpyKind);

/* managed.c: memory with the same address on both sides, moved when the other side needs it. */
cudaError_t managed_alloc(void **pointer, size_t bytes, bool pinned_host);
/** Show the host what an existing device range holds (a __managed__ variable). */
cudaError_t managed_adopt(device_address, size_t bytes);
/** Before the device reads a range: send what the host wrote. */
void managed_push(device_address, size_t bytes);
/** After the device wrote a range: show it to the host. */
void managed_pull(device_address, size_t bytes);
void managed_push_all(void);
void managed_pull_all(void);
enum managed_kind { MANAGED_NOT, MANAGED_MEMORY, MANAGED_PINNED_HOST };
enum managed_kind managed_kind_of(const void *pointer);
/** @return false when `pointer` is not the start of a managed allocation. */
bool managed_forget(void *pointer);
void managed_forget_all(void);

/* pinned.c: page-locked host memory. */
bool pinned_contains(const void *pointer);

/* guard.c: the device's addresses are not the host's. */
void guard_install(void);
/** Let the host touch the pages of a device range, or stop it. */
bool guard_open(device_address, size_t bytes);
void guard_close(device_address, size_t bytes);

/* handle.c: streams, events and pools that are alive. */
struct handle {
    struct handle *next;
};
void handle_add(struct handle **list, struct handle *);
bool handle_remove(struct handle **list, const void *handle);
bool handle_lives(struct handle *const *list, const void *handle);

/* stream.c */
bool stream_is_valid(cudaStream_t);

/* properties.c: what the device claims to be: compute capability 8.0, small. */
enum {
    WARP_SIZE = 32,
    MULTIPROCESSORS = 8,
    MAX_BLOCK_THREADS = 1024,
    MAX_SM_THREADS = 2048,
    MAX_SM_BLOCKS = 32,
    SM_REGISTERS = 65536,
    SHARED_DEFAULT = 48 << 10,
    SHARED_OPT_IN = 163 << 10,
    SHARED_PER_SM = 164 << 10,
    SHARED_RESERVED = 1 << 10, /* of each block, by the system */
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
