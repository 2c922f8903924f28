/*
 * launch.c: from <<<grid, block, shared, stream>>> to a launch on the device.
 *
 * The compiler turns k<<<...>>>(args) into: push the configuration; call k's host stub, which pops
 * the configuration and launches with an array of pointers to the arguments.
 *
 * A refused launch gives an error that cudaGetLastError clears; a fault in the kernel stays.
 */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

enum { MAX_NESTED_CONFIGURATIONS = 32, MAX_PARAM_BYTES = 32 << 10 };

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

static _Thread_local struct configuration configurations[MAX_NESTED_CONFIGURATIONS];
static _Thread_local unsigned depth;

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
    return cudaSuccess;
}

static bool within(unsigned value, unsigned limit)
{
    return value >= 1 && value <= limit;
}

static cudaError_t check_shape(const struct kernel *kernel, const struct configuration *c)
{
    dim3 grid = c->grid, block = c->block;
    bool grid_fits =
        within(grid.x, MAX_GRID_X) && within(grid.y, MAX_GRID_YZ) && within(grid.z, MAX_GRID_YZ);
    bool block_fits = within(block.x, MAX_BLOCK_THREADS) && within(block.y, MAX_BLOCK_THREADS) &&
                      within(block.z, MAX_BLOCK_Z) &&
                      block.x * block.y * block.z <= kernel->facts.max_threads;

    return grid_fits && block_fits ? cudaSuccess : cudaErrorInvalidConfiguration;
}

static cudaError_t check(const struct kernel *kernel, const struct configuration *c)
{
    cudaError_t error = check_shape(kernel, c);

    if (error) return error;
    if (c->shared > dynamic_shared_limit(kernel)) return cudaErrorInvalidValue;
    return stream_is_valid(c->stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

/** All blocks of a cooperative grid must be resident at once. */
static cudaError_t check_cooperative(const struct kernel *kernel, const struct configuration *c)
{
    unsigned threads = c->block.x * c->block.y * c->block.z;
    uint64_t blocks = (uint64_t)c->grid.x * c->grid.y * c->grid.z;
    int resident = blocks_per_multiprocessor(kernel, (int)threads, c->shared);

    return blocks <= (uint64_t)resident * MULTIPROCESSORS ? cudaSuccess
                                                          : cudaErrorCooperativeLaunchTooLarge;
}

/** Lay the arguments out as the kernel wants them. */
static cudaError_t pack(const device_function_facts *facts, void **args, unsigned char *params)
{
    if (facts->param_bytes > MAX_PARAM_BYTES) return cudaErrorInvalidValue;
    if (facts->param_count && !args) return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < facts->param_count; i++)
        memcpy(params + facts->param_offset[i], args[i], facts->param_size[i]);
    return cudaSuccess;
}

static void explain(device_status status)
{
    if (status == DEVICE_UNSUPPORTED)
        fprintf(stderr, "softgpu: %s\n", device_error(runtime.device));
}

static cudaError_t run(const struct kernel *kernel, const struct configuration *c, void **args,
                       bool cooperative)
{
    unsigned char params[MAX_PARAM_BYTES];
    cudaError_t error = pack(&kernel->facts, args, params);

    if (error) return error;
    managed_push_all();
    device_launch_request request = {
        .function = kernel->id,
        .grid = {c->grid.x, c->grid.y, c->grid.z},
        .block = {c->block.x, c->block.y, c->block.z},
        .dynamic_shared_bytes = (uint32_t)c->shared,
        .params = params,
        .param_bytes = kernel->facts.param_bytes,
        .cooperative = cooperative,
    };
    device_status status = device_launch(runtime.device, &request);
    explain(status);
    runtime.sticky = error_sticky(status, report_launch());
    managed_pull_all();
    return runtime.sticky ? runtime.sticky : error_from_device(status);
}

static cudaError_t launch(const void *function, struct configuration c, void **args,
                          bool cooperative)
{
    struct kernel *kernel;
    cudaError_t error = runtime_enter();

    if (!error) error = kernel_find(function, &kernel);
    if (!error) error = check(kernel, &c);
    if (!error && cooperative) error = check_cooperative(kernel, &c);
    if (!error) error = run(kernel, &c, args, cooperative);
    return runtime_leave(error);
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
