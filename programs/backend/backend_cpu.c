/*
 * backend_cpu.c: the CPU as a device. The product is that of exercise 107, by all cores; the rest
 * is bound by memory, and done by one. The work is done when a function returns.
 */
#include "backend.h"
#include "cpu.h"

#include <malloc.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int usable_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* What is freed stays with the program, as it does in the pool of a GPU: new memory of Linux comes
 * page by page, each at the price of an interrupt, and that would be what an operation takes. */
static failure cpu_open(device *d)
{
    const int cores = usable_cores();
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    snprintf(d->name, sizeof d->name, "CPU with %d core%s", cores, cores == 1 ? "" : "s");
    return NULL;
}

static void cpu_close(device *d)
{
    (void)d;
}

static failure cpu_synchronize(device *d)
{
    (void)d;
    return NULL;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t pages(int which)
{
    return (size_t)sysconf(which) * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t in_use, peak; /* bytes of all matrices */

static failure cpu_memory(device *d, memory_use *now)
{
    (void)d;
    *now = (memory_use){pages(_SC_PHYS_PAGES), pages(_SC_AVPHYS_PAGES), in_use, peak, 0, 0};
    return NULL;
}

/* Linux promises more memory than there is, and ends the program that takes it at its word: so what
 * could never fit is not asked for. */
static failure cpu_allocate(device *d, float **x, size_t n)
{
    const size_t bytes = n * sizeof(float);
    *x = bytes <= pages(_SC_PHYS_PAGES) ? malloc(bytes) : NULL;
    if (!*x) return refuse_memory(d, n);
    in_use += bytes;
    if (in_use > peak) peak = in_use;
    return NULL;
}

static failure cpu_release(device *d, float *x, size_t n)
{
    (void)d;
    in_use -= n * sizeof(float);
    free(x);
    return NULL;
}

/* Up or down: host and device are one. */
static failure cpu_copy(device *d, float *to, const float *from, size_t n)
{
    (void)d;
    memcpy(to, from, n * sizeof(float));
    return NULL;
}

static failure cpu_fill(device *d, float *x, float value, size_t n)
{
    (void)d;
    for (size_t i = 0; i < n; i++) x[i] = value;
    return NULL;
}

/* ---- operations ------------------------------------------------------------------------------ */

static failure cpu_matmul(device *d, float *c, const float *a, const float *b, int m, int n, int k)
{
    (void)d;
    matmul_cpu_threads(c, a, b, m, n, k, usable_cores());
    return NULL;
}

static failure cpu_elementwise(device *d, matrix_op op, float *y, const float *a, const float *b,
                               size_t n)
{
    (void)d;
    switch (op) { /* outside of the loops, which are vectorized so */
    case MATRIX_ADD:
        for (size_t i = 0; i < n; i++) y[i] = a[i] + b[i];
        break;
    case MATRIX_MUL:
        for (size_t i = 0; i < n; i++) y[i] = a[i] * b[i];
        break;
    case MATRIX_RELU:
        for (size_t i = 0; i < n; i++) y[i] = a[i] < 0.0f ? 0.0f : a[i];
        break;
    case MATRIX_SIGMOID:
        for (size_t i = 0; i < n; i++) y[i] = 1.0f / (1.0f + expf(-a[i]));
        break;
    }
    return NULL;
}

static failure cpu_sum(device *d, float *h_total, const float *x, size_t n)
{
    (void)d;
    double total = 0.0;
    for (size_t i = 0; i < n; i++) total += x[i];
    *h_total = (float)total;
    return NULL;
}

const backend backend_cpu = {
    .open = cpu_open,
    .close = cpu_close,
    .synchronize = cpu_synchronize,
    .memory = cpu_memory,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .upload = cpu_copy,
    .download = cpu_copy,
    .fill = cpu_fill,
    .matmul = cpu_matmul,
    .elementwise = cpu_elementwise,
    .sum = cpu_sum,
};
