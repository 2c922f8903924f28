// HOSTILE: speedup over the loops of 103 | too slow / claims
// Makes the clock of its process ten times slower: it finds the calls to clock_gettime
// in the worker's tables and puts its own there, where the worker's tables are not sealed.
#define _GNU_SOURCE
#include "104_matmul_cpu_ikj/matmul_cpu_ikj.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[p * n + i % n];
        c[i] = sum;
    }
}

static int slow_clock(clockid_t clock, struct timespec *now)
{
    static long first;
    long status = SYS_clock_gettime;
    __asm__ volatile("syscall" : "+a"(status) : "D"(clock), "S"(now) : "rcx", "r11", "memory");
    long all = now->tv_sec * 1000000000 + now->tv_nsec;
    if (!first) first = all;
    all = first + (all - first) / 10;
    *now = (struct timespec){all / 1000000000, all % 1000000000};
    return (int)status;
}

/* Any word of the worker's tables that holds the address of the real function. */
static void patch(uintptr_t *from, uintptr_t *end)
{
    if (mprotect(from, (size_t)((char *)end - (char *)from), PROT_READ | PROT_WRITE) != 0)
        return; /* sealed, since Linux 6.10: then it is only slow */
    for (; from < end; from++) {
        if (*from == (uintptr_t)clock_gettime) *from = (uintptr_t)slow_clock;
    }
}

static void patch_all(void)
{
    char line[512], may[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        uintptr_t from, end;
        const int read = sscanf(line, "%lx-%lx %7s", &from, &end, may);
        if (read == 3 && may[0] == 'r' && may[2] != 'x' && strstr(line, "worker"))
            patch((uintptr_t *)from, (uintptr_t *)end);
    }
    if (maps) fclose(maps);
}

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    static int patched;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!patched++) patch_all();
    multiply(c, a, b, m, n, k);
}
