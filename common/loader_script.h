/*
 * loader_script.h: a script of calls on a loader of 414, and the log of their results. The cases
 * write the script, the worker (worker.c) runs it, and the cases check the log.
 */
#ifndef LOADER_SCRIPT_H
#define LOADER_SCRIPT_H

typedef enum loader_verb {
    LOADER_LOAD,     /* load_batch_to_gpu(d_batches + at, batch_idx) */
    LOADER_PREFETCH, /* prefetch_next_batch(batch_idx) */
    LOADER_PINNED,   /* get_pinned_buffer */
    LOADER_CLOSE,    /* loader_close: the last of its calls */
    LOADER_STALL,    /* keep the stream busy: fill `bytes` bytes, `times` times */
    LOADER_SLEEP,    /* keep the host busy: sleep for `times` microseconds */
} loader_verb;

typedef struct loader_step {
    int verb, times;
    unsigned long long batch_idx, at, bytes; /* bytes: of the batch or of the fill */
} loader_step;

typedef struct loader_outcome {
    int error;                     /* cudaError_t of the step */
    int is_pinned;                 /* LOADER_PINNED: is the buffer page-locked? */
    unsigned long long bytes, sum; /* its length, and loader_sum of its contents */
    long long waited;              /* LOADER_PREFETCH: did it wait for a read? */
    unsigned long long read;       /* bytes of the file so far, where reads return early */
} loader_outcome;

/* FNV-1a */
static inline unsigned long long loader_sum(const unsigned char *data, unsigned long long bytes)
{
    unsigned long long sum = 0xcbf29ce484222325u;
    for (unsigned long long i = 0; i < bytes; i++) sum = (sum ^ data[i]) * 0x100000001b3u;
    return sum;
}

#endif
