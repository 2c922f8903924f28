/*
 * options.h: the settings of softgpu in the environment. It knows neither runtime nor program: a
 * device in a process of its own reads the same.
 */
#ifndef SOFTGPU_OPTIONS_H
#define SOFTGPU_OPTIONS_H

#include "device/device.h"

enum { MAX_DEVICES = 8 };

/* options.c: the environment. */
int option_devices(void);
/** Addresses of each device, in bytes. */
uint64_t option_device_range(void);
uint64_t option_memory_bytes(void);
device_options options_read(int ordinal);

/* checks.c: SOFTGPU_CHECKS: what to look for, and how serious it is. */
enum check_level { CHECK_OFF, CHECK_WARN, CHECK_FATAL };
enum check {
    CHECK_FAULTS, /* what ends a launch on a GPU as well */
    CHECK_UNINITIALISED,
    CHECK_RACES,
    CHECK_BARRIERS,
    CHECK_LANES,
    CHECK_FREES,
    CHECK_ERRORS,
    CHECK_LEAKS,
    CHECK_LINT,
    CHECKS,
};
enum check_level check_level(enum check);
/** By which one a finding of the device is switched. */
enum check check_of(device_finding_kind);
/** As a bit set of device_check. */
uint32_t checks_for_device(void);

#endif
