/*
 * occupancy.c: questions about how many blocks of a kernel one multiprocessor holds; residency.h
 * has the answer.
 */
#include "launch.h"

#include "device/residency.h"
#include "runtime/claims/claims.h"

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

/* ---- clusters -------------------------------------------------------------------------------- */

int clusters_on_device(const struct kernel *kernel, int threads, size_t dynamic, unsigned blocks)
{
    return blocks_per_multiprocessor(kernel, threads, dynamic) * MULTIPROCESSORS / (int)blocks;
}

static bool divides(dim3 size, dim3 grid)
{
    return grid.x % size.x == 0 && grid.y % size.y == 0 && grid.z % size.z == 0;
}

/* Of the cluster that a launch with this configuration would have; 0: it may have none. */
static unsigned blocks_in_cluster(const struct kernel *kernel, const cudaLaunchConfig_t *config)
{
    const dim3 own = cluster_of(kernel);
    dim3 size = own;

    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttributeValue *value = &config->attrs[i].val;
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            size = (dim3){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
    }
    if (!size.x) return 1;
    const unsigned blocks = size.x * size.y * size.z;
    const bool other = own.x && (own.x != size.x || own.y != size.y || own.z != size.z);
    return blocks && !other && divides(size, config->gridDim) ? blocks : 0;
}

static unsigned most_in_cluster(const struct kernel *kernel)
{
    return kernel->large_clusters ? MAX_CLUSTER_BLOCKS : PORTABLE_CLUSTER_BLOCKS;
}

static int threads_of(const cudaLaunchConfig_t *config)
{
    return (int)(config->blockDim.x * config->blockDim.y * config->blockDim.z);
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                           const cudaLaunchConfig_t *config)
{
    struct kernel *kernel;

    if (!clusters || !config || threads_of(config) <= 0) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = kernel_find(function, &kernel);
    unsigned blocks = error ? 1 : blocks_in_cluster(kernel, config);
    const unsigned most = most_in_cluster(kernel);
    if (!error && (blocks < 1 || (blocks > most && most < MAX_CLUSTER_BLOCKS)))
        error = cudaErrorInvalidClusterSize;
    if (!error && blocks > most)
        *clusters = 0;
    else if (!error)
        *clusters =
            clusters_on_device(kernel, threads_of(config), config->dynamicSmemBytes, blocks);
    return runtime_leave(error);
}

/* The largest power of two that fits. */
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
                                                 const cudaLaunchConfig_t *config)
{
    struct kernel *kernel;

    if (!size || !config || threads_of(config) <= 0) return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = kernel_find(function, &kernel);
    unsigned blocks = error ? 0 : most_in_cluster(kernel);
    while (blocks &&
           clusters_on_device(kernel, threads_of(config), config->dynamicSmemBytes, blocks) < 1)
        blocks /= 2;
    if (!error) *size = (int)blocks;
    return runtime_leave(error);
}

/* ---- shared memory --------------------------------------------------------------------------- */

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
