/*
 * matmul.c: the ladder of matrix products in one table: all rungs of the CPU, OpenBLAS, NumPy, all
 * rungs of the GPU, and cuBLAS in each precision.
 *
 *   bench_matmul [SIZE ...]     TSV on stdout; sizes are n of n x n x n
 *
 * Each time is the median of up to 15 calls. The output that was timed last is checked: all of it
 * was written, and each of SAMPLES elements is compared with a sum in double. A wrong one is called
 * WRONG and has no speed. A rung whose product would take longer than LONGEST seconds stops.
 *
 * Lines that begin with # name the machine and its roofs. Built without WITH_OPENBLAS or WITH_GPU,
 * and where $PYTHON has no NumPy, a row says so.
 */
#define _GNU_SOURCE
#include "matmul.h"

#include "course/course.h"
#include "cpu.h"
#include "random.h"
#include "table.h"
#include "timer.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REPEATS 15    /* at most */
#define ENOUGH  500.0 /* milliseconds, of all calls of a rung */
#define LONGEST 5.0   /* seconds; a verdict names it */
#define SAMPLES 256
#define LARGEST 32768

static int cores;
static int shared; /* the file of the matrices, for NumPy */

/* ---- timing ---------------------------------------------------------------------------------- */

double median_of(double (*once)(const rung *, const product *), const rung *r, const product *p)
{
    double times[REPEATS + 1], total = 0.0;
    int count = 0;
    while (count <= REPEATS && total < ENOUGH) {
        const double ms = once(r, p);
        if (!(ms > 0)) return ms;
        times[count++] = ms;
        total += ms;
    }
    const int first = count > 1; /* the others were warm */
    qsort(times + first, (size_t)(count - first), sizeof *times, by_value);
    return times[first + (count - first) / 2];
}

static double once_by_clock(const rung *r, const product *p)
{
    const double began = seconds_now();
    r->cpu(p->c, p->a[FULL], p->b[FULL], p->n);
    return 1e3 * (seconds_now() - began);
}

static double by_clock(const rung *r, const product *p)
{
    return median_of(once_by_clock, r, p);
}

/* ---- the CPU's rungs ------------------------------------------------------------------------- */

static void three_loops(float *c, const float *a, const float *b, int n)
{
    matmul_cpu(c, a, b, n, n, n);
}

static void ikj(float *c, const float *a, const float *b, int n)
{
    matmul_cpu_ikj(c, a, b, n, n, n);
}

static void blocked(float *c, const float *a, const float *b, int n)
{
    matmul_cpu_blocked(c, a, b, n, n, n);
}

static void vectorized(float *c, const float *a, const float *b, int n)
{
    matmul_cpu_vectorized(c, a, b, n, n, n);
}

static void general(float *c, const float *a, const float *b, int n)
{
    gemm_cpu(0, 0, n, n, n, 1.0f, a, n, b, n, 0.0f, c, n);
}

static void packed(float *c, const float *a, const float *b, int n)
{
    matmul_cpu_packed(c, a, b, n, n, n, 1);
}

static void threads(float *c, const float *a, const float *b, int n)
{
    matmul_cpu_threads(c, a, b, n, n, n, cores);
}

static void packed_by_threads(float *c, const float *a, const float *b, int n)
{
    matmul_cpu_packed(c, a, b, n, n, n, cores);
}

#ifdef WITH_OPENBLAS
#include <cblas.h>

static void openblas(float *c, const float *a, const float *b, int n)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}

static double by_openblas(const rung *r, const product *p)
{
    openblas_set_num_threads(strcmp(r->on, "1 core") == 0 ? 1 : cores);
    return by_clock(r, p);
}
#define OPENBLAS .time = by_openblas, .cpu = openblas
#else
#define OPENBLAS .time = not_here

static double not_here(const rung *r, const product *p)
{
    (void)r, (void)p;
    return 0.0;
}
#endif

/* It multiplies the same matrices, in the same memory, and prints its median. */
static double by_numpy(const rung *r, const product *p)
{
    char command[256];
    double ms = 0.0;
    (void)r;
    snprintf(command, sizeof command,
             "\"${PYTHON:-/usr/bin/python3}\" bench/matmul_numpy.py %d %d %d %g 2>/dev/null",
             shared, p->n, REPEATS, ENOUGH);
    FILE *out = popen(command, "r");
    if (!out) return 0.0;
    if (fscanf(out, "%lf", &ms) != 1) ms = 0.0;
    return pclose(out) == 0 ? ms : 0.0;
}

