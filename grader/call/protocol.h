/*
 * protocol.h: the messages between the trusted grader and the untrusted worker.
 *
 * The channel is a socket pair; each message is one of the structs below. Buffers travel
 * separately, in one shared memory file. Per call:
 *
 *   grader -> worker   wire_call with its buffers laid out in shared memory   (WIRE_PREPARE)
 *   worker -> grader   wire_reply: buffers are allocated and copied in
 *   grader -> worker   WIRE_RUN                    the grader's own clock runs during this exchange
 *   worker -> grader   wire_reply: the call has returned and the whole device is idle
 *   grader -> worker   WIRE_FETCH
 *   worker -> grader   wire_reply: every buffer, canaries included, is back in shared memory
 *
 * The worker knows neither which buffers are outputs nor what they should hold. On softgpu the
 * grader itself keeps the buffers on the device (device_process.c), and the worker only gets their
 * addresses.
 */
#ifndef GRADER_PROTOCOL_H
#define GRADER_PROTOCOL_H

#include "supervisor.h"

#include <stdint.h>

#define WIRE_CONTROL_FD   3 /* the socket, in the worker */
#define WIRE_MEMORY_FD    4 /* the shared memory, in the worker */
#define WIRE_DEVICE_FD    5 /* the socket to softgpu's device, in a worker that has one */
#define WIRE_FILE_FD      6 /* the file of WIRE_FILE arguments, in the worker, to be read only */
#define WIRE_FILE_PATH    "/proc/self/fd/6"
#define WIRE_UNREADABLE   2 /* in the place of a seed, which is odd: reads fail with EIO */
#define WIRE_ARGUMENTS    64
#define WIRE_HANDLES      32
#define WIRE_DEVICES      "SOFTGPU_DEVICES" /* of the environment: how many a worker has, up to */
#define WIRE_DEVICES_MOST 8                 /* ... so many */
#define WIRE_FINDINGS     8
#define WIRE_PAGE         4096 /* buffers start at multiples of this in the shared memory */

typedef enum wire_verb { WIRE_PREPARE = 1, WIRE_RUN, WIRE_FETCH } wire_verb;

typedef enum wire_kind {
    WIRE_BUFFER,     /* pointer to `bytes` of memory in `space` */
    WIRE_ALIAS,      /* the same pointer as argument number `value.i` */
    WIRE_I32,        /* int in value.i */
    WIRE_U64,        /* size_t or unsigned long long in value.u */
    WIRE_F32,        /* float in value.f */
    WIRE_F64,        /* double in value.f */
    WIRE_DIM3,       /* dim3 by value in value.dim */
    WIRE_POINTER,    /* NULL, or handle number value.i (0 .. WIRE_HANDLES-1) */
    WIRE_HANDLE_OUT, /* pointer to handle number value.i, which the call fills in */
    WIRE_STREAM,     /* the stream of this worker */
    WIRE_FUNCTION,   /* the worker's own function named in `name` (worker/functions.c) */
    WIRE_NULL,
    WIRE_FILE, /* path of a file; value.u not 0: seed of what befalls its reads (worker/reads.c) */
} wire_kind;

typedef enum wire_space { WIRE_HOST, WIRE_DEVICE } wire_space;

typedef struct wire_argument {
    uint32_t kind, space;
    uint64_t at;            /* offset of the buffer's image in shared memory */
    uint64_t before, after; /* canary bytes around the data; the image is before + bytes + after */
    uint64_t bytes;         /* of the data */
    uint64_t address;       /* of the data on softgpu's device, where the grader put it; or 0 */
    uint32_t against_guard; /* host only: the last byte touches an unmapped page */
    uint32_t pinned;        /* host only: page-locked, for copies that nobody waits for */
    uint32_t opaque;        /* host only: the call gets a token that worker/context.c knows */
    uint32_t addresses;     /* in shared memory 8 bytes each, the numbers of arguments; there their
                               addresses */
    uint32_t device;        /* on which the buffer lies, or the stream is */
    uint32_t beside;        /* not handed to the call */
    char name[32];
    char numpy[4]; /* a buffer's type, as NumPy writes it: "<f4" */
    union {
        int64_t i;
        uint64_t u;
        double f;
        uint32_t dim[3];
    } value;
} wire_argument;

