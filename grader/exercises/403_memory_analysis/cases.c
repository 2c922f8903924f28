/*
 * 403_memory_analysis: what the student predicts of five frozen kernels and of one of the
 * student's own, against what is so. Loads are counted by softgpu; on a GPU, where nobody counts,
 * those of the five are known by arithmetic that softgpu's counts confirm. Registers and occupancy
 * are the runtime's. Times under the roofline are the student's by hand, for numbers that each
 * student has others of. shape: m, n / 8, k / 8, tile / 8, kernel
 */
#include "correctness/case.h"

#include <math.h>

enum { ROWS, COLUMNS, TILED, REGISTERS, VECTORIZED, OWN };

static const char *const kernels[] = {"rows", "columns", "tiled", "registers", "vectorized", "own"};

/* ---- as in optimization.h -------------------------------------------------------------------- */

typedef struct metrics {
    uint64_t global_loads, shared_loads, registers;
    float occupancy, efficiency;
} metrics;

typedef struct launch {
    uint64_t kernel;
    unsigned grid[3], block[3];
    uint64_t shared;
} launch;

typedef struct product {
    long m, n, k, tile;
    int kernel;
} product;

static product product_of(const long *shape)
{
    return (product){shape[0], 8 * shape[1], 8 * shape[2], 8 * shape[3], (int)shape[4]};
}

/* A struct of the host, as that many ints. */
static argument struct_out(const char *name, void *data, size_t bytes)
{
    return host(out_i32(name, data, bytes / sizeof(int)));
}

static void ask(const char *function, product p, argument out)
{
    call_cuda(function, ARGS(out, i32(p.kernel), i32((int)p.m), i32((int)p.n), i32((int)p.k),
                             i32((int)p.tile)));
}

static metrics analyze(product p)
{
    metrics said;
    ask("analyze_memory", p, struct_out("metrics", &said, sizeof said));
    return said;
}

/* ---- loads ----------------------------------------------------------------------------------- */

typedef struct loads {
    uint64_t global, sectors, shared;
} loads;

static uint64_t parts(uint64_t length, uint64_t part)
{
    return (length + part - 1) / part;
}

/* Of the last two kernels; width: columns of b a request */
static loads of_registers(uint64_t m, uint64_t n, uint64_t k, uint64_t tile, uint64_t width)
{
    const uint64_t down = parts(m, 16), across = parts(n, 128), steps = parts(k, tile);
    return (loads){.global = m * steps * across + k * parts(n, width) * down,
                   .sectors = m * k / 8 * across + k * n / 8 * down,
                   .shared = down * across * steps * tile * 24 * 32 / width};
}

static loads by_arithmetic(product p)
{
    const uint64_t m = (uint64_t)p.m, n = (uint64_t)p.n, k = (uint64_t)p.k, tile = (uint64_t)p.tile;
    const uint64_t row_warps = parts(m, 32) * n, column_warps = m * parts(n, 32);
    const uint64_t down = parts(m, tile), across = parts(n, 32), steps = parts(k, 32);
    switch (p.kernel) {
    case ROWS: return (loads){2 * k * row_warps, k * m * n + k * row_warps, 0};
    case COLUMNS: return (loads){2 * k * column_warps, k * column_warps + k * m * n / 8, 0};
    case TILED:
        return (loads){m * steps * across + k * across * down,
                       m * k / 8 * across + k * n / 8 * down, down * across * steps * 64 * tile};
    case REGISTERS: return of_registers(m, n, k, tile, 32);
    default: return of_registers(m, n, k, tile, 128);
    }
}

static loads counted(product p, const device_counts *c)
{
    const loads l = {c->global_load.requests, c->global_load.sectors, c->shared_load.requests};
    const loads known = by_arithmetic(p);
    expect(p.kernel == OWN ||
               (l.global == known.global && l.sectors == known.sectors && l.shared == known.shared),
           "matmul_launches.h was changed: the kernel `%s` makes other loads", kernels[p.kernel]);
    return l;
}

