/*
 * occupancy.c: how many blocks of a kernel one multiprocessor holds: the least of what threads,
 * registers, shared memory and block slots allow. Registers are the device's estimate.
 */
#include "runtime.h"

enum { REGISTER_UNIT = 256, SHARED_UNIT = 128 }; /* registers go by warp, shared memory by block */

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int blocks_by_registers(const struct kernel *kernel, int warps)
{
    size_t by_warp = round_up((size_t)kernel->facts.registers * WARP_SIZE, REGISTER_UNIT);

    return by_warp ? (int)(SM_REGISTERS / by_warp) / warps : MAX_SM_BLOCKS;
}

static int blocks_by_shared(const struct kernel *kernel, size_t dynamic)
{
    size_t used = kernel->facts.static_shared_bytes + dynamic + SHARED_RESERVED;

    return (int)(SHARED_PER_SM / round_up(used, SHARED_UNIT));
}

int blocks_per_multiprocessor(const struct kernel *kernel, int threads, size_t dynamic)
{
    int warps = (threads + WARP_SIZE - 1) / WARP_SIZE;

    if (threads > (int)kernel->facts.max_threads || dynamic > dynamic_shared_limit(kernel))
        return 0;
    int blocks = least(MAX_SM_BLOCKS, MAX_SM_THREADS / WARP_SIZE / warps);
    blocks = least(blocks, blocks_by_registers(kernel, warps));
    return least(blocks, blocks_by_shared(kernel, dynamic));
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
