/*
 * 414_loader.cu: batches of a file on their way to the device, read ahead of their use.
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
 *     O_DIRECT  lets the disk write into the buffer, and not into the system's cache from where the
 *               processor copies it. It takes whole blocks at addresses of whole blocks, so what is
 *               read begins at the block before the batch. Where a file system has no O_DIRECT, and
 *               for what does not come in whole blocks, there is a second, plain descriptor.
 *     pread     has a place of its own for each call: threads share a descriptor without a lock. It
 *               may return less than it was asked for, or be interrupted, and that is no error.
 *
 * The cost removed: a device that waits for the disk, and a disk that waits for the device. The
 * cost left: each byte still goes through memory of the host, and a thread for each buffer sleeps
 * in pread; io_uring does with one thread, and GPUDirect Storage (cuFile) without the detour.
 */
#include "414_loader/loader.h"
#include "not_implemented.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* TODO: a buffer and what is known of it; the loader; how far a block goes (about 35 lines). */

/* TODO: read a batch into its buffer, however many reads that takes (about 30 lines). */

/* TODO: the thread of a slot: wait until it is wanted, wait for the copy from it, read, say so
   (about 20 lines). */

/* TODO: the file, and a slot with all that it has; each returns what went wrong (about 35
   lines). */

cudaError_t loader_open(loader **out, const char *path, size_t record_bytes, int batch, int depth)
{
    /* TODO: check the numbers; open the file and the slots; of half a loader nothing stays
       (about 20 lines). */
    NOT_IMPLEMENTED(out, path, record_bytes, batch, depth);
    return cudaSuccess;
}

/* TODO: the slot of a batch that was asked for; a free slot, in turn; ask its thread to read;
   all with the lock held (about 25 lines). */

cudaError_t prefetch_next_batch(loader *l, size_t batch_idx)
{
    cudaError_t error = cudaSuccess;
    /* TODO: unless somebody reads it already, a free slot shall (about 8 lines). */
    NOT_IMPLEMENTED(l, batch_idx);
    return error;
}

cudaError_t load_batch_to_gpu(loader *l, void *d_batch, size_t batch_idx, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* TODO: find the batch or have it read, wait for it, copy it, and record the event that
       says when the buffer may be written to (about 22 lines). */
    NOT_IMPLEMENTED(l, d_batch, batch_idx, stream);
    return error;
}

cudaError_t get_pinned_buffer(loader *l, void **h_buffer, size_t *bytes)
{
    /* TODO: of the slot that was loaded last (about 2 lines). */
    NOT_IMPLEMENTED(l, h_buffer, bytes);
    return cudaSuccess;
}

/* TODO: end a thread, wait for the copy, free what a slot has: tell the first error (about 12
   lines). */

cudaError_t loader_close(loader *l)
{
    cudaError_t error = cudaSuccess;
    /* TODO: tell the threads; close the slots and the descriptors, whether there are errors or
       not (about 17 lines). */
    NOT_IMPLEMENTED(l);
    return error;
}
