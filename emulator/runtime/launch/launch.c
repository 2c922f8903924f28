/*
 * launch.c: from <<<grid, block, shared, stream>>> to a launch on the device.
 *
 * The compiler turns k<<<...>>>(args) into: push the configuration; call k's host stub, which pops
 * the configuration and launches with an array of pointers to the arguments.
 *
 * A refused launch gives an error that cudaGetLastError clears; a fault in the kernel stays.
 */
#include "runtime/core/runtime.h"

#include <string.h>

enum { MAX_NESTED_CONFIGURATIONS = 32 };

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

static _Thread_local struct configuration configurations[MAX_NESTED_CONFIGURATIONS];
static _Thread_local unsigned depth;
static _Thread_local bool from_stub; /* of <<<>>>, which gives no error back */

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t stream);

/** @return 0, or the launch is skipped. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    if (depth == MAX_NESTED_CONFIGURATIONS) return 1;
    configurations[depth++] = (struct configuration){grid, block, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (!depth) return error_keep(cudaErrorMissingConfiguration);
    const struct configuration *top = &configurations[--depth];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    *(cudaStream_t *)stream = top->stream;
    from_stub = true;
    return cudaSuccess;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool within(unsigned value, unsigned limit)
{
    return value >= 1 && value <= limit;
}

static cudaError_t check_shape(const struct launch_work *w)
{
    dim3 grid = w->grid, block = w->block;
    bool grid_fits =
        within(grid.x, MAX_GRID_X) && within(grid.y, MAX_GRID_YZ) && within(grid.z, MAX_GRID_YZ);
    bool block_fits = within(block.x, MAX_BLOCK_THREADS) && within(block.y, MAX_BLOCK_THREADS) &&
                      within(block.z, MAX_BLOCK_Z) &&
                      block.x * block.y * block.z <= w->kernel->facts.max_threads;

    return grid_fits && block_fits ? cudaSuccess : cudaErrorInvalidConfiguration;
}

/** All blocks of a cooperative grid must be resident at once. */
static cudaError_t check_cooperative(const struct launch_work *w)
{
    uint64_t blocks = (uint64_t)w->grid.x * w->grid.y * w->grid.z;
    int threads = (int)(w->block.x * w->block.y * w->block.z);
    int resident = blocks_per_multiprocessor(w->kernel, threads, w->shared) * MULTIPROCESSORS;

    return blocks <= (uint64_t)resident ? cudaSuccess : cudaErrorCooperativeLaunchTooLarge;
}

static cudaError_t check(const struct launch_work *w)
{
    cudaError_t error = check_shape(w);

    if (error) return error;
    if (w->shared > dynamic_shared_limit(w->kernel)) return cudaErrorInvalidValue;
    return w->cooperative ? check_cooperative(w) : cudaSuccess;
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

cudaError_t launch_make(struct work *work, const struct cudaKernelNodeParams *p, bool cooperative,
                        unsigned char *params)
{
    struct kernel *kernel;
    cudaError_t error = kernel_find(p->func, &kernel);

    if (error) return error;
    work->type = cudaGraphNodeTypeKernel;
    work->ordinal = runtime.ordinal;
    work->launch = (struct launch_work){.kernel = kernel,
                                        .grid = p->gridDim,
                                        .block = p->blockDim,
                                        .shared = p->sharedMemBytes,
                                        .cooperative = cooperative,
                                        .params = params};
    error = check(&work->launch);
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
    device_status status = run(w);
    cudaError_t fault = error_sticky(status);
    if (report_work(false) && !fault) fault = cudaErrorLaunchFailure;
    return fault ? runtime_fault(fault) : error_from_device(status);
}

static const char *name_of(const struct work *work)
{
    return work->launch.kernel ? work->launch.kernel->facts.name : "?";
}

static cudaError_t launch(const void *function, struct configuration c, void **args,
                          bool cooperative)
{
    unsigned char params[LAUNCH_PARAMS];
    struct cudaKernelNodeParams p = {
        .func = (void *)function, .gridDim = c.grid, .blockDim = c.block, .kernelParams = args};
    struct work work = {0};
    bool is_silent = from_stub;

    from_stub = false;
    error_report_unasked();
    cudaError_t error = runtime_enter(), before = error;
    p.sharedMemBytes = c.shared <= SHARED_PER_SM ? (unsigned)c.shared : SHARED_PER_SM + 1;
    if (!error) error = launch_make(&work, &p, cooperative, params);
    if (!error && !stream_is_here(c.stream)) error = cudaErrorInvalidResourceHandle;
    if (!error) error = stream_submit(c.stream, &work);
    runtime_leave(error);
    if (error && !before && is_silent) error_expect_question(error, name_of(&work));
    return error;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream)
{
    return launch(kernel, (struct configuration){grid, block, shared, stream}, args, false);
}
PER_THREAD_STREAM(__cudaLaunchKernel);

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
                             size_t shared, cudaStream_t stream)
{
    return launch(function, (struct configuration){grid, block, shared, stream}, args, false);
}
PER_THREAD_STREAM(cudaLaunchKernel);

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args,
                                        size_t shared, cudaStream_t stream)
{
    return launch(function, (struct configuration){grid, block, shared, stream}, args, true);
}
PER_THREAD_STREAM(cudaLaunchCooperativeKernel);

static bool is_cluster(const cudaLaunchAttribute *attribute)
{
    return attribute->id == cudaLaunchAttributeClusterDimension &&
           attribute->val.clusterDim.x * attribute->val.clusterDim.y * attribute->val.clusterDim.z >
               1;
}

/** Clusters need a newer device; every other attribute is a hint or concerns real concurrency. */
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    bool cooperative = false;

    if (!config) return error_keep(cudaErrorInvalidValue);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *attribute = &config->attrs[i];
        if (is_cluster(attribute)) return error_keep(cudaErrorNotSupported);
        if (attribute->id == cudaLaunchAttributeCooperative)
            cooperative = attribute->val.cooperative;
    }
    return launch(function,
                  (struct configuration){config->gridDim, config->blockDim,
                                         config->dynamicSmemBytes, config->stream},
                  args, cooperative);
}
PER_THREAD_STREAM(cudaLaunchKernelExC);
