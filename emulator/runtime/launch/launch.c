/*
 * launch.c: the conditions of a launch, and the launch on the device.
 */
#include "launch.h"

#include "device/residency.h"
#include "runtime/claims/claims.h"

#include <string.h>

/* ---- checks ---------------------------------------------------------------------------------- */

static cudaError_t check_shape(const struct launch_work *w)
{
    const dim3 grid = w->grid, block = w->block;
    const struct {
        const char *what;
        uint64_t value, most;
    } limits[] = {
        {"blocks in x of the grid", grid.x, MAX_GRID_X},
        {"blocks in y of the grid", grid.y, MAX_GRID_YZ},
        {"blocks in z of the grid", grid.z, MAX_GRID_YZ},
        {"threads in x of a block", block.x, MAX_BLOCK_THREADS},
        {"threads in y of a block", block.y, MAX_BLOCK_THREADS},
        {"threads in z of a block", block.z, MAX_BLOCK_Z},
        {"threads per block", (uint64_t)block.x * block.y * block.z, w->kernel->facts.max_threads},
    };

    if (!grid.x || !grid.y || !grid.z)
        return error_refuse(cudaErrorInvalidConfiguration,
                            "a grid of 0 blocks is an error: return before the launch");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].value >= 1 && limits[i].value <= limits[i].most) continue;
        return error_refuse(cudaErrorInvalidConfiguration, "%llu %s: from 1 to %llu are allowed",
                            (unsigned long long)limits[i].value, limits[i].what,
                            (unsigned long long)limits[i].most);
    }
    return cudaSuccess;
}

/** All blocks of a cooperative grid must be resident at once. */
static cudaError_t check_cooperative(const struct launch_work *w)
{
    uint64_t blocks = (uint64_t)w->grid.x * w->grid.y * w->grid.z;
    int threads = (int)(w->block.x * w->block.y * w->block.z);
    int resident = blocks_per_multiprocessor(w->kernel, threads, w->shared) * MULTIPROCESSORS;

    if (blocks <= (uint64_t)resident) return cudaSuccess;
    return error_refuse(cudaErrorCooperativeLaunchTooLarge,
                        "%llu blocks of a cooperative grid: the device holds %d at once",
                        (unsigned long long)blocks, resident);
}

static cudaError_t check_grid_of_clusters(const struct launch_work *w)
{
    const dim3 grid = w->grid, size = w->cluster;

    if (grid.x % size.x == 0 && grid.y % size.y == 0 && grid.z % size.z == 0) return cudaSuccess;
    return error_refuse(cudaErrorInvalidClusterSize,
                        "a grid of %u x %u x %u blocks in clusters of %u x %u x %u: it must be a "
                        "multiple in each dimension",
                        grid.x, grid.y, grid.z, size.x, size.y, size.z);
}

static cudaError_t check_cluster(const struct launch_work *w)
{
    const dim3 size = w->cluster, own = cluster_of(w->kernel);
    const uint64_t blocks = (uint64_t)size.x * size.y * size.z;
    const unsigned most = w->kernel->large_clusters ? MAX_CLUSTER_BLOCKS : PORTABLE_CLUSTER_BLOCKS;
    const int threads = (int)(w->block.x * w->block.y * w->block.z);

    if (!size.x) return cudaSuccess;
    if (own.x && (own.x != size.x || own.y != size.y || own.z != size.z))
        return error_refuse(cudaErrorInvalidClusterSize,
                            "a cluster of %u x %u x %u blocks: the kernel has __cluster_dims__",
                            size.x, size.y, size.z);
    if (blocks < 1 || blocks > most)
        return error_refuse(cudaErrorInvalidClusterSize,
                            "%llu blocks in a cluster: from 1 to %u are allowed%s",
                            (unsigned long long)blocks, most,
                            most < blocks && blocks <= MAX_CLUSTER_BLOCKS
                                ? ", and 16 with cudaFuncSetAttribute("
                                  "cudaFuncAttributeNonPortableClusterSizeAllowed)"
                                : "");
    if (clusters_on_device(w->kernel, threads, w->shared, (unsigned)blocks) < 1)
        return error_refuse(cudaErrorInvalidClusterSize,
                            "no cluster of %llu such blocks fits on the device: use fewer, or "
                            "less than %llu bytes of shared memory",
                            (unsigned long long)blocks,
                            (unsigned long long)w->shared + w->kernel->facts.static_shared_bytes);
    return check_grid_of_clusters(w);
}

