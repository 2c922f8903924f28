/*
 * pool_script.h: a script of calls on a pool of 408, and the log of their results. The cases write
 * the script, the worker (worker.c) runs it, and the cases check the log.
 */
#ifndef POOL_SCRIPT_H
#define POOL_SCRIPT_H

#define POOL_SLOTS   512 /* pointers that are remembered */
#define POOL_STREAMS 4

typedef enum pool_verb {
    POOL_ALLOC,    /* slot = pool_alloc(bytes, stream) */
    POOL_FREE,     /* pool_free(slot + bytes, stream); with 0 bytes, what pool_alloc returned */
    POOL_RESET,    /* pool_reset */
    POOL_FILL,     /* as a kernel would: the stream fills `bytes` of slot with `value` */
    POOL_EXPECT,   /* wait for the stream; is each of the `bytes` of slot `value`? */
    POOL_DEPENDS,  /* stream waits for the work so far of stream number `value` */
    POOL_RECREATE, /* destroy the stream and create it again */
} pool_verb;

typedef struct pool_step {
    int verb, slot, stream;
    int value; /* POOL_ALLOC, POOL_FREE: this call of the runtime's fails, 1 is the first; 0: none
                */
    unsigned long long bytes;
} pool_step;

typedef struct pool_outcome {
    unsigned long long address; /* in slot */
    unsigned long long in_use, peak, reserved, allocations, hits;
    int error;         /* cudaError_t of the step */
    int left_over;     /* what cudaGetLastError still returns; POOL_EXPECT: bytes that differ */
    long long refused; /* whether a call of the runtime failed */
} pool_outcome;

#endif
