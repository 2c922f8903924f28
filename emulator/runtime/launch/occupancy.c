/*
 * occupancy.c: questions about how many blocks of a kernel one multiprocessor holds; residency.h
 * has the answer.
 */
#include "launch.h"

#include "device/residency.h"

int blocks_per_multiprocessor(const struct kernel *kernel, int threads, size_t dynamic)
{
    if (threads > (int)kernel->facts.max_threads || dynamic > dynamic_shared_limit(kernel))
        return 0;
    return (int)resident_blocks(&kernel->facts, (uint64_t)threads, dynamic);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                   const void *function,
                                                                   int threads, size_t dynamic,
                                                                   unsigned int flags)
{
    struct kernel *kernel;

    (void)flags;
    if (!blocks || threads <= 0) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = kernel_find(function, &kernel);
    if (!error) *blocks = blocks_per_multiprocessor(kernel, threads, dynamic);
    return runtime_leave(error);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t dynamic)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                  dynamic, 0);
}

/** What is left of a multiprocessor's shared memory when `blocks` blocks share it. */
static size_t available_shared(const struct kernel *kernel, int blocks)
{
    size_t share = SHARED_PER_SM / (size_t)blocks / SHARED_UNIT * SHARED_UNIT;
    size_t used = kernel->facts.static_shared_bytes + SHARED_RESERVED;
    size_t limit = dynamic_shared_limit(kernel);

    if (share <= used) return 0;
    return share - used < limit ? share - used : limit;
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function,
                                                      int blocks, int threads)
{
    struct kernel *kernel;

    if (!bytes || blocks <= 0 || threads <= 0) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = kernel_find(function, &kernel);
    if (!error) *bytes = available_shared(kernel, blocks);
    return runtime_leave(error);
}