typedef enum wire_return {
    WIRE_RETURN_VOID,
    WIRE_RETURN_CUDA, /* cudaError_t */
    WIRE_RETURN_I32,  /* int, or an enum; the device may report an error, too */
    WIRE_RETURN_F32,
    WIRE_RETURN_F64,
    WIRE_RETURN_HANDLE, /* a pointer, kept as handle number return_handle */
} wire_return;

typedef struct wire_call {
    uint64_t nonce; /* the reply repeats it: nobody can answer what was not asked yet */
    uint32_t verb;
    uint32_t returns, return_handle;
    int32_t wanted; /* of WIRE_RETURN_CUDA: the error that it must return; 0: none */
    uint32_t count;
    uint32_t relocate;  /* allocate at other addresses than the call before */
    uint32_t timed;     /* flush caches first */
    uint32_t from_idle; /* ... and wait until the device has */
    uint32_t refuse_at; /* the number of the library's call of the runtime that fails; 0: none */
    uint32_t without_kernels; /* launches do nothing */
    uint32_t repeats; /* calls between the two clock readings; 1 unless a call is very short */
    uint64_t memory_bytes;
    char function[64];
    wire_argument arguments[WIRE_ARGUMENTS];
} wire_call;

typedef enum wire_status {
    WIRE_OK,
    WIRE_NO_LIBRARY,      /* dlopen failed: text says why */
    WIRE_NO_FUNCTION,     /* the library does not define it */
    WIRE_NOT_IMPLEMENTED, /* a stub ran: text names it */
    WIRE_CUDA_ERROR,      /* text says which error and where; `sticky` if the worker is spent */
    WIRE_NO_MEMORY,       /* the worker could not allocate the buffers */
    WIRE_MEDDLED,         /* the library changed what it must not: text says what */
    WIRE_CRASHED,         /* a signal: text says which; the worker is gone */
    WIRE_EXCEPTION,       /* Python's: text is its type, its words and the line */
} wire_status;

/* Between host and device. */
typedef struct wire_copies {
    uint64_t bytes;
    uint32_t count, pinned; /* pinned: of these, from or to page-locked memory of the host */
    int32_t kept;           /* not of these: allocations of device memory less those freed */
} wire_copies;

/* What a call of the runtime does. */
typedef enum wire_deed {
    DEED_WAIT, /* the host, for the device */
    DEED_COPY, /* between host and device */
    DEED_ALLOCATE,
    DEED_ALLOCATE_ELSEWHERE, /* ... not on the stream that the function is given */
    DEED_FREE,
    DEED_LAUNCH, /* of a kernel or a graph */
    DEED_MAKE,   /* streams, events, graphs, memory of the host */
    DEED_END,    /* ... and their end */
    DEED_ASTRAY, /* work on the default stream, where another one was given */
    DEED_LEGACY, /* work on the default stream */
    DEEDS
} wire_deed;

#define DEED_NAME 40

/* The library's calls of the runtime, as the worker saw them; on the CPU pthread_create. */
typedef struct wire_calls {
    struct {
        uint32_t count;
        char first[DEED_NAME]; /* the name of the first of these */
    } deeds[DEEDS];
    uint32_t count;   /* that can be refused */
    int32_t left;     /* made, less those that were ended */
    uint32_t pending; /* something was started last, and not waited for */
    uint32_t waited;  /* for a stream or the device, not just by a copy */
    uint32_t moved;   /* another device is the current one */
    char refused[DEED_NAME], refusal[DEED_NAME]; /* the call that was, by which error; or "" */
} wire_calls;

typedef struct wire_reply {
    uint64_t nonce; /* of the message that it answers; 0 in the first, which answers none */
    uint32_t status;
    uint32_t sticky;
    double seconds; /* of the call, by the worker's events or clock; the grader checks it */
    union {
        int64_t i;
        double f;
    } returned;
    uint32_t finding_count; /* how many there were; the first WIRE_FINDINGS are here */
    device_finding findings[WIRE_FINDINGS];
    char text[512];
    char past[32];      /* crashed behind the end of this buffer, or "" */
    uint64_t distance;  /* ... bytes */
    wire_copies copies; /* of the call, as the worker saw them */
    wire_calls calls;
} wire_reply;

#endif
