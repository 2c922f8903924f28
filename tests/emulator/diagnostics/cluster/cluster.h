/* cluster.h: what the programs of this folder share: the group, and a launch of one cluster. */
#pragma once
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { THREADS = 64 };

/* `out` is zeroed: a number for each thread. */
static int run(void (*kernel)(int *), int blocks)
{
    int *out;
    cudaMalloc(&out, blocks * THREADS * sizeof *out);
    cudaMemset(out, 0, blocks * THREADS * sizeof *out);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = THREADS;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, out);
    return cudaDeviceSynchronize();
}