static const rung cpu_rungs[] = {
    {"103 three loops", "1 core", "fp32", .time = by_clock, .cpu = three_loops},
    {"104 i, k, j", "1 core", "fp32", .time = by_clock, .cpu = ikj},
    {"105 blocked", "1 core", "fp32", .time = by_clock, .cpu = blocked},
    {"106 vectorized", "1 core", "fp32", .time = by_clock, .cpu = vectorized},
    {"108 gemm", "1 core", "fp32", .time = by_clock, .cpu = general},
    {"1a packed", "1 core", "fp32", .time = by_clock, .cpu = packed},
    {"OpenBLAS", "1 core", "fp32", .is_library = 1, OPENBLAS},
    {"107 threads", "all cores", "fp32", .time = by_clock, .cpu = threads},
    {"1a packed", "all cores", "fp32", .time = by_clock, .cpu = packed_by_threads},
    {"OpenBLAS", "all cores", "fp32", .is_library = 1, OPENBLAS},
    {"NumPy", "all cores", "fp32", .time = by_numpy},
};
#define CPU_RUNGS ((int)(sizeof cpu_rungs / sizeof *cpu_rungs))

#define RUNGS_MAX 64
static const rung *rungs[RUNGS_MAX];
static int rung_count;

static void list_rungs(void)
{
    for (int i = 0; i < CPU_RUNGS; i++) rungs[rung_count++] = &cpu_rungs[i];
#ifdef WITH_GPU
    int count;
    const rung *of_gpu = gpu_rungs(&count);
    for (int i = 0; i < count; i++) rungs[rung_count++] = &of_gpu[i];
#endif
}

/* ---- roofs ----------------------------------------------------------------------------------- */

static struct roof {
    const char *on, *name;
    double gflops;
} roofs[] = {{"1 core", "fp32", 0}, {"all cores", "fp32", 0}, {"GPU", "fp32", 0},
             {"GPU", "tf32", 0},    {"GPU", "bf16", 0},       {"GPU", "fp16", 0},
             {"GPU", "3xtf32", 0}};
#define ROOFS (sizeof roofs / sizeof *roofs)

static double roof_of(const rung *r)
{
    const char *name = r->roof ? r->roof : r->precision;
    for (size_t i = 0; i < ROOFS; i++) {
        if (strcmp(roofs[i].on, r->on) == 0 && strcmp(roofs[i].name, name) == 0)
            return roofs[i].gflops;
    }
    return 0.0;
}

/* 106's yardstick: multiply-adds in registers. */
void baseline_fma_peak(float *c, const float *a, const float *b, int m, int n, int k);

static void *multiply_add(void *unused)
{
    float c[64], one = 1.0f;
    baseline_fma_peak(c, &one, &one, 1024, 1024, 1024);
    return unused;
}

/* The best of a few: so many cores at once. */
static double cpu_roof(int count)
{
    double best = 0.0;
    for (int trial = 0; trial < 20; trial++) {
        pthread_t thread[count];
        const double began = seconds_now();
        int started = 0;
        while (started < count - 1 &&
               pthread_create(&thread[started], NULL, multiply_add, NULL) == 0)
            started++;
        multiply_add(NULL);
        for (int t = 0; t < started; t++) pthread_join(thread[t], NULL);
        const double rate = 2e-9 * 1024 * 1024 * 1024 * (started + 1) / (seconds_now() - began);
        if (rate > best) best = rate;
    }
    return best;
}

static void find_roofs(void)
{
    roofs[0].gflops = cpu_roof(1);
    roofs[1].gflops = cpu_roof(cores);
#ifdef WITH_GPU
    const int capability = (int)(10 * atof(fact("compute_capability")) + 0.5);
    const double clocks = 1e-9 * atof(fact("clocks_of_all_sms"));
    roofs[2].gflops = 1e-9 * atof(fact("flop_per_second"));
    roofs[3].gflops = clocks * tensor_operations(capability, IN_TF32);
    roofs[4].gflops = roofs[5].gflops = clocks * tensor_operations(capability, IN_HALF);
    roofs[6].gflops = roofs[3].gflops / 3; /* a product of fp32 is three of TF32 */
#endif
}