/* The kernel runs, and must be right. */
static loads loads_of(product p)
{
    const size_t a_size = (size_t)(p.m * p.k), b_size = (size_t)(p.k * p.n);
    const size_t c_size = (size_t)(p.m * p.n);
    const float *a = random_f32(a_size), *b = random_f32(b_size);
    float *c = f32_array(c_size);
    call_counted("matmul_run", ARGS(i32(p.kernel), out_f32("c", c, c_size), in_f32("a", a, a_size),
                                    in_f32("b", b, b_size), i32((int)p.m), i32((int)p.n),
                                    i32((int)p.k), i32((int)p.tile), stream()));
    expect_matmul(c, a, b, p.m, p.n, p.k);
    return call_counts() ? counted(p, call_counts()) : by_arithmetic(p);
}

static void expect_count(product p, const char *what, uint64_t said, uint64_t is)
{
    expect(said == is, "%s of `%s`, %ld x %ld x %ld, tile %ld: predicted %llu, but it is %llu",
           what, kernels[p.kernel], p.m, p.n, p.k, p.tile, (unsigned long long)said,
           (unsigned long long)is);
}

static void expect_share(product p, const char *what, double said, double is, double tolerance)
{
    expect(fabs(said - is) <= tolerance * is,
           "%s of `%s`, %ld x %ld x %ld, tile %ld: predicted %.6g, but it is %.6g", what,
           kernels[p.kernel], p.m, p.n, p.k, p.tile, said, is);
}

static void expect_loads(product p, metrics said, loads is)
{
    expect_count(p, "global_loads", said.global_loads, is.global);
    expect_count(p, "shared_loads", said.shared_loads, is.shared);
    const double needed = (double)(p.m + p.n) * (double)p.k / 8; /* sectors */
    expect_share(p, "memory_efficiency", said.efficiency, needed / (double)is.sectors, 1e-5);
}

static void run_loads(const long *shape)
{
    const product p = product_of(shape);
    const metrics said = analyze(p);
    if (p.kernel == OWN && case_place() == ON_GPU)
        loads_of(p); /* nobody counts */
    else
        expect_loads(p, said, loads_of(p));
}

/* It should be one that is worth analysing. */
static void run_few_loads(const long *shape)
{
    product p = product_of(shape);
    const uint64_t own = loads_of(p).global;
    p.kernel = COLUMNS;
    const uint64_t most = by_arithmetic(p).global / 8;
    expect(own <= most, "`own` makes %llu global_loads; an eighth of those of `columns` are %llu",
           (unsigned long long)own, (unsigned long long)most);
}

/* Of so many that they are not worth waiting for. */
static void run_large(const long *shape)
{
    for (product p = product_of(shape); p.kernel < OWN; p.kernel++)
        expect_loads(p, analyze(p), by_arithmetic(p));
}

/* ---- what the runtime says ------------------------------------------------------------------- */

static int device_attribute(int attribute)
{
    int value;
    call_cuda("cudaDeviceGetAttribute",
              ARGS(struct_out("value", &value, sizeof value), i32(attribute), i32(0)));
    return value;
}

static int registers_of(const launch *l)
{
    struct {
        uint64_t shared, constant, local;
        int most_threads, registers, rest[64];
    } attributes; /* as cudaFuncAttributes, and longer */
    call_cuda("cudaFuncGetAttributes",
              ARGS(struct_out("attributes", &attributes, sizeof attributes), u64(l->kernel)));
    return attributes.registers;
}

static double occupancy_of(const launch *l)
{
    enum { MAX_THREADS_PER_MULTIPROCESSOR = 39 };
    const unsigned threads = l->block[0] * l->block[1] * l->block[2];
    int blocks;
    call_cuda("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
              ARGS(struct_out("blocks", &blocks, sizeof blocks), u64(l->kernel), i32((int)threads),
                   u64(l->shared)));
    return (double)blocks * parts(threads, 32) * 32 /
           device_attribute(MAX_THREADS_PER_MULTIPROCESSOR);
}

static void run_device(const long *shape)
{
    for (product p = product_of(shape); p.tile <= 32; p.tile += 8) {
        launch l;
        const metrics said = analyze(p);
        ask("matmul_describe", p, struct_out("launch", &l, sizeof l));
        expect_count(p, "register_usage", said.registers, (uint64_t)registers_of(&l));
        expect_share(p, "achieved_occupancy", said.occupancy, occupancy_of(&l), 1e-5);
    }
}

