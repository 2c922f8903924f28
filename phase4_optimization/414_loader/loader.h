/*
 * loader.h: the contract of exercise 414. The conventions are in optimization.h.
 *
 * A loader copies batches of a file, which may be larger than memory, to the device. The file holds
 * records of one size, one after the other. Batch number i has the records from i * batch up to,
 * but without, (i + 1) * batch; the last batch may have fewer. Batches may be requested in any
 * order, and more than once. `depth` buffers of page-locked memory hold the data that was read; a
 * buffer is written to again only when its copy to the device is over.
 *
 * One thread calls a loader at a time. The loader belongs to the device that is current when it is
 * opened. No call but loader_close waits for the device, unless all buffers are still being copied
 * from. A read may return early or be interrupted: the loader reads on.
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
 * @param batch        records per batch, at least 1, also more than the file has
 * @param depth        buffers, 1 .. 8
 * @return cudaErrorInvalidValue for other numbers; cudaErrorFileNotFound if path is no readable
 *         file; cudaErrorInvalidSource if the file ends within a record; cudaErrorMemoryAllocation
 */
cudaError_t loader_open(loader **l, const char *path, size_t record_bytes, int batch, int depth);
/**
 * Copies the batch to the device in the stream. Waits until it has been read, but not for the copy.
 * If the batch was prefetched, its buffer is copied and is then free; else the batch is read now.
 * If no buffer is free for that, a prefetched batch gives way first.
 * @param d_batch [batch * record_bytes]; of the last batch, only the part that exists is written
 * @return cudaErrorInvalidValue, and nothing is done, beyond the last batch;
 *         cudaErrorOperatingSystem if the file cannot be read or has become shorter: nothing is
 *         copied, and other batches can still be loaded
 */
cudaError_t load_batch_to_gpu(loader *l, void *d_batch, size_t batch_idx, cudaStream_t stream);
/**
 * Begins to read a batch, and waits for nothing. A read error is returned when the batch is loaded.
 * A batch that has been prefetched and not loaded is not read twice.
 * @return cudaErrorInvalidValue beyond the last batch; cudaErrorNotReady, and nothing is done, if
 *         all buffers hold batches that were prefetched and not loaded
 */
cudaError_t prefetch_next_batch(loader *l, size_t batch_idx);
/**
 * The host buffer of the batch that was loaded last, which may be read until the next batch is
 * loaded or prefetched.
 * @param h_buffer NULL, of 0 bytes, before the first batch
 */
cudaError_t get_pinned_buffer(loader *l, void **h_buffer, size_t *bytes);
/** Waits for reads and copies in progress. NULL is allowed. */
cudaError_t loader_close(loader *l);

#ifdef __cplusplus
}
#endif

#endif
