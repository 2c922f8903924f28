/*
 * 507_plan.cuh: which tile, and how many blocks share one, for a layer on a device.
 *
 * A layer's time is that of its slowest multiprocessor: the steps along k that its blocks take, one
 * group of resident blocks after the other. Large tiles copy less for a product; small ones, and
 * splits of k, keep all multiprocessors busy, and splits cost a second round over the sums. The
 * rule below writes that down in clock cycles. Its constants fit an H200, where bench-layers, which
 * tries all choices, finds some that are faster by about 1 %.
 *
 * All of this file is given.
 */
#ifndef PLAN_CUH
#define PLAN_CUH

#include "507_conv_tensor_core.cuh"

#define MOST_SPLITS   32

#define STEP_LATENCY  450.0  /* cycles of a step where nothing else is in the way */
#define LAUNCH_CYCLES 3000.0 /* of a block without its steps: windows, first copies, epilogue */
#define SPLIT_LATENCY 1000.0 /* the counter, and the last block's way to the sums */
#define BYTES_A_CYCLE 32.0   /* that a multiprocessor gets of tiles */
#define SUMS_A_CYCLE  16.0   /* that it leaves, or gets again: whole lines, one after the other */

/** Multiply-adds a cycle of a multiprocessor; a product of RESNET18_FP32 is three. */
static double products_a_cycle(resnet18_precision precision)
{
    static const double rate[] = {190.0, 320.0, 620.0};
    return rate[precision];
}

/** Cycles of one step of `resident` blocks side by side. */
static double step_cycles(conv_variant v, resnet18_precision precision, double resident)
{
    const double k = precision == RESNET18_FP16 ? 64.0 : 32.0;
    const double multiply = v.m * v.n * k / products_a_cycle(precision);
    const double copy = (v.m + v.n) * (double)ROW_BYTES / BYTES_A_CYCLE;
    const double busy = resident * (multiply > copy ? multiply : copy);
    return busy > STEP_LATENCY ? busy : STEP_LATENCY;
}

/** Cycles of a layer: all that the busiest multiprocessor has to do. */
static double layer_cycles(const conv_args *a, conv_variant v, resnet18_precision precision,
                           int splits, int processors, int resident_most)
{
    const int blocks = conv_tiles(a, v) * splits;
    const double steps = (a->steps + splits - 1) / splits;
    double cycles = 0.0, left = (blocks + processors - 1) / processors;
    for (; left > 0.0; left -= resident_most) {
        const double resident = left < resident_most ? left : resident_most;
        cycles += LAUNCH_CYCLES + steps * step_cycles(v, precision, resident);
    }
    if (splits == 1) return cycles;
    return cycles + SPLIT_LATENCY + (splits + 1.0) * v.m * v.n / SUMS_A_CYCLE;
}

/** The fastest of all variants and splits by the rule. Prepares what it chooses from. @param
 * variant its number @param a where the splits go @param fewest cycles that it takes */
static inline cudaError_t conv_choose(int *variant, double *fewest, conv_args *a,
                                      resnet18_precision precision, int processors)
{
    *variant = CONV_VARIANTS - 1;
    a->splits = 1;
    *fewest = 1e30;
    for (int i = 0; i < CONV_VARIANTS; i++) {
        const conv_variant v = conv_variant_of(precision, i);
        int resident;
        CUDA_CHECK(conv_prepare(&resident, v));
        if (resident < 1) continue; /* too much for this device */
        for (int splits = 1; splits <= MOST_SPLITS && splits <= a->steps; splits++) {
            const double cycles = layer_cycles(a, v, precision, splits, processors, resident);
            if (cycles >= *fewest) continue;
            *fewest = cycles;
            *variant = i;
            a->splits = splits;
        }
    }
    return cudaSuccess;
}

#endif
