/*
 * loader.h: the contract of exercise 414. The conventions are in optimization.h.
 *
 * Batches of a file, which may be larger than memory, on their way to the device. The file holds
 * records of one size, one after the other; batch number i is the records i * batch up to, and
 * without, (i + 1) * batch, and the last batch may have fewer. Batches may be asked for in any
 * order, and more than once. `depth` buffers of page-locked memory hold what was read: a buffer is
 * written to again only when its copy to the device is over.
 *
 * One thread calls a loader at a time. The loader belongs to the device that is current when it is
 * opened. No call waits for the device but loader_close, except where all buffers are still being
 * copied from. A read may return early, or be interrupted: the loader reads on.
 */
#ifndef COURSE_LOADER_H
#define COURSE_LOADER_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct loader loader;

/**
 * @param l            receives the loader, or NULL on an error
 * @param record_bytes at least 1
 * @param batch        records of a batch, at least 1, also more than there are
 * @param depth        buffers, 1 .. 8
 * @return cudaErrorInvalidValue for other numbers; cudaErrorFileNotFound for what is no file that
 *         can be read; cudaErrorInvalidSource where the file ends within a record;
 *         cudaErrorMemoryAllocation
 */
cudaError_t loader_open(loader **l, const char *path, size_t record_bytes, int batch, int depth);
/**
 * Copies the batch to the device in the stream; waits until it has been read, and not for the copy.
 * It is read now, unless it was prefetched: then that is what is copied, and the buffer is free.
 * With no buffer free, a batch that was prefetched first gives way.
 * @param d_batch [batch * record_bytes], of the last batch only as much as there is of it
 * @return cudaErrorInvalidValue, and nothing is done, beyond the last batch;
 *         cudaErrorOperatingSystem where the file cannot be read, or has become shorter than it
 *         was: nothing is copied, and other batches can still be had
 */
cudaError_t load_batch_to_gpu(loader *l, void *d_batch, size_t batch_idx, cudaStream_t stream);
/**
 * Begins to read a batch, and waits for nothing. An error in reading is told when it is loaded. A
 * batch that has been prefetched and not loaded is not read twice.
 * @return cudaErrorInvalidValue beyond the last batch; cudaErrorNotReady, and nothing is done,
 * where all buffers hold batches that were prefetched and not loaded
 */
cudaError_t prefetch_next_batch(loader *l, size_t batch_idx);
/**
 * Where the batch that was loaded last lies on the host, to be read until the next batch is loaded
 * or prefetched.
 * @param h_buffer NULL, of 0 bytes, before the first
 */
cudaError_t get_pinned_buffer(loader *l, void **h_buffer, size_t *bytes);
/** Waits for reads and copies that are under way. NULL is allowed. */
cudaError_t loader_close(loader *l);

#ifdef __cplusplus
}
#endif

#endif
