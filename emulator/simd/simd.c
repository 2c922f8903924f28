/*
 * simd.c: one device, compiled several times: for any x86-64 processor, for those with AVX2 and for
 * those with AVX-512. Which of them a process uses is chosen here, before main.
 *
 * Interface
 *   every function of device/device.h: a jump into the chosen one
 *   softgpu_simd
 *
 * SOFTGPU_SIMD=plain|avx2|avx512 forces one; a process that asks for what the processor lacks ends
 * with a message. emulator.mk gives the functions of each device a prefix and lists them in
 * simd.inc, FUNCTION(device_open) and so on. Arguments stay in their registers, so a jump is
 * enough, and the declarations of device.h need not be repeated here.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu.h"

#define HIDDEN __attribute__((visibility("hidden")))

#define FUNCTION(name)                                                                             \
    extern const char plain_##name[], avx2_##name[], avx512_##name[];                              \
    extern const char *chosen_##name;                                                              \
    HIDDEN const char *chosen_##name = plain_##name;                                               \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name                          \
            ":\n\tjmp *chosen_" #name "(%rip)\n");
#include "simd.inc"
#undef FUNCTION

static const char *const names[] = {"plain", "avx2", "avx512"};
enum { PLAIN, AVX2, AVX512 };

static int chosen;

static int best(void)
{
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
    return !avx2 ? PLAIN : avx512 ? AVX512 : AVX2;
}

/* The one that SOFTGPU_SIMD names, or the best. */
static int wanted(int most)
{
    const char *name = getenv("SOFTGPU_SIMD");
    if (!name || !*name) return most;
    for (int i = PLAIN; i <= most; i++) {
        if (!strcmp(names[i], name)) return i;
    }
    fprintf(stderr, "softgpu: SOFTGPU_SIMD=%s: this processor can do", name);
    for (int i = PLAIN; i <= most; i++) fprintf(stderr, "%s %s", i ? "," : "", names[i]);
    fprintf(stderr, "\n");
    exit(EXIT_FAILURE);
}

static __attribute__((constructor(101))) void choose(void)
{
    chosen = wanted(best());
#define FUNCTION(name)                                                                             \
    chosen_##name = chosen == AVX512 ? avx512_##name : chosen == AVX2 ? avx2_##name : plain_##name;
#include "simd.inc"
}

const char *softgpu_simd(void)
{
    return names[chosen];
}
