/*
 * pool_script.h: what is done with a pool of 408, and what came of it. The cases write the script,
 * the worker carries it out (worker.c), and the cases hold the log against what they know.
 */
#ifndef POOL_SCRIPT_H
#define POOL_SCRIPT_H

#define POOL_SLOTS   512 /* pointers that are remembered */
#define POOL_STREAMS 4

typedef enum pool_verb {
    POOL_ALLOC,    /* slot = pool_alloc(bytes, stream) */
    POOL_FREE,     /* pool_free(slot + bytes, stream): of 0 bytes what pool_alloc returned */
    POOL_RESET,    /* pool_reset */
    POOL_FILL,     /* as a kernel would: the stream fills `bytes` of slot with `value` */
    POOL_EXPECT,   /* waits for the stream; is every byte of slot, `bytes` long, `value`? */
    POOL_DEPENDS,  /* stream comes after what stream number `value` has been asked for */
    POOL_RECREATE, /* the stream is destroyed, and made anew */
} pool_verb;

typedef struct pool_step {
    int verb, slot, stream, value;
    unsigned long long bytes;
} pool_step;

typedef struct pool_outcome {
    unsigned long long address; /* in slot */
    unsigned long long in_use, peak, reserved, allocations, hits;
    int error;     /* cudaError_t of the step */
    int left_over; /* ... that cudaGetLastError still has; of POOL_EXPECT: bytes that differ */
} pool_outcome;

#endif
