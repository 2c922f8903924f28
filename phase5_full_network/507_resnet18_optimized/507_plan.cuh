/*
 * 507_plan.cuh: which tile, and how many blocks share one, for a layer on a device.
 *
 * A layer's time is that of its slowest multiprocessor: the steps along k that its blocks take, one
 * group of resident blocks after the other. Large tiles copy less for a product; small ones, and
 * splits of k, keep all multiprocessors busy, and splits cost a second round over the sums. The
 * rule below writes that down in clock cycles. Its constants fit an H200, where bench-layers, which
 * tries all there is, finds choices that are faster by about 1 %.
 */
#ifndef PLAN_CUH
#define PLAN_CUH

#include "507_conv_tensor_core.cuh"

#define MOST_SPLITS 32

/* TODO: the constants, step_cycles and layer_cycles (about 45 lines). */

/** Prepares what it chooses from. @param variant its number @param a where the splits go */
static inline cudaError_t conv_choose(int *variant, conv_args *a, resnet18_precision precision,
                                      int processors)
{
    *variant = CONV_VARIANTS - 1;
    a->splits = 1;
    /* TODO: the fastest of all variants and splits by the rule (about 16 lines). */
    NOT_IMPLEMENTED(variant, a, precision, processors);
    return cudaSuccess;
}

#endif
