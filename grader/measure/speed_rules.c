/*
 * speed_rules.c: the meaning of timings; pure functions of the measurements of speed.c.
 *
 * The interval of the ratio decides, not the ratio: all of it at or above the threshold has passed,
 * all of it below has failed, anything else is measured again. A timing that stays undecided is too
 * noisy, unless the interval is so narrow that its middle may decide. On a machine that was busy,
 * or a GPU that was throttled, a failure must be larger than that explains.
 */
#include "measure.h"

#include <math.h>

#define NARROW      0.05  /* of the ratio */
#define DISTURBANCE 0.8   /* by how much a busy machine may distort a ratio */
#define HOPELESS    0.5   /* of the threshold: no more pairs would change that */
#define PLAIN       1.15  /* likewise, the other way */
#define BUSY        0.1   /* share of the time: from here on the machine is busy */
#define CORE_FLOP   512   /* that no core does in the time of one of its additions in a chain */
#define COPY_SLACK  1.05  /* a copy is not quite the fastest that memory can do */
#define PEER_SANE   0.3   /* of its known rate */
#define CLOCK_SLACK 20e-6 /* seconds by which two overheads may differ */
#define CLOCK_SHARE 0.25  /* and this share of the time that is claimed */

bool speed_disturbed(const speed_result *s)
{
    return s->waited + s->stolen > BUSY || clocks_throttled(&s->clocks) || s->clocks.others > 0;
}

status speed_verdict(const speed_result *s, bool last)
{
    const double threshold = s->test->threshold;
    const bool disturbed = speed_disturbed(s);
    const bool narrow = s->high - s->low <= NARROW * s->ratio;
    if (s->low >= threshold) return PASSED;
    const double distorted = s->test->wall_clock ? 0.0 : DISTURBANCE; /* no thread has its core */
    if (s->high < (disturbed ? distorted : 1.0) * threshold) return FAILED;
    if (!last || disturbed || !narrow) return TOO_NOISY;
    return s->ratio >= threshold ? PASSED : FAILED;
}

bool speed_hopeless(double high, double threshold)
{
    return high < HOPELESS * threshold;
}

bool speed_plain(double low, double threshold)
{
    return low > PLAIN * threshold;
}

const char *speed_needs(const speed_test *test, place where, size_t cores)
{
    if (!(test->where & where)) return "skipped: needs a GPU";
    return test->wall_clock && cores < WALL_CLOCK_CORES ? "skipped: needs 4 cores" : NULL;
}

/* Faster than the device can be is no result. */
const char *speed_ceiling(const speed_result *s, const device_facts *device)
{
    const speed_test *test = s->test;
    const double peak = device->flop_per_second[test->precision];
    if (test->flop > 0 && peak > 0 && (test->where & ON_GPU) && test->flop / s->seconds > peak) {
        return "arithmetic";
    }
    const double cores = test->wall_clock ? WALL_CLOCK_CORES : 1;
    if (test->flop > 0 && (test->where & ON_CPU) && device->core_adds_per_second > 0 &&
        test->flop / s->seconds > cores * CORE_FLOP * device->core_adds_per_second) {
        return "arithmetic";
    }
    if (test->bytes > 0 && device->copy_bytes_per_second > 0 &&
        test->bytes / s->seconds > COPY_SLACK * device->copy_bytes_per_second) {
        return "memory";
    }
    return NULL;
}

double peer_rate(const speed_result *s, const device_facts *device)
{
    const speed_test *test = s->test;
    const double arithmetic =
        test->where & ON_CPU ? device->core_adds_per_second : device->flop_per_second[IN_FP32];
    const double work = test->peer_bytes > 0 ? test->peer_bytes : test->flop;
    const double peak = test->peer_bytes > 0 ? device->copy_bytes_per_second : arithmetic;
    if (!(test->peer_share > 0 && work > 0 && peak > 0 && s->baseline_seconds > 0)) return 1.0;
    return work / s->baseline_seconds / (test->peer_share * peak);
}

bool peer_is_sane(double rate)
{
    return rate >= PEER_SANE;
}

/* What a worker leaves out of the time that it claims, the grader's clock still sees; and the
 * baseline's worker, which holds no student's code, shows how much that is without a lie. */
bool clocks_agree(double claimed, double overhead, double honest_overhead)
{
    return overhead <= honest_overhead + CLOCK_SLACK + CLOCK_SHARE * claimed;
}