static void describe_machine(void)
{
    printf("# ");
#ifdef WITH_GPU
    printf("device %s; ", fact("name"));
    printf("driver for CUDA %s; ", fact("driver"));
#endif
    printf("CPU %s, %d cores; commit %s\n# roofs:", variable("COURSE_CPU"), cores,
           variable("COURSE_COMMIT"));
    for (size_t i = 0; i < ROOFS; i++) {
        if (roofs[i].gflops > 0)
            printf(" %.*s_%s=%.5g", (int)strcspn(roofs[i].on, " "), roofs[i].on, roofs[i].name,
                   roofs[i].gflops);
    }
    printf(" GFLOP/s");
#ifdef WITH_GPU
    printf(", copy=%.4g GB/s", 1e-9 * atof(fact("copy_bytes_per_second")));
#endif
    printf("\nn\trung\ton\tprecision\tmilliseconds\tGFLOP/s\t%% of library\t%% of "
           "peak\terror\tverdict\n");
}

/* ---- the check ------------------------------------------------------------------------------- */

/** Elements of c that are looked at, and what they should be. */
typedef struct samples {
    int row[SAMPLES], col[SAMPLES];
    double want[NUMBERS][SAMPLES], scale[NUMBERS][SAMPLES]; /* scale: the sum of |a b| */
} samples;

static void take_samples(samples *s, const product *p, random_state *rng)
{
    for (int i = 0; i < SAMPLES; i++) { /* the four corners among them */
        s->row[i] = i < 4 ? i / 2 * (p->n - 1) : (int)random_below(rng, (uint64_t)p->n);
        s->col[i] = i < 4 ? i % 2 * (p->n - 1) : (int)random_below(rng, (uint64_t)p->n);
        for (int kind = 0; kind < NUMBERS; kind++) {
            double sum = 0.0, all = 0.0;
            for (int q = 0; q < p->n; q++) {
                const double term = (double)p->a[kind][(size_t)s->row[i] * p->n + q] *
                                    p->b[kind][(size_t)q * p->n + s->col[i]];
                sum += term;
                all += fabs(term);
            }
            s->want[kind][i] = sum;
            s->scale[kind][i] = all;
        }
    }
}

static int is(const rung *r, const char *precision)
{
    return strcmp(r->precision, precision) == 0;
}

