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

/* SOLUTION: the constants, and split_cycles and layer_cycles (about 45 lines). */
#define STEP_LATENCY  500.0  /* cycles of a step where nothing else is in the way */
#define LAUNCH_CYCLES 3000.0 /* of a block without its steps: windows, first copies, epilogue */
#define SPLIT_LATENCY 2500.0 /* the counter, and the last block's way to the sums */
#define BYTES_A_CYCLE 32.0   /* that a multiprocessor exchanges with the L2 cache */

/** Multiply-adds a cycle of a multiprocessor; a product of RESNET18_FP32 is three. */
static double products_a_cycle(resnet18_precision precision)
{
    static const double rate[] = {190.0, 570.0, 1150.0};
    return rate[precision];
}

/** Of one step of `resident` blocks side by side. */
static double step_cycles(conv_variant v, resnet18_precision precision, double resident)
{
    const double k = precision == RESNET18_FP16 ? 64.0 : 32.0;
    const double multiply = v.m * v.n * k / products_a_cycle(precision);
    const double copy = (v.m + v.n) * (double)ROW_BYTES / BYTES_A_CYCLE;
    const double busy = resident * (multiply > copy ? multiply : copy);
    return busy > STEP_LATENCY ? busy : STEP_LATENCY;
}

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
    return cycles + SPLIT_LATENCY + (splits + 1.0) * v.m * v.n * 4 / BYTES_A_CYCLE;
}
/* END SOLUTION */

/* SOLUTION: exceptions from the rule, as bench/resnet18_layers.cu prints them; -1 ends them (about
   20 lines). */
typedef struct conv_choice {
    int precision, pixels, channels, steps, variant, splits;
} conv_choice;

/** On devices of MEASURED_PROCESSORS multiprocessors. Nothing has been measured yet. */
#define MEASURED_PROCESSORS 132
static const conv_choice measured[] = {{-1, 0, 0, 0, 0, 0}};

static const conv_choice *conv_measured(const conv_args *a, resnet18_precision precision,
                                        int processors)
{
    const conv_choice *m = measured;
    if (processors != MEASURED_PROCESSORS) return NULL;
    while (m->precision >= 0 && !(m->precision == precision && m->pixels == a->pixels &&
                                  m->channels == a->channels && m->steps == a->steps))
        m++;
    return m->precision >= 0 ? m : NULL;
}
/* END SOLUTION */

/** Sets a->splits. @return the variant's number */
static inline int conv_choose(conv_args *a, resnet18_precision precision, int processors,
                              int shared_bytes)
{
    int best = CONV_VARIANTS - 1;
    /* SOLUTION: what was measured, or else the fastest of all by the rule (about 20 lines). */
    const conv_choice *known = conv_measured(a, precision, processors);
    double fewest = 1e30;
    a->splits = known ? known->splits : 1;
    if (known) return known->variant;
    for (int i = 0; i < CONV_VARIANTS; i++) {
        const conv_variant v = conv_variant_of(precision, i);
        const int resident = shared_bytes / (v.shared_bytes + 1024); /* 1 KB goes to each block */
        for (int splits = 1; splits <= MOST_SPLITS && splits <= a->steps; splits++) {
            const double cycles =
                layer_cycles(a, v, precision, splits, processors, resident > 0 ? resident : 1);
            if (cycles >= fewest) continue;
            fewest = cycles;
            best = i;
            a->splits = splits;
        }
    }
    /* END SOLUTION */
    return best;
}

#endif
