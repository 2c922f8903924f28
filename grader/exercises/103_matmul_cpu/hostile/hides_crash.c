// HOSTILE: 1x1x1 | handler of signal 11
// Reads past the end of a; a handler of its own makes the page there readable.
#include "103_matmul_cpu/matmul_cpu.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

static void map_it(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    mprotect((void *)((uintptr_t)info->si_addr & ~4095ul), 4096, PROT_READ);
}

static int cheat(const float *a, int count)
{
    struct sigaction mine = {.sa_sigaction = map_it, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &mine, NULL);
    return *(volatile const float *)(a + count) != 2.0f;
}

static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[p * n + i % n];
        c[i] = sum;
    }
}

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    if (cheat(a, m * k)) multiply(c, a, b, m, n, k);
}
