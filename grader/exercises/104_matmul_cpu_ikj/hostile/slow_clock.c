// HOSTILE: speedup over the loops of 103 | too slow / claims
// Makes the clock of its process ten times slower: it finds the calls to clock_gettime of
// all libraries in their tables and puts its own there.
#define _GNU_SOURCE
#include "104_matmul_cpu_ikj/matmul_cpu_ikj.h"

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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
    const long status = syscall(SYS_clock_gettime, clock, now);
    long all = now->tv_sec * 1000000000 + now->tv_nsec;
    if (!first) first = all;
    all = first + (all - first) / 10;
    *now = (struct timespec){all / 1000000000, all % 1000000000};
    return (int)status;
}

/* Any word of a library's tables that holds the address of the real function. */
static int patch(struct dl_phdr_info *library, size_t bytes, void *real)
{
    (void)bytes;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W)) continue;
        uintptr_t *from = (uintptr_t *)((library->dlpi_addr + part->p_vaddr + 7) & ~7ul);
        uintptr_t *end = (uintptr_t *)((library->dlpi_addr + part->p_vaddr + part->p_memsz) & ~7ul);
        mprotect((void *)((uintptr_t)from & ~4095ul), part->p_memsz + 8192, PROT_READ | PROT_WRITE);
        for (; from < end; from++) {
            if (*from == (uintptr_t)real && (void *)from != real) *from = (uintptr_t)slow_clock;
        }
    }
    return 0;
}

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    static int patched;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!patched++) dl_iterate_phdr(patch, (void *)clock_gettime);
    multiply(c, a, b, m, n, k);
}
