/*
 * measure.h: how fast, and how much.
 *
 *   speed.c        the timed pairs of one exercise
 *   speed_rules.c  what those times mean
 *   traffic.c      the counted calls of one exercise
 *   counts.c       what softgpu's counters of a call come to
 *   nvml.c         clocks, temperature and throttling of a GPU
 */
#ifndef GRADER_MEASURE_H
#define GRADER_MEASURE_H

#include "correctness/correctness.h"

/* ---- nvml.c ---------------------------------------------------------------------------------- */

typedef struct nvml nvml;

/** What a GPU is doing at one moment. */
typedef struct gpu_state {
    bool known;
    unsigned sm_mhz, memory_mhz, celsius, processes;
    unsigned long long reasons; /* for lower clocks, as NVML has them */
} gpu_state;

/** What it did during a speed test. */
typedef struct speed_clocks {
    gpu_state before, after;    /* not known where there is no GPU */
    unsigned long long reasons; /* any that was seen */
    unsigned others;            /* processes on the GPU that are none of ours */
} speed_clocks;

/** @param pci of the GPU, or "": the first. @return NULL where there is no such library or GPU */
nvml *nvml_open(const char *library, const char *pci);
gpu_state nvml_read(const nvml *); /* of NULL: not known */
void nvml_close(nvml *);           /* NULL is allowed */
/** Note one more moment. @param ours so many processes of the grader are on the GPU */
void clocks_watch(speed_clocks *, const gpu_state *, unsigned ours);
bool clocks_throttled(const speed_clocks *);
const char *clocks_reasons(const speed_clocks *); /* "power cap, heat"; valid until the next call */

/* ---- results ----------------------------------------------------------------------------------
 */

typedef struct speed_result {
    const speed_test *test;
    char metric[METRIC_MAX]; /* its sentence */
    status status;           /* SKIPPED: this place cannot judge it; NOT_RUN: correctness failed */
    double ratio, low, high; /* median of the pairs, and its 95 % interval */
    double seconds, baseline_seconds; /* medians */
    int pairs;
    double waited, stolen; /* shares of the time that calls waited for a core; that a host took */
    speed_clocks clocks;
    char elsewhere[48]; /* "skipped: ", and which GPU could judge it; or "" */
    char *message;      /* why it failed, apart from its ratio; why it is too noisy; or NULL */
    bool broken;        /* a call of the student's failed, or was wrong: message says how */
} speed_result;

typedef struct traffic_result {
    const traffic_test *test;
    char metric[METRIC_MAX]; /* as of speed_result */
    status status;
    double counted; /* NAN: there is no number, and message says why */
    char *message;  /* of a test that failed: what was counted and what was wanted; or NULL */
    bool broken;    /* as of speed_result; without a message softgpu found something */
} traffic_result;

/** The counted calls of one exercise so far. Tests that ask for several counts of one call share
 *  it. */
typedef struct counted_calls {
    unsigned long long secret; /* the seed of all secret inputs, once one test had any */
    bool has_secret;
    struct counted_call {
        void (*run)(const char *function, const long *shape);
        const char *function, *library;
        long shape[SHAPE_MAX];
        unsigned long long seed;
        device_counts counts;
    } calls[64]; /* what is beyond is counted again */
    int count;
} counted_calls;

/* ---- speed_rules.c --------------------------------------------------------------------------- */

/** @return NULL, or what a machine with so many cores lacks: the verdict on a test it cannot judge
 */
const char *speed_needs(const speed_test *, place, size_t cores);
/** PASSED, FAILED, or TOO_NOISY: to be measured again, unless this was the last time. */
status speed_verdict(const speed_result *, bool last);
/** Is a ratio that is at most `high` so far below the threshold that a few pairs tell it? */
bool speed_hopeless(double high, double threshold);
/** Is one that is at least `low` so far above it? */
bool speed_plain(double low, double threshold);
/** Was the machine busy with something else, or the GPU slowed down? */
bool speed_disturbed(const speed_result *);
/** @return NULL, or what of the device cannot be so fast */
const char *speed_ceiling(const speed_result *, const device_facts *);
/** The baseline's rate, of the one it is known to have; 1 where none is known. */
double peer_rate(const speed_result *, const device_facts *);
bool peer_is_sane(double rate);
/** May a worker that claims so many seconds have needed so many more by the grader's clock?
 *  @param honest_overhead what a worker without a student's code needed more */
bool clocks_agree(double claimed, double overhead, double honest_overhead);

/* ---- speed.c --------------------------------------------------------------------------------- */

/** Time one function against its baseline. @param baseline_library the baseline, built */
void run_speed(case_state *, const speed_test *, const char *baseline_library, const device_facts *,
               speed_result *);

/* ---- traffic.c ------------------------------------------------------------------------------- */

/** @return NULL, or what is missing here: the verdict on a test that cannot be judged */
const char *traffic_needs(const exercise *, const traffic_test *, place);
/** Count one function. @param baseline_library as above, or NULL where the test has no baseline
 *  @param so_far zeroed before the first test of an exercise */
void run_traffic(case_state *, const traffic_test *, const char *baseline_library,
                 counted_calls *so_far, traffic_result *);
/** What the counts come to, and whether that is what the test wants. */
double traffic_number(const traffic_test *, const device_counts *, const device_counts *baseline);
bool traffic_meets(const traffic_test *, double number);
/** @return the number of the open call; where it misses the bound, the secret one's if that is
 *  worse: answers that were stored for the open inputs earn no part of the points */
double traffic_for_points(const traffic_test *, double open, double secret);
/** @return NULL, or why no such call can have cost so little */
char *traffic_impossible(const traffic_test *, const device_counts *,
                         const device_counts *baseline);
const char *bound_name(bound);

#endif
