/*
 * profile.h: the parts of SOFTGPU_PROFILE's output.
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

#include "runtime/core/runtime.h"

struct profile_kernel {
    char name[128];
    device_counts counts;
    device_instruction *instructions; /* in the order of the program */
    uint32_t instruction_count;
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

/* count.c: what launches and copies cost. */
/** The device was just opened; it will be closed. */
void count_opened(void);
void count_closing(void);
/** A copy or a fill that the program asked for is done. */
void count_copy(bool to_device, bool from_device, size_t bytes);
void count_fill(size_t bytes);
void count_allocation(size_t bytes);
void count_free(size_t bytes);
/** Since the program began, as far as somebody asked for it. */
device_counts count_so_far(void);

/* profile_ratio.c: arithmetic. */
void count_add(device_counts *to, const device_counts *from);
/** Modulo 2^64: minus one time subtracts. */
void count_add_times(device_counts *to, const device_counts *from, uint64_t times);

/* profile.c: SOFTGPU_PROFILE. */
bool profile_wanted(void);
/** Take the counts of the device, which will be closed. */
void profile_collect(void);

#endif
