/*
 * 507_plan.cuh: which tile, and how many blocks share one, for a layer on a device.
 *
 * A layer's time is that of its slowest multiprocessor: the steps along k that its blocks take, one
 * group of resident blocks after the other. Large tiles copy less for a product; small ones, and
 * splits of k, keep all multiprocessors busy, and splits cost a second round over the sums. The
 * rule below writes that down in clock cycles. What its constants are worth is measured by
 * bench/resnet18_layers.cu, which tries all there is.
 */
#ifndef PLAN_CUH
#define PLAN_CUH

#include "507_conv_tensor_core.cuh"

#define MOST_SPLITS 32

/* TODO: the constants, and split_cycles and layer_cycles (about 45 lines). */

/* TODO: exceptions from the rule, as bench/resnet18_layers.cu prints them; -1 ends them (about
   20 lines). */

/** Sets a->splits. @return the variant's number */
static inline int conv_choose(conv_args *a, resnet18_precision precision, int processors,
                              int shared_bytes)
{
    int best = CONV_VARIANTS - 1;
    /* TODO: what was measured, or else the fastest of all by the rule (about 20 lines). */
    NOT_IMPLEMENTED(a, precision, processors, shared_bytes);
    return best;
}

#endif
