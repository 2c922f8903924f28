/*
 * timing.h: what speed tests need besides times: who had the cores, what the GPU did, and what a
 * handful of numbers say. A part of grader.h's index.
 */
#ifndef GRADER_TIMING_H
#define GRADER_TIMING_H

#include <stdbool.h>
#include <sys/types.h>

/* ---- usage.c --------------------------------------------------------------------------------- */

/** Seconds so far: of work, of all threads of a process; that its first one waited for a core. */
typedef struct core_usage {
    double worked, waited;
} core_usage;

core_usage usage_of(pid_t process);
/** Memory that a process holds and shares with nobody. */
size_t bytes_held_by(pid_t process);
/** Before and after a timed call a worker copies its buffers. @param beside seconds that it worked
 *  there @param honest that a worker without a student's code did, for the same buffers
 *  @return what it worked more than that, and so did not do in the time that is claimed */
double work_hidden(double beside, double honest);
/** What a host took away from this virtual machine, and all there was; in ticks of all cores. */
void read_stolen(double *stolen, double *all);

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

/* ---- statistics.c ---------------------------------------------------------------------------- */

#define SAMPLES_MAX 64

typedef struct interval {
    double median, low, high; /* 95 % */
} interval;

/** Of up to SAMPLES_MAX values; of none: zeros. */
interval bootstrap(const double *values, int count);
double quantile(const double *values, int count, double part); /* part 0.5: the median */

#endif
