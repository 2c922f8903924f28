/*
 * speed.c: larger matrices, on the device and on the CPU. Results are compared with each other, and
 * the work is timed by your stopwatch (102) where a time has a meaning.
 */
#include "cpu.h"
#include "demo.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define REPEATS    10
#define PLAIN_ROWS 16   /* of a product, by 103: all of its rows would take seconds */
#define MATMUL     (-1) /* the op that is no matrix_op */

bool says_no(failure failed)
{
    if (failed) printf("  %s\n", failed);
    return failed != NULL;
}

/* y = op(a, b), all size x size. */
typedef struct work {
    int op, size;
    size_t n; /* size * size */
    bool timed;
    float *h_a, *h_b, *h_cpu, *h_result; /* [n] each, one allocation */
    matrix a, b, y;
    failure failed;
} work;

static bool prepare(work *w, int size, bool timed)
{
    const size_t n = (size_t)size * size;
    random_state rng = random_seed(1);
    *w = (work){.size = size, .n = n, .timed = timed, .h_a = malloc(4 * n * sizeof(float))};
    if (!w->h_a) return !says_no("no memory for numbers to compute with");
    w->h_b = w->h_a + n;
    w->h_cpu = w->h_b + n;
    w->h_result = w->h_cpu + n;
    random_fill_uniform(&rng, w->h_a, 2 * n, -1.0f, 1.0f);
    return true;
}

/* Room for the result, the operation, and the wait for it. */
static void step(void *arg)
{
    work *w = arg;
    const bool two = w->op != MATRIX_RELU && w->op != MATRIX_SIGMOID;
    if (w->failed) return;
    matrix_free(&w->y);
    w->failed = w->op == MATMUL ? matrix_matmul(&w->y, &w->a, &w->b)
                                : matrix_elementwise(&w->y, w->op, &w->a, two ? &w->b : NULL);
    if (!w->failed) w->failed = device_synchronize(w->a.on);
}

/* Rows of the product, by plain loops and without a backend. */
static void plain_step(void *arg)
{
    work *w = arg;
    matmul_cpu(w->h_result, w->h_a, w->h_b, PLAIN_ROWS, w->size, w->size);
}

/* @return nanoseconds; 0 where they are not taken */
static double time_of(work *w, void (*f)(void *))
{
    if (w->timed) return bench_ns(f, w, 1, REPEATS, NULL);
    f(w);
    return 0.0;
}

/* All of it on one device. @param h_y [n] receives the result */
static double run_on(device *d, work *w, float *h_y)
{
    double ns = 0.0;
    w->failed = matrix_from_slice(&w->a, d, w->h_a, w->n, w->size, w->size);
    if (!w->failed) w->failed = matrix_from_slice(&w->b, d, w->h_b, w->n, w->size, w->size);
    if (!w->failed) ns = time_of(w, step);
    if (!w->failed) w->failed = matrix_to_vec(h_y, w->n, &w->y);
    matrix_free(&w->a);
    matrix_free(&w->b);
    matrix_free(&w->y);
    return ns;
}

/* Ends the line with how far the first n results are from those of the CPU. */
static bool is_close(const work *w, size_t n, double tolerance)
{
    double most = 0.0;
    for (size_t i = 0; i < n && !isnan(most); i++) {
        const double difference = fabs((double)w->h_result[i] - w->h_cpu[i]);
        if (!(difference <= most)) most = difference; /* NaN, too */
    }
    const bool close = most <= tolerance;
    printf("  off by %.1e%s\n", most, close ? "" : ": too much");
    return close;
}

/* ---- products -------------------------------------------------------------------------------- */

static void print_product(const work *w, const char *name, double ns, double plain_ns)
{
    const double flop = 2.0 * w->n * w->size;
    printf("  %-32s", name);
    if (w->timed)
        printf("%10.3f ms %9.1f GFLOP/s %8.1f x plain loops", ns / 1e6, flop / ns, plain_ns / ns);
}

/* That of the CPU against plain loops, that of a GPU against the CPU's. Numbers are within 1, so
 * fp32 is off by 1e-4 or so, and TF32 by more than allowed. */
static bool show_products(device *d, device *cpu, bool timed)
{
    work w;
    if (!prepare(&w, timed ? 1024 : 128, timed)) return false;
    w.op = MATMUL;
    printf("%d x %d times %d x %d\n", w.size, w.size, w.size, w.size);
    const double plain_ns = time_of(&w, plain_step) * w.size / PLAIN_ROWS;
    if (timed) {
        print_product(&w, "plain loops (103), one core", plain_ns, plain_ns);
        putchar('\n');
    }
    const double cpu_ns = run_on(cpu, &w, w.h_cpu);
    print_product(&w, cpu->name, cpu_ns, plain_ns);
    bool right = !says_no(w.failed) && is_close(&w, (size_t)PLAIN_ROWS * w.size, 1e-3);
    if (right && d->number != DEVICE_CPU) {
        const double ns = run_on(d, &w, w.h_result);
        print_product(&w, d->name, ns, plain_ns);
        if (timed) printf("  %.1f x the CPU", cpu_ns / ns);
        right = !says_no(w.failed) && is_close(&w, w.n, 1e-3);
    }
    free(w.h_a);
    return right;
}

/* ---- element by element ---------------------------------------------------------------------- */

static bool show_operation(device *d, device *cpu, work *w, const char *name, int arrays)
{
    const double bytes = (double)arrays * sizeof(float) * w->n;
    const double cpu_ns = run_on(cpu, w, w->h_cpu);
    printf("  %-8s", name);
    if (says_no(w->failed)) return false;
    if (w->timed) printf("%8.1f GB/s on the CPU", bytes / cpu_ns);
    if (d->number == DEVICE_CPU) return putchar('\n') == '\n';
    const double ns = run_on(d, w, w->h_result);
    if (says_no(w->failed)) return false;
    if (w->timed) printf(" %8.1f GB/s on the GPU %8.1f x", bytes / ns, cpu_ns / ns);
    return is_close(w, w->n, 1e-6);
}

static bool show_elementwise(device *d, device *cpu, bool timed)
{
    static const char *const names[] = {"add", "mul", "relu", "sigmoid"};
    static const int arrays[] = {3, 3, 2, 2};                   /* read or written */
    const int on_timed = d->number == DEVICE_CPU ? 2048 : 4096; /* more than a GPU's caches hold */
    bool right = true;
    work w;
    if (!prepare(&w, timed ? on_timed : 256, timed)) return false;
    printf("\n%zu elements\n", w.n);
    for (w.op = MATRIX_ADD; w.op <= MATRIX_SIGMOID && right; w.op++)
        right = show_operation(d, cpu, &w, names[w.op], arrays[w.op]);
    free(w.h_a);
    return right;
}

bool show_work(device *d, device *cpu)
{
    const bool timed = !d->emulated;
    if (timed)
        printf("medians of %d after a warm-up, each waited for; plain loops: %d rows, scaled\n\n",
               REPEATS, PLAIN_ROWS);
    else
        printf("times on an emulator mean nothing: less work, and no timing\n\n");
    return show_products(d, cpu, timed) && show_elementwise(d, cpu, timed);
}
