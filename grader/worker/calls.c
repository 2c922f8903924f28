/*
 * calls.c: a library's calls of the CUDA runtime, on their way. They come here, because a program's
 * own symbols go before those of the libraries that it is linked with, and go on to the runtime.
 * What they do is counted, for the promises of a contract (correctness/promises.c), and one of them
 * may be refused, as a runtime without memory would (correctness/failures.c). runtime_calls.def has
 * them all. On softgpu the device itself counts copies and memory, and the grader trusts its
 * counts.
 */
#ifdef WITH_CUDA
#include "worker.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static bool counting;
static wire_copies copies;
static wire_calls calls;
static uint32_t refuse_at;           /* the number of the call that is to be refused; 0: none */
static bool without_kernels;         /* launches do nothing */
static cudaStream_t own;             /* that the library is given; NULL: none */
static int last_error;               /* of the refused call, until cudaGetLastError takes it */
static const char *wrong_way;        /* what is wrong with the kind of a copy, or NULL */
static bool pending, pending_legacy; /* work that was started, and nobody has waited for */

void calls_start(const wire_call *call, void *stream)
{
    memset(&copies, 0, sizeof copies);
    memset(&calls, 0, sizeof calls);
    refuse_at = call->refuse_at;
    without_kernels = call->without_kernels;
    own = stream;
    last_error = cudaSuccess;
    wrong_way = NULL;
    pending = pending_legacy = false;
    counting = true;
}

bool calls_refuse(unsigned number)
{
    const bool refused = *calls.refused;
    *calls.refused = 0;
    refuse_at = number ? calls.count + number : 0;
    return refused;
}

void calls_stop(wire_reply *reply)
{
    counting = false;
    calls.pending = pending || pending_legacy;
    reply->copies = copies;
    reply->calls = calls;
}

/* ---- what a call does, by its arguments ------------------------------------------------------ */

enum {
    DID_WAIT = 1 << DEED_WAIT,
    DID_COPY = 1 << DEED_COPY,
    DID_ALLOCATE = 1 << DEED_ALLOCATE,
    DID_ALLOCATE_ELSEWHERE = 1 << DEED_ALLOCATE_ELSEWHERE,
    DID_FREE = 1 << DEED_FREE,
    DID_LAUNCH = 1 << DEED_LAUNCH,
    DID_MAKE = 1 << DEED_MAKE,
    DID_END = 1 << DEED_END,
    DID_ASTRAY = 1 << DEED_ASTRAY,
    DID_LEGACY = 1 << DEED_LEGACY,
    DID_NOTHING = 1 << DEEDS, /* that is refused */
    DID_ORDER = 2 << DEEDS,   /* a stream waits for another, or is waited for */
    DID_ASK = 4 << DEEDS,     /* for what a device may lack */
};

typedef enum side { DEVICE_SIDE, PAGEABLE_SIDE, PINNED_SIDE } side;

static side side_of(const void *pointer)
{
    struct cudaPointerAttributes a;
    if (!pointer || cudaPointerGetAttributes(&a, pointer) != cudaSuccess) return PAGEABLE_SIDE;
    if (a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged) return DEVICE_SIDE;
    return a.type == cudaMemoryTypeHost ? PINNED_SIDE : PAGEABLE_SIDE;
}

const char *calls_wrong_way(void)
{
    return wrong_way ? wrong_way : "";
}

static unsigned copies_between(const void *to, const void *from, size_t bytes,
                               enum cudaMemcpyKind kind)
{
    if (!counting || bytes == 0) return 0;
    const side a = side_of(to), b = side_of(from);
    if ((a == DEVICE_SIDE) == (b == DEVICE_SIDE)) return 0;
    if (a == DEVICE_SIDE && kind == cudaMemcpyDeviceToHost)
        wrong_way = "; a copy to the device has the kind cudaMemcpyDeviceToHost";
    if (b == DEVICE_SIDE && kind == cudaMemcpyHostToDevice)
        wrong_way = "; a copy to the host has the kind cudaMemcpyHostToDevice";
    copies.count++;
    copies.pinned += a == PINNED_SIDE || b == PINNED_SIDE;
    copies.bytes += bytes;
    return DID_COPY;
}

static unsigned waits_for_all(void)
{
    pending = pending_legacy = false;
    calls.waited = true;
    return DID_WAIT;
}

/* A stream that does not block is none of its business. */
static unsigned waits_for_legacy(void)
{
    pending_legacy = false;
    return DID_WAIT | DID_LEGACY;
}

static unsigned starts_legacy(void)
{
    pending_legacy = true;
    return DID_LEGACY;
}

