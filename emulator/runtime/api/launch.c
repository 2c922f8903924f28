/*
 * launch.c: from <<<grid, block, shared, stream>>> to a launch on the device.
 *
 * The compiler turns k<<<...>>>(args) into: push the configuration; call k's host stub, which pops
 * the configuration and launches with an array of pointers to the arguments.
 *
 * A refused launch gives an error that cudaGetLastError clears; a fault in the kernel stays.
 */
#include "api.h"

#include <limits.h>

enum { MAX_NESTED_CONFIGURATIONS = 32 };

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    dim3 cluster; /* x 0: what the kernel says */
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
    configurations[depth++] = (struct configuration){grid, block, shared, stream, {0}};
    return 0;
}

/** The stub of a kernel was called, and nobody has said with how many threads. */
static cudaError_t report_plain_call(void)
{
    const struct trace here = trace_here();
    char place[600];

    trace_place(&here, NULL, place, sizeof place);
    report_host(CHECK_ERRORS, FINDING_UNCHECKED_ERROR, RELATION_NONE,
                "a kernel is called as a function, without <<<...>>>, and does not run%s%s",
                *place ? ":" : "", *place ? place + 3 : "");
    return cudaErrorMissingConfiguration;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (!depth) return report_plain_call();
    const struct configuration *top = &configurations[--depth];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    *(cudaStream_t *)stream = top->stream;
    from_stub = true;
    return cudaSuccess;
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
    struct work work = {.type = cudaGraphNodeTypeKernel};
    bool is_silent = from_stub;

    from_stub = false;
    error_report_unasked();
    cudaError_t error = runtime_enter_launch(), before = error;
    p.sharedMemBytes = c.shared <= UINT_MAX ? (unsigned)c.shared : UINT_MAX;
    work.ordinal = runtime.ordinal;
    if (!error) error = launch_make(&work.launch, &p, cooperative, c.cluster, params);
    if (!error && !stream_is_here(c.stream)) error = cudaErrorInvalidResourceHandle;
    if (!error) error = stream_submit(c.stream, &work);
    runtime_leave(error);
    if (error && !before && is_silent) error_expect_question(error, name_of(&work));
    return error;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream)
{
    return launch(kernel, (struct configuration){grid, block, shared, stream, {0}}, args, false);
}
PER_THREAD_STREAM(__cudaLaunchKernel);

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
                             size_t shared, cudaStream_t stream)
{
    return launch(function, (struct configuration){grid, block, shared, stream, {0}}, args, false);
}
PER_THREAD_STREAM(cudaLaunchKernel);

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args,
                                        size_t shared, cudaStream_t stream)
{
    return launch(function, (struct configuration){grid, block, shared, stream, {0}}, args, true);
}
PER_THREAD_STREAM(cudaLaunchCooperativeKernel);

/** All other attributes are hints, or concern real concurrency. */
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    bool cooperative = false;

    if (!config) return error_keep(cudaErrorInvalidValue);
    struct configuration c = {
        config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream, {0}};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttributeValue *value = &config->attrs[i].val;
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            c.cluster = (dim3){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
        if (config->attrs[i].id == cudaLaunchAttributeCooperative) cooperative = value->cooperative;
    }
    return launch(function, c, args, cooperative);
}
PER_THREAD_STREAM(cudaLaunchKernelExC);
