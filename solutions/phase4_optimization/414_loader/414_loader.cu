/*
 * 414_loader.cu: loads batches of a file to the device, ahead of their use.
 *
 * The idea: reading a batch, copying it and working on it keep different parts of a computer busy:
 * the disk, the copy engine, the multiprocessors. So there are several page-locked buffers, each
 * with a thread of its own that reads into it, and while the device works on one batch the next
 * ones are read and copied.
 *
 *     FREE ── prefetch or load ──► WANTED ── its thread has read ──► READY ── load: copy, event ──┐
 *      ▲                                                                                          │
 *      └──────────────────────────────────────────────────────────────────────────────────────────┘
 *
 * A buffer is FREE as soon as its copy has been asked for, long before the copy is over. The thread
 * therefore waits for the event behind the copy before it reads into the buffer again: the thread
 * waits, and not the caller.
 *
 *     O_DIRECT  lets the disk write into the buffer, not into the system's cache, from which the
 *               processor would copy it. It takes whole blocks at multiples of a block, so a read
 *               begins at the start of the batch's first block. A second, plain descriptor serves
 *               file systems without O_DIRECT, and bytes that do not come in whole blocks.
 *     pread     takes the file's offset as an argument: threads share a descriptor without a lock.
 *               It may return less than it was asked for, or be interrupted, and that is no error.
 *
 * The cost removed: a device that waits for the disk, and a disk that waits for the device. The
 * cost left: each byte still goes through memory of the host, and a thread for each buffer sleeps
 * in pread; io_uring needs one thread only, and GPUDirect Storage (cuFile) avoids the detour.
 *
 * Given: what a slot and the loader are, the files, the reads past the system's cache, the threads,
 * and how all of it is closed. Yours: the ring of buffers, from FREE to FREE again.
 */
#include "414_loader/loader.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK     4096 /* O_DIRECT's unit of offsets, lengths and addresses, at most */
#define MAX_DEPTH 8

typedef enum slot_state { FREE, WANTED, READY } slot_state;

typedef struct slot {
    struct loader *owner;
    pthread_t thread;
    bool has_thread;
    char *h_blocks; /* page-locked: blocks of the file, of which the batch is a part */
    char *h_batch;  /* where it begins in there, */
    size_t bytes;   /* and how long it is */
    cudaEvent_t copied;
    slot_state state; /* of what is below, and of the batch's bytes */
    size_t batch_idx;
    cudaError_t error; /* of reading it */
} slot;

struct loader {
    int plain, direct; /* descriptors; direct is -1 where there is none */
    int device;
    size_t file_bytes, batch_bytes, batches;
    slot slots[MAX_DEPTH];
    int depth, next;    /* the slot to be taken next, if it is free */
    const slot *loaded; /* last, or NULL */
    bool closing;
    pthread_mutex_t lock; /* of the slots' states and of closing */
    pthread_cond_t changed;
};