static cudaError_t check(const struct launch_work *w)
{
    cudaError_t error = check_shape(w);

    if (error) return error;
    if (w->kernel->facts.static_shared_bytes > SHARED_DEFAULT)
        return error_refuse(
            cudaErrorInvalidValue,
            "%u bytes of static shared memory: at most %d are allowed, more only as "
            "dynamic shared memory",
            w->kernel->facts.static_shared_bytes, SHARED_DEFAULT);
    if (w->shared > dynamic_shared_limit(w->kernel))
        return error_refuse(cudaErrorInvalidValue,
                            "%zu bytes of dynamic shared memory: at most %zu are allowed",
                            w->shared, dynamic_shared_limit(w->kernel));
    error = check_cluster(w);
    if (error || !w->cooperative) return error;
    return w->cluster.x ? cudaErrorNotSupported : check_cooperative(w);
}

/** Lay the arguments out as the kernel wants them. */
static cudaError_t pack(const device_function_facts *facts, void **args, unsigned char *params)
{
    if (facts->param_bytes > LAUNCH_PARAMS) return cudaErrorInvalidValue;
    if (facts->param_count && !args) return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < facts->param_count; i++)
        memcpy(params + facts->param_offset[i], args[i], facts->param_size[i]);
    return cudaSuccess;
}

dim3 cluster_of(const struct kernel *kernel)
{
    const uint32_t *size = kernel->facts.cluster;

    return (dim3){size[0], size[1], size[2]};
}

cudaError_t launch_make(struct launch_work *launch, const struct cudaKernelNodeParams *p,
                        bool cooperative, dim3 cluster, unsigned char *params)
{
    struct kernel *kernel;
    cudaError_t error = kernel_find(p->func, &kernel);

    if (error) return error;
    *launch = (struct launch_work){.kernel = kernel,
                                   .grid = p->gridDim,
                                   .block = p->blockDim,
                                   .shared = p->sharedMemBytes,
                                   .cooperative = cooperative,
                                   .cluster = cluster.x ? cluster : cluster_of(kernel),
                                   .params = params};
    error = check(launch);
    return error ? error : pack(&kernel->facts, p->kernelParams, params);
}

/* ---- running --------------------------------------------------------------------------------- */

static device_launch_request request_of(const struct launch_work *w)
{
    return (device_launch_request){
        .function = w->kernel->id[runtime.ordinal],
        .grid = {w->grid.x, w->grid.y, w->grid.z},
        .block = {w->block.x, w->block.y, w->block.z},
        .dynamic_shared_bytes = (uint32_t)w->shared,
        .params = w->params,
        .param_bytes = w->kernel->facts.param_bytes,
        .cooperative = w->cooperative,
        .cluster = {w->cluster.x, w->cluster.y, w->cluster.z},
    };
}

cudaError_t launch_keep(const struct launch_work *w, uint32_t *graph, uint32_t *node)
{
    const device_launch_request request = request_of(w);

    return error_from_device(*node ? device_graph_set(runtime.device, *graph, *node, &request)
                                   : device_graph_add(runtime.device, graph, &request, node));
}

static device_status run(const struct launch_work *w)
{
    const device_launch_request request = request_of(w);

    if (w->graph) return device_graph_run(runtime.device, w->graph, w->node);
    return device_launch(runtime.device, &request);
}

cudaError_t launch_run(const struct launch_work *w)
{
    return runtime_launched(run(w));
}
