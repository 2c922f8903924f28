/*
 * options.c: the settings of the device in the environment.
 *
 *   SOFTGPU_THREADS=N       host threads that run blocks; default: one a core
 *   SOFTGPU_BUDGET=N        instructions that one warp may execute in one launch before the launch
 *                           counts as an endless loop
 *   SOFTGPU_CHECKS=...      what to look for: checks.c
 *   SOFTGPU_MEMORY=N[KMG]   memory of each device in bytes; default 8G
 *   SOFTGPU_DEVICES=N       how many devices there are, 1 to 8; default 1
 */
#include "options.h"

#include <stdlib.h>

/** @return the number in variable `name`, or `otherwise` when unset or not a number. */
static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    char *end;

    if (!text || !*text) return otherwise;
    uint64_t value = strtoull(text, &end, 0);
    switch (*end) {
    case 'G': value <<= 10; /* fall through */
    case 'M': value <<= 10; /* fall through */
    case 'K': value <<= 10; /* fall through */
    case '\0': return value;
    }
    return otherwise;
}

int option_devices(void)
{
    static int devices;

    if (devices) return devices;
    uint64_t wanted = number("SOFTGPU_DEVICES", 1);
    return devices = wanted < 1 ? 1 : wanted > MAX_DEVICES ? MAX_DEVICES : (int)wanted;
}

uint64_t option_device_range(void)
{
    uint64_t unit = 1 << 20;

    return DEVICE_OWN_BYTES / (uint64_t)option_devices() / unit * unit;
}

/** No more than there are addresses. */
uint64_t option_memory_bytes(void)
{
    uint64_t most = option_device_range() - (1 << 20);
    uint64_t wanted = number("SOFTGPU_MEMORY", UINT64_C(8) << 30);

    return wanted < most ? wanted : most;
}

device_options options_read(int ordinal)
{
    return (device_options){
        .memory_bytes = option_memory_bytes(),
        .budget = number("SOFTGPU_BUDGET", 0),
        .threads = (uint32_t)number("SOFTGPU_THREADS", 0),
        .first_byte = (uint64_t)ordinal * option_device_range(),
        .range_bytes = option_device_range(),
        .checks = checks_for_device(),
    };
}
