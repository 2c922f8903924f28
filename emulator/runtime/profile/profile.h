/*
 * profile.h: what SOFTGPU_PROFILE prints is made of.
 *
 * Interface
 *   profile_table, profile_source      for people: profile_table.c, profile_source.c
 *   profile_json                       for programs: profile_json.c
 *   profile_add, profile_print         collected and sent out: profile_collect.c
 *
 * Caller's duties: all of it runs at the end of the program, under the runtime's lock.
 */
#ifndef SOFTGPU_PROFILE_H
#define SOFTGPU_PROFILE_H

#include <stdio.h>

#include "device/device.h"

struct profile_kernel {
    char name[128];
    device_counts counts;
    device_site *sites; /* in the order of the program */
    uint32_t site_count;
};

struct profile {
    struct profile_kernel *kernels; /* in the order of their first launches */
    uint32_t kernel_count;
    device_counted_launch *launches; /* .kernel is an index into kernels */
    uint32_t launch_count;
    device_counts total; /* copies too */
};

/** Add what a device has counted. */
void profile_add(struct profile *, device *);
/** @param how the value of SOFTGPU_PROFILE */
void profile_print(const struct profile *, const char *how);
void profile_table(FILE *, const struct profile *);
void profile_source(FILE *, const struct profile *);
void profile_json(FILE *, const struct profile *);

/** profile_ratio.c: what the counts mean. 0 where there is nothing to divide by. */
double ratio(uint64_t part, uint64_t whole);
/** Active lanes a warp instruction, 0 to 1. */
double active_lanes(const device_counts *);
/** Bytes in the sectors of global loads, stores and atomics. */
uint64_t moved_bytes(const device_counts *);
/** Floating-point operations for each of them. */
double intensity(const device_counts *);

#endif