static unsigned starts(cudaStream_t on)
{
    if (!on) return starts_legacy() | (own ? DID_ASTRAY : 0);
    pending = true;
    return 0;
}

/* Of 0 bytes there is nothing to be freed. */
static unsigned allocates(size_t bytes)
{
    return bytes ? DID_ALLOCATE | DID_ALLOCATE_ELSEWHERE : 0;
}

static unsigned allocates_on(size_t bytes, cudaStream_t on)
{
    return on == own ? allocates(bytes) & DID_ALLOCATE : allocates(bytes);
}

/* ---- counted, and refused -------------------------------------------------------------------- */

static int refuse(const char *name, unsigned deeds)
{
    last_error = deeds & (DID_ALLOCATE | DID_MAKE) ? cudaErrorMemoryAllocation
                 : deeds & DID_ASK                 ? cudaErrorNotSupported
                                                   : cudaErrorInvalidValue;
    if (deeds & DID_LAUNCH) without_kernels = true; /* those that follow had to find its results */
    snprintf(calls.refused, sizeof calls.refused, "%s", name + strspn(name, "_"));
    snprintf(calls.refusal, sizeof calls.refusal, "%s", cudaGetErrorName((cudaError_t)last_error));
    return last_error;
}

static void count(const char *name, unsigned deeds)
{
    for (int i = 0; i < DEEDS; i++) {
        if (!(deeds & 1u << i)) continue;
        if (!calls.deeds[i].count++) snprintf(calls.deeds[i].first, DEED_NAME, "%s", name);
    }
    if (deeds & DID_END) calls.left--;
}

/* @return the error that the call shall return; 0: it goes on to the runtime */
static int enter(const char *name, unsigned deeds)
{
    if (!counting) return cudaSuccess;
    if (!(deeds & (DID_FREE | DID_END | DID_NOTHING)) &&
        __atomic_add_fetch(&calls.count, 1, __ATOMIC_RELAXED) == refuse_at)
        return refuse(name, deeds);
    count(name, deeds);
    return cudaSuccess;
}

/* ---- the runtime's functions of these names -------------------------------------------------- */

#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name)

/* On softgpu, where the device knows what is kept, a tail call leaves no frame behind: its findings
 * name the line of the library. */
#ifdef WITH_SOFTGPU
#define ON_ITS_WAY(deeds, call) ((void)(deeds), call)
#else
#define ON_ITS_WAY(deeds, call) keep(deeds, call)
static cudaError_t keep(unsigned deeds, cudaError_t error)
{
    if (!counting || error) return error;
    if (deeds & DID_ALLOCATE) copies.kept++;
    if (deeds & DID_FREE) copies.kept--;
    return error;
}
#endif

cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);

static cudaError_t count_made(cudaError_t error)
{
    calls.left += counting && !error;
    return error;
}

/* A wait that is refused has waited: the work failed. Streams that are refused their order keep it:
 * else a race would hide the error. */
#define CALL(name, does, parameters, arguments)                                                    \
    cudaError_t name parameters                                                                    \
    {                                                                                              \
        NEXT(name);                                                                                \
        const unsigned deeds = does;                                                               \
        const int refused = enter(#name, deeds);                                                   \
        if (refused && ((deeds & ~DID_LEGACY) == DID_WAIT || deeds & DID_ORDER)) next arguments;   \
        if (refused) return (cudaError_t)refused;                                                  \
        if (without_kernels && deeds & DID_LAUNCH) return cudaSuccess;                             \
        if (deeds & DID_MAKE) return count_made(next arguments);                                   \
        return ON_ITS_WAY(deeds, next arguments);                                                  \
    }
#include "runtime_calls.def"

#ifndef WITH_PYTHON
/* The runtime has threads of its own. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    NEXT(pthread_create);
    if (!code_calls_from(__builtin_return_address(0)) || !enter("pthread_create", 0))
        return next(thread, attributes, run, argument);
    last_error = cudaSuccess;
    snprintf(calls.refusal, sizeof calls.refusal, "EAGAIN");
    return EAGAIN;
}
#endif

static cudaError_t take_last(void)
{
    const int error = last_error;
    last_error = cudaSuccess;
    return (cudaError_t)error;
}

cudaError_t cudaGetLastError(void)
{
    NEXT(cudaGetLastError);
    const cudaError_t error = next(); /* there is one last error, and this call clears it */
    return last_error ? take_last() : error;
}

cudaError_t cudaPeekAtLastError(void)
{
    NEXT(cudaPeekAtLastError);
    return last_error ? (cudaError_t)last_error : next();
}
#endif