/* The largest error, as a part of the sum of |a b|; NaN where something was not written. */
static double error_of(const rung *r, const product *p, const samples *s)
{
    const numbers kind = is(r, "bf16") || is(r, "fp16") ? SHORT : FULL;
    double worst = 0.0;
    for (size_t i = 0; i < (size_t)p->n * p->n; i++) {
        if (isnan(p->c[i])) return NAN;
    }
    for (int i = 0; i < SAMPLES; i++) {
        const double got = p->c[(size_t)s->row[i] * p->n + s->col[i]];
        const double error = fabs(got - s->want[kind][i]) / s->scale[kind][i];
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

/* TF32 cuts 13 bits off each factor. */
static double allowed(const rung *r)
{
    return is(r, "tf32") ? 2e-3 : 2e-6;
}

/* ---- one size -------------------------------------------------------------------------------- */

typedef struct outcome {
    double milliseconds, error;
    const char *verdict;
} outcome;

/* Seconds of a multiply-add, by a small product. */
static double probe(const rung *r, const product *p)
{
    product small = *p;
    if (!r->cpu) return 0.0;
    if (small.n > 128) small.n = 128;
    return 1e-3 * once_by_clock(r, &small) / ((double)small.n * small.n * small.n);
}

/* each: seconds of a multiply-add at the size before; 0: there was none. */
static outcome measure(const rung *r, const product *p, const samples *s, double *each)
{
    outcome o = {0, 0, "right"};
    const double work = (double)p->n * p->n * p->n;
    if (*each == 0.0) *each = probe(r, p);
    if (*each * work > LONGEST) return (outcome){.verdict = "takes more than 5 s"};
    memset(p->c, 0xff, (size_t)p->n * p->n * sizeof *p->c); /* NaN */
    o.milliseconds = r->time(r, p);
    if (!(o.milliseconds > 0))
        return (outcome){.verdict = o.milliseconds < 0 ? "failed" : "not here"};
    *each = 1e-3 * o.milliseconds / work;
    o.error = error_of(r, p, s);
    if (!(o.error <= allowed(r))) o.verdict = "WRONG";
    return o;
}

static int is_right(const outcome *o)
{
    return strcmp(o->verdict, "right") == 0;
}

/* What is 100 % of this rung, in milliseconds; 0: it is not here. */
static double library_of(const outcome *outcomes, int i)
{
    for (int j = 0; j < rung_count; j++) {
        if (rungs[j]->is_library && is_right(&outcomes[j]) && is(rungs[i], rungs[j]->precision) &&
            strcmp(rungs[i]->on, rungs[j]->on) == 0)
            return outcomes[j].milliseconds;
    }
    return 0.0;
}

static void print_rung(const rung *r, const outcome *o, int n, double library)
{
    const double gflops = is_right(o) ? 2e-6 * n * n * n / o->milliseconds : 0.0;
    const double roof = roof_of(r);
    printf("%d\t%s\t%s\t%s", n, r->name, r->on, r->precision);
    print_number("%.4f", is_right(o) ? o->milliseconds : 0.0);
    print_number("%.1f", gflops);
    print_number("%.1f", is_right(o) ? 100 * library / o->milliseconds : 0.0);
    print_number("%.1f", roof > 0 ? 100 * gflops / roof : 0.0);
    print_number("%.1e", o->error);
    printf("\t%s\n", o->verdict);
}

/* Five matrices, in a file that only this process and its children see. */
static int make_product(product *p, int n, random_state *rng)
{
    const size_t size = (size_t)n * n, bytes = 5 * size * sizeof(float);
    shared = memfd_create("matrices", 0);
    if (shared < 0 || ftruncate(shared, (off_t)bytes) != 0) return 0;
    float *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    if (all == MAP_FAILED) return 0;
    *p = (product){n, all, {all + size, all + 3 * size}, {all + 2 * size, all + 4 * size}};
    random_fill_uniform(rng, p->a[FULL], 2 * size, -1.0f, 1.0f);
    for (size_t i = 0; i < 2 * size; i++)
        p->a[SHORT][i] = (float)((int)random_below(rng, 255) - 127) / 128;
    return 1;
}

static void free_product(product *p)
{
    munmap(p->c, 5 * (size_t)p->n * p->n * sizeof(float));
    close(shared);
}

static int bench_size(int n)
{
    static double each[RUNGS_MAX];
    outcome outcomes[RUNGS_MAX];
    product p;
    samples s;
    random_state rng = random_seed((unsigned)n);
    if (!make_product(&p, n, &rng)) {
        fprintf(stderr, "bench_matmul: no memory for n = %d\n", n);
        return 1;
    }
    take_samples(&s, &p, &rng);
#ifdef WITH_GPU
    const int room = gpu_begin(&p);
#endif
    for (int i = 0; i < rung_count; i++) {
#ifdef WITH_GPU
        if (rungs[i]->gpu && !room) {
            outcomes[i] = (outcome){.verdict = "no room on the GPU"};
            continue;
        }
#endif
        outcomes[i] = measure(rungs[i], &p, &s, &each[i]);
    }
    for (int i = 0; i < rung_count; i++) {
        print_rung(rungs[i], &outcomes[i], n, library_of(outcomes, i));
    }
#ifdef WITH_GPU
    if (room) gpu_end();
#else
    printf("%d\tall rungs of the GPU, cuBLAS\tGPU\t\t\t\t\t\t\tneeds a GPU\n", n);
#endif
    fflush(stdout);
    free_product(&p);
    return 0;
}

int main(int argc, char **argv)
{
    cpu_set_t mine;
    int failed = 0;
    sched_getaffinity(0, sizeof mine, &mine);
    cores = CPU_COUNT(&mine);
    for (int i = 1; i < argc; i++) {
        if (atoi(argv[i]) >= 1 && atoi(argv[i]) <= LARGEST) continue;
        fprintf(stderr, "usage: bench_matmul SIZE ..., each from 1 to %d\n", LARGEST);
        return 2;
    }
    find_roofs();
    describe_machine();
    list_rungs();
    for (int i = 1; i < argc; i++) failed |= bench_size(atoi(argv[i]));
    return failed;
}