static size_t whole_blocks(size_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

/* ---- what the thread of a slot does ---- */

/** As pread, past the system's cache where that is possible. */
static ssize_t read_some(const loader *l, char *to, size_t bytes, size_t at)
{
    const bool in_blocks = (at | bytes | (uintptr_t)to) % BLOCK == 0;
    if (in_blocks && l->direct >= 0) {
        const ssize_t n = pread(l->direct, to, bytes, (off_t)at);
        if (n >= 0 || errno != EINVAL) return n;
    }
    return pread(l->plain, to, bytes, (off_t)at);
}

/** Read batch s->batch_idx into the slot's buffer, and set h_batch and bytes.
 *  @return cudaErrorOperatingSystem where a read fails or the file ends too early */
static cudaError_t read_batch(slot *s)
{
    const loader *l = s->owner;
    const size_t first = s->batch_idx * l->batch_bytes, left = l->file_bytes - first;
    const size_t before = first % BLOCK; /* bytes of the first block that are another batch's */
    s->bytes = left < l->batch_bytes ? left : l->batch_bytes;
    s->h_batch = s->h_blocks + before;
    const size_t wanted = before + s->bytes, room = whole_blocks(wanted);
    /* SOLUTION: read_some into h_blocks, from place first - before of the file, until `wanted`
       bytes are there. Ask for `room`, which is whole blocks; each read may bring less, or fail
       with EINTR: then ask for the rest (about 6 lines). */
    for (size_t done = 0; done < wanted;) {
        const ssize_t n = read_some(l, s->h_blocks + done, room - done, first - before + done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return cudaErrorOperatingSystem; /* 0: the file ends here, and should not */
        done += (size_t)n;
    }
    /* END SOLUTION */
    return cudaSuccess;
}

/** The thread of a slot, until the loader closes. The lock is held except while it waits or reads.
 */
static void *read_for(void *argument)
{
    slot *s = (slot *)argument;
    loader *l = s->owner;
    cudaSetDevice(l->device);
    pthread_mutex_lock(&l->lock);
    /* SOLUTION: until l->closing: sleep on l->changed while the slot is not WANTED. When it is,
       release the lock, wait for the event behind the last copy from the buffer, and read; then,
       with the lock, keep the error, say READY, and wake all threads (about 13 lines). */
    while (!l->closing) {
        if (s->state != WANTED) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        pthread_mutex_unlock(&l->lock);
        cudaError_t error = cudaEventSynchronize(s->copied); /* the copy still reads the buffer */
        if (error == cudaSuccess) error = read_batch(s);
        pthread_mutex_lock(&l->lock);
        s->error = error;
        s->state = READY;
        pthread_cond_broadcast(&l->changed);
    }
    /* END SOLUTION */
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- opening: each function returns what went wrong ---- */

static cudaError_t open_file(loader *l, const char *path, size_t record_bytes, int batch)
{
    struct stat facts;
    l->direct = -1;
    l->plain = open(path, O_RDONLY | O_CLOEXEC);
    if (l->plain < 0 || fstat(l->plain, &facts) != 0 || !S_ISREG(facts.st_mode))
        return cudaErrorFileNotFound;
    l->file_bytes = (size_t)facts.st_size;
    if (l->file_bytes % record_bytes != 0) return cudaErrorInvalidSource;
    l->direct = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    const size_t records = l->file_bytes / record_bytes;
    const size_t in_batch = (size_t)batch < records ? (size_t)batch : records;
    l->batch_bytes = in_batch * record_bytes; /* a buffer is no larger than the file */
    l->batches = records > 0 ? (records + in_batch - 1) / in_batch : 0;
    return cudaSuccess;
}

/** Buffer, event and thread of a slot. */
static cudaError_t open_slot(loader *l, slot *s)
{
    s->owner = l;
    /* The batch may begin and end within a block. */
    const size_t room = whole_blocks(l->batch_bytes) + BLOCK;
    cudaError_t error = cudaSuccess;
    /* SOLUTION: h_blocks, page-locked, of `room` bytes; and the event, without timing (about 2
       lines). */
    error = cudaMallocHost((void **)&s->h_blocks, room);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&s->copied, cudaEventDisableTiming);
    /* END SOLUTION */
    if (error != cudaSuccess) {
        cudaGetLastError(); /* it is reported, and is no error of later calls */
        return error;
    }
    s->has_thread = pthread_create(&s->thread, NULL, read_for, s) == 0;
    return s->has_thread ? cudaSuccess : cudaErrorOperatingSystem;
}

static bool are_in_limits(size_t record_bytes, int batch, int depth)
{
    /* SOLUTION: the limits are in loader.h (about 1 line). */
    return record_bytes >= 1 && batch >= 1 && depth >= 1 && depth <= MAX_DEPTH;
    /* END SOLUTION */
}

cudaError_t loader_open(loader **out, const char *path, size_t record_bytes, int batch, int depth)
{
    *out = NULL;
    if (!are_in_limits(record_bytes, batch, depth)) return cudaErrorInvalidValue;
    loader *l = (loader *)calloc(1, sizeof *l);
    if (l == NULL) return cudaErrorMemoryAllocation;
    l->depth = depth;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    cudaError_t error = open_file(l, path, record_bytes, batch);
    if (error == cudaSuccess) error = cudaGetDevice(&l->device);
    for (int i = 0; i < depth && error == cudaSuccess; i++) error = open_slot(l, &l->slots[i]);
    if (error != cudaSuccess) {
        loader_close(l);
        return error;
    }
    *out = l;
    return cudaSuccess;
}

/* ---- the ring: these four are called with the lock held ---- */

/** @return the slot of a batch that was asked for and not loaded yet, or NULL */
static slot *find(loader *l, size_t batch_idx)
{
    /* SOLUTION: it is not FREE, and has this batch_idx (about 5 lines). */
    for (int i = 0; i < l->depth; i++) {
        slot *s = &l->slots[i];
        if (s->state != FREE && s->batch_idx == batch_idx) return s;
    }
    return NULL;
    /* END SOLUTION */
}

/** @return a FREE slot, or NULL: the one whose copy was requested longest ago, or nearly so */
static slot *find_free(loader *l)
{
    /* SOLUTION: the first FREE one from slot l->next on, once round the ring (about 5 lines). */
    for (int i = 0; i < l->depth; i++) {
        slot *s = &l->slots[(l->next + i) % l->depth];
        if (s->state == FREE) return s;
    }
    return NULL;
    /* END SOLUTION */
}

/** Ask the slot's thread for a batch; the slot behind it is the next one to be taken. */
static void want(loader *l, slot *s, size_t batch_idx)
{
    /* SOLUTION: set l->next, the slot's batch and state, and wake the threads (about 4 lines). */
    l->next = (int)(s - l->slots + 1) % l->depth;
    s->batch_idx = batch_idx;
    s->state = WANTED;
    pthread_cond_broadcast(&l->changed);
    /* END SOLUTION */
}

static void wait_until_ready(loader *l, const slot *s)
{
    /* SOLUTION: each woken thread checks for itself whether it has work (about 1 line). */
    while (s->state != READY) pthread_cond_wait(&l->changed, &l->lock);
    /* END SOLUTION */
}

/* ---- what the training loop calls ---- */

cudaError_t prefetch_next_batch(loader *l, size_t batch_idx)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: refuse a batch beyond the last. With the lock: unless a slot has the batch already,
       let a free one read it; without a free one return cudaErrorNotReady (about 10 lines). */
    if (batch_idx >= l->batches) return cudaErrorInvalidValue;
    pthread_mutex_lock(&l->lock);
    if (find(l, batch_idx) == NULL) {
        slot *s = find_free(l);
        if (s != NULL)
            want(l, s, batch_idx);
        else
            error = cudaErrorNotReady;
    }
    pthread_mutex_unlock(&l->lock);
    /* END SOLUTION */
    return error;
}

cudaError_t load_batch_to_gpu(loader *l, void *d_batch, size_t batch_idx, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: refuse a batch beyond the last. With the lock: find the slot of the batch, or a
       free one, or wait until slot l->next is READY and take that; want the batch if no slot had
       it; wait until it is READY, and set it FREE. Without the lock: after an error of reading
       return it; else remember the slot in l->loaded, copy in the stream, and record the event that
       says when the buffer may be written to (about 19 lines). */
    if (batch_idx >= l->batches) return cudaErrorInvalidValue;
    pthread_mutex_lock(&l->lock);
    slot *s = find(l, batch_idx);
    if (s == NULL) {
        s = find_free(l);
        if (s == NULL) { /* a prefetched batch is dropped, when it has been read */
            s = &l->slots[l->next];
            wait_until_ready(l, s);
        }
        want(l, s, batch_idx);
    }
    wait_until_ready(l, s);
    s->state = FREE; /* only this thread hands out slots */
    error = s->error;
    pthread_mutex_unlock(&l->lock);
    if (error != cudaSuccess) return error;
    l->loaded = s;
    error = cudaMemcpyAsync(d_batch, s->h_batch, s->bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = cudaEventRecord(s->copied, stream);
    /* END SOLUTION */
    return error;
}

cudaError_t get_pinned_buffer(loader *l, void **h_buffer, size_t *bytes)
{
    /* SOLUTION: of the slot that was loaded last (about 2 lines). */
    *h_buffer = l->loaded != NULL ? l->loaded->h_batch : NULL;
    *bytes = l->loaded != NULL ? l->loaded->bytes : 0;
    /* END SOLUTION */
    return cudaSuccess;
}

/* ---- closing ---- */

/** End the thread, wait for the copy, free what a slot has. @return the first error */
static cudaError_t close_slot(slot *s)
{
    if (s->has_thread) pthread_join(s->thread, NULL);
    cudaError_t error = s->copied != NULL ? cudaEventSynchronize(s->copied) : cudaSuccess;
    const cudaError_t destroyed = s->copied != NULL ? cudaEventDestroy(s->copied) : cudaSuccess;
    const cudaError_t freed = cudaFreeHost(s->h_blocks);
    if (error == cudaSuccess) error = destroyed;
    return error != cudaSuccess ? error : freed;
}

cudaError_t loader_close(loader *l)
{
    cudaError_t error = cudaSuccess;
    if (l == NULL) return cudaSuccess;
    pthread_mutex_lock(&l->lock);
    l->closing = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    for (int i = 0; i < l->depth; i++) {
        const cudaError_t closed = close_slot(&l->slots[i]);
        if (error == cudaSuccess) error = closed;
    }
    if (l->direct >= 0) close(l->direct);
    if (l->plain >= 0) close(l->plain);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    free(l);
    return error;
}
