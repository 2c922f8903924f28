/* 4e_allreduce_oneshot: sums and means of small arrays on several devices whose kernels wait for
 * each other; sums in a row, and a device that is ahead of the others. On a GPU two devices, on
 * softgpu up to eight. shape of a sum: devices, n, op, NaN and infinities */
#include "exercises/shared/allreduce/allreduce_cases.h"

#include <math.h>
#include <string.h>

enum { LARGEST = 1 << 16 }; /* ONESHOT_FLOATS */

static void open_plan(int gpus)
{
    call_aside("oneshot_open", ARGS(handle_out(PLAN), i32(gpus)));
}

static void close_plan(void)
{
    call_aside("oneshot_close", ARGS(handle(PLAN)));
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void run_sum(const char *function, const long *shape)
{
    const int gpus = (int)shape[0], op = (int)shape[2];
    const size_t n = (size_t)shape[1];
    float *x[MOST];
    allreduce_draw(x, n, gpus, (int)shape[3]);
    const allreduce_wanted w = allreduce_sum_of(x, n, gpus, allreduce_factor(op, gpus));
    if (strncmp(function, "base", 4)) open_plan(gpus);
    allreduce_run(function, x, n, gpus, op);
    allreduce_expect(x, n, gpus, w);
    if (strncmp(function, "base", 4)) close_plan();
}

static void run_oneshot(const long *shape)
{
    run_sum("allreduce_oneshot", shape);
}

/* What each sum after the first does to a sum: it has that of all GPUs. */
static double again(int op, int gpus)
{
    return op == MEAN ? 1.0 : gpus;
}

static void expect_current(const char *function, int current, int wanted)
{
    expect(current == wanted, "%s: the current device was %d and is now %d", function, wanted,
           current);
}

static allreduce_call call_of(float *const *x, size_t n, int gpus, int op, argument a, argument b)
{
    allreduce_call s = {0};
    s.arguments[0] = handle(PLAN);
    s.arguments[2] = u64(n);
    s.arguments[3] = i32(op);
    s.arguments[5] = a;
    s.arguments[6] = b;
    allreduce_add_arrays(&s, x, n, gpus, 7);
    return s;
}

/* Three sums, of all elements, of the second third of them, and of all. */
static void run_in_a_row(const long *shape)
{
    const int gpus = (int)shape[0], op = (int)shape[2];
    const size_t n = (size_t)shape[1];
    float *x[MOST];
    int current = -1, from = op == MEAN ? gpus - 1 : 0;
    allreduce_draw(x, n, gpus, 0);
    const allreduce_wanted w =
        allreduce_sum_of(x, n, gpus, allreduce_factor(op, gpus) * again(op, gpus));
    for (size_t i = n / 3; i < n / 3 * 2; i++)
        w.sum[i] *= again(op, gpus), w.scale[i] *= again(op, gpus);
    call_cuda("oneshot_open_from", ARGS(handle_out(PLAN), i32(gpus), i32(from),
                                        host(out_i32("h_current", &current, 1))));
    expect_current("oneshot_open", current, from);
    allreduce_call s = call_of(x, n, gpus, op, i32(gpus), host(out_i32("h_current", &current, 1)));
    call_cuda("oneshot_in_a_row", s.arguments, s.count);
    expect_current("allreduce_oneshot", current, from);
    allreduce_expect(x, n, gpus, w);
    close_plan();
}

enum { SUMS = 5 };

/* In each sum another GPU is the first, which has just been the last one of the sum before. */
static void run_ahead(const long *shape)
{
    const int gpus = (int)shape[0], op = (int)shape[2];
    const size_t n = (size_t)shape[1];
    float *x[MOST];
    allreduce_draw(x, n, gpus, 0);
    const double factor = allreduce_factor(op, gpus) * pow(again(op, gpus), SUMS - 1);
    const allreduce_wanted w = allreduce_sum_of(x, n, gpus, factor);
    open_plan(gpus);
    allreduce_call s = call_of(x, n, gpus, op, i32(gpus), i32(SUMS));
    call_cuda("oneshot_ahead", s.arguments, s.count);
    allreduce_expect(x, n, gpus, w);
    close_plan();
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refuse_open(int error, int gpus)
{
    call_refused(error, "oneshot_open", ARGS(handle_out(PLAN), i32(gpus)));
    call_cuda("oneshot_close", ARGS(handle(PLAN))); /* NULL */
}

static void run_refused(const long *shape)
{
    int count = 0;
    call_cuda("cudaGetDeviceCount", ARGS(host(out_i32("count", &count, 1))));
    refuse_open(INVALID_VALUE, 0);
    refuse_open(INVALID_VALUE, -1);
    refuse_open(INVALID_VALUE, MOST + 1);
    if (count < MOST) refuse_open(INVALID_DEVICE, count + 1);
    run_oneshot(shape);
}

static void refuse_part(int gpu, size_t n)
{
    float *x[] = {random_f32(8)};
    call_refused(
        INVALID_VALUE, "allreduce_oneshot_part",
        ARGS(handle(PLAN), i32(gpu), inout_f32("buffer", x[0], 8), u64(n), i32(SUM), stream()));
}

/* A sum that was refused is none: it does not count, and nobody waits for it. */
static void run_refused_part(const long *shape)
{
    const int gpus = (int)shape[0], op = (int)shape[2];
    const size_t n = (size_t)shape[1];
    float *x[MOST];
    allreduce_draw(x, n, gpus, 0);
    const allreduce_wanted w = allreduce_sum_of(x, n, gpus, allreduce_factor(op, gpus));
    open_plan(gpus);
    refuse_part(-1, 8);
    refuse_part(gpus, 8);
    refuse_part(0, LARGEST + 1);
    allreduce_run("allreduce_oneshot", x, n, gpus, op);
    allreduce_expect(x, n, gpus, w);
    close_plan();
}

/* The part of one GPU alone, which waits for nobody: its calls of the runtime may fail. */
static void run_part_of_one(const long *shape)
{
    const size_t n = (size_t)shape[1];
    float *x[MOST];
    allreduce_draw(x, n, 1, 0);
    const allreduce_wanted w = allreduce_sum_of(x, n, 1, 1.0);
    open_plan(1);
    call_cuda("allreduce_oneshot_part", ARGS(handle(PLAN), i32(0), inout_f32("buffer", x[0], n),
                                             u64(n), i32((int)shape[2]), stream()));
    allreduce_expect(x, n, 1, w);
    close_plan();
}

static void run_close_null(const long *shape)
{
    call_cuda("oneshot_close", ARGS(null_pointer()));
    run_oneshot(shape);
}

static void run_two_plans(const long *shape)
{
    allreduce_two_plans("oneshot_open", "oneshot_close", "allreduce_oneshot", shape);
}

static const grading_case cases[] = {
    ALLREDUCE_ROWS(run_oneshot),
    {.name = "in a row", .run = run_in_a_row, .shape = {2, 3001, SUM}},
    {.name = "means in a row", .run = run_in_a_row, .shape = {2, 3001, MEAN}},
    {.name = "in a row, none at first", .run = run_in_a_row, .shape = {2, 2, SUM}},
    {.name = "one is ahead", .run = run_ahead, .shape = {2, 600, SUM}},
    {.name = "refused", .run = run_refused, .shape = {2, 100, SUM}, .once = true},
    {.name = "a refused part", .run = run_refused_part, .shape = {2, 100, SUM}},
    {.name = "the part of one", .run = run_part_of_one, .shape = {1, 700, MEAN}},
    {.name = "close of nothing", .run = run_close_null, .shape = {2, 100, SUM}, .once = true},
    {.name = "two plans", .run = run_two_plans, .shape = {2, 100, MEAN}},
    LONG_ROW("the largest", run_oneshot, 2, LARGEST, SUM),
    {.name = "three in a row", .run = run_in_a_row, .shape = {3, 1500, SUM}, .where = ON_SOFTGPU},
    {.name = "one of three is ahead", .run = run_ahead, .shape = {3, 90, SUM}, .where = ON_SOFTGPU},
    {.name = "four", .run = run_oneshot, .shape = {4, 1003, MEAN}, .where = ON_SOFTGPU},
    {.name = "one of eight is ahead", .run = run_ahead, .shape = {8, 5, MEAN}, .where = ON_SOFTGPU},
    {0},
};

/* ---- speed and traffic ----------------------------------------------------------------------- */

enum { GPUS = 4, N = 16384 };

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one GPU that sums for all", .shape = "2 GPUs, 16384 floats"},
     .function = "allreduce_oneshot",
     .baseline = "baseline_allreduce_ring",
     .run = run_sum,
     .shape = {2, N, SUM},
     .varied = 1,
     .where = ON_GPU,
     .threshold = 2.0,
     .peer_share = 0.00022, /* two H200: 64 KiB in 71 us, of which the link needs one */
     .peer_bytes = N * sizeof(float)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"bytes between devices", .relative_to = MINIMUM,
                .shape = "of one of 4 GPUs, 16384 floats"},
     .function = "allreduce_oneshot",
     .run = run_sum,
     .shape = {GPUS, N, SUM},
     .count = link_bytes,
     .ideal = (GPUS - 1.0) * N * sizeof(float),
     .bound = AT_MOST,
     .least = 0.5, /* two shots send less */
     .wanted = 1.01},
    {.metric = {"launches", .per = "GPU", .shape = "4 GPUs, 16384 floats"},
     .function = "allreduce_oneshot",
     .run = run_sum,
     .shape = {GPUS, N, SUM},
     .count = host_launches,
     .ideal = GPUS,
     .bound = AT_MOST,
     .least = 1.0,
     .wanted = 1.0},
    {0},
};

EXERCISE(4e) = {
    .id = CHALLENGE(4, 'e'),
    .name = "allreduce_oneshot",
    .file = "phase4_optimization/4e_allreduce_oneshot/4e_allreduce_oneshot.cu",
    .functions = {"oneshot_open", "allreduce_oneshot", "allreduce_oneshot_part", "oneshot_close"},
    .promises = {{"oneshot_open", KEEPS_DEVICE},
                 {"allreduce_oneshot", WAITS_FOR_NOTHING | ALLOCATES_NOTHING | COPIES_NOTHING |
                                           ENDS_WITH_ERRORS | KEEPS_DEVICE},
                 {"allreduce_oneshot_part",
                  WAITS_FOR_NOTHING | ALLOCATES_NOTHING | COPIES_NOTHING}},
    .devices = 2,
    .more_devices = MOST,
    .baseline_file = "grader/exercises/415_allreduce_ring/baseline.cu",
    .points = 20,
    .speed_points = 10,
    .see = "2 elements on three",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
