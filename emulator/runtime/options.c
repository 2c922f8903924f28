/*
 * options.c: what the environment says of the device.
 *
 *   SOFTGPU_THREADS=N       host threads that run blocks; default: one a core
 *   SOFTGPU_BUDGET=N        instructions that one warp may execute in one launch before the launch
 *                           counts as an endless loop
 *   SOFTGPU_CHECKS=off|on   races and uninitialised reads; default on
 *   SOFTGPU_MEMORY=N[KMG]   device memory in bytes; default 8G
 */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

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

uint64_t option_memory_bytes(void)
{
    return number("SOFTGPU_MEMORY", UINT64_C(8) << 30);
}

device_options options_read(void)
{
    const char *checks = getenv("SOFTGPU_CHECKS");

    return (device_options){
        .memory_bytes = option_memory_bytes(),
        .budget = number("SOFTGPU_BUDGET", 0),
        .threads = (uint32_t)number("SOFTGPU_THREADS", 0),
        .checks = checks && !strcmp(checks, "off") ? DEVICE_CHECK_NONE : 0,
    };
}