static void run_no_such_kernel(const long *shape)
{
    enum { CUDA_ERROR_INVALID_VALUE = 1 };
    metrics said;
    analyze((product){.m = 64, .n = 64, .k = 64, .tile = 8}); /* one that there is */
    const int none[] = {(int)shape[4], -1};
    for (int i = 0; i < 2; i++)
        call_refused(CUDA_ERROR_INVALID_VALUE, "analyze_memory",
                     ARGS(struct_out("metrics", &said, sizeof said), i32(none[i]), i32(64), i32(64),
                          i32(64), i32(8)));
}

/* ---- by hand --------------------------------------------------------------------------------- */

static const drawn_number numbers[] = {
    {"m", 40, 160, 1},
    {"n", 40, 240, 8},
    {"k", 40, 160, 8},
    {"tile", 8, 32, 8},
    {"gflops", 2000, 12000, 1},
    {"gbytes", 1000, 4000, 1},
    {0},
};

/* The right one is not told: it can be worked out. */
static void expect_answer(const char *key, double is, double tolerance)
{
    const double said = answer_f64(key);
    expect(fabs(said - is) <= tolerance * is, "`%s = %g` is not what your numbers give", key, said);
}

/* Operations over GFLOP/s are nanoseconds, and so are bytes over GB/s: the longer one is the least
 * that a kernel takes without caches. */
static void run_by_hand(const long *shape)
{
    product p = {drawn_i64("m"), drawn_i64("n"), drawn_i64("k"), drawn_i64("tile"), ROWS};
    const double arithmetic = 2.0 * (double)(p.m * p.n * p.k) / (double)drawn_i64("gflops");
    const double gbytes = (double)drawn_i64("gbytes");
    int memory_bound = 0;
    (void)shape;
    for (; p.kernel < OWN; p.kernel++) {
        const double memory = 32.0 * (double)loads_of(p).sectors / gbytes;
        expect_answer(kernels[p.kernel], fmax(memory, arithmetic), 0.01);
        memory_bound += memory > arithmetic;
    }
    expect_answer("memory_bound", memory_bound, 0.0);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Rows run once: other addresses would be aligned to a float and to nothing more. */
#define KERNEL_ROWS(title, kernel)                                                                 \
    LONG_ROW(title ", whole tiles", run_loads, 96, 16, 12, 4, kernel),                             \
        LONG_ROW(title ", tails", run_loads, 37, 17, 5, 3, kernel),                                \
        LONG_ROW(title ", one of each", run_loads, 1, 1, 1, 1, kernel),                            \
        LONG_ROW(title ", registers and occupancy", run_device, 37, 17, 5, 1, kernel),             \
    {                                                                                              \
        .name = title ", any sizes", .run = run_loads, .shape = {1, 1, 1, 1, kernel},              \
        .most = {150, 30, 20, 4}, .once = true,                                                    \
    }

static const grading_case cases[] = {
    KERNEL_ROWS("rows", ROWS),
    KERNEL_ROWS("columns", COLUMNS),
    KERNEL_ROWS("tiled", TILED),
    KERNEL_ROWS("registers", REGISTERS),
    KERNEL_ROWS("vectorized", VECTORIZED),
    LONG_ROW("more than an int counts", run_large, 500000, 769, 8501, 2, ROWS),
    KERNEL_ROWS("own", OWN),
    LONG_ROW("own, 70001 x 8 x 8", run_loads, 70001, 1, 1, 1, OWN),
    LONG_ROW("own, 1 x 65600 x 8", run_loads, 1, 8200, 1, 2, OWN),
    LONG_ROW("own, 2 x 8 x 8800", run_loads, 2, 1, 1100, 3, OWN),
    {.name = "own, few loads",
     .run = run_few_loads,
     .shape = {96, 16, 12, 4, OWN},
     .where = ON_SOFTGPU,
     .once = true},
    LONG_ROW("no such kernel", run_no_such_kernel, 0, 0, 0, 0, OWN + 1),
    {.name = "by hand", .run = run_by_hand, .once = true},
    {0},
};

EXERCISE(403) = {
    .id = 403,
    .name = "memory_analysis",
    .file = "phase4_optimization/403_memory_analysis/403_memory_analysis.cu",
    .parts = {"phase4_optimization/403_memory_analysis/403_memory_analysis.answers"},
    .answers = {"rows", "columns", "tiled", "registers", "vectorized", "memory_bound"},
    .drawn = numbers,
    .functions = {"analyze_memory", "matmul_own_launch", "matmul_describe", "matmul_run"},
    .points = 15,
    .cases = cases,
};
