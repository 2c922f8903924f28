/* 415_allreduce_ring: sums and means of arrays on several devices, in any number of chunks that
 * have nothing in them; the same bits on all devices; the order between their streams. On a GPU two
 * devices, on softgpu up to eight. shape of a sum: devices, n, op, NaN and infinities */
#include "exercises/shared/allreduce/allreduce_cases.h"

enum { FIRST = 5 /* argument of a call that is a buffer */ };

static void open_plan(int gpus)
{
    call_aside("allreduce_open", ARGS(handle_out(PLAN), i32(gpus)));
}

static void close_plan(void)
{
    call_aside("allreduce_close", ARGS(handle(PLAN)));
}

/* A tree or one GPU that sums for all moves an array twice over a link for each other GPU. */
static void expect_no_more_bytes(size_t n, int gpus)
{
    const device_counts *c = call_counts();
    const double most = 2.0 * (gpus - 1) * (double)n * sizeof(float);
    expect(!c || link_bytes(c) <= most,
           "%.0f bytes came to one GPU or left it: a chunk goes around twice, no more",
           c ? link_bytes(c) : 0.0);
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
    expect_no_more_bytes(n, gpus);
    if (strncmp(function, "base", 4)) close_plan();
}

static void run_ring(const long *shape)
{
    run_sum("allreduce_ring", shape);
}

static void expect_current(const char *function, int current, int wanted)
{
    expect(current == wanted, "%s: the current device was %d and is now %d", function, wanted,
           current);
}

/* Two sums, one right after the other. The device that is current is the first or the last one. */
static void run_twice(const long *shape)
{
    const int gpus = (int)shape[0], op = (int)shape[2];
    const size_t n = (size_t)shape[1];
    float *x[MOST];
    int current = -1, from = op == MEAN ? gpus - 1 : 0;
    allreduce_draw(x, n, gpus, 0);
    const allreduce_wanted w = allreduce_sum_of(x, n, gpus, op == MEAN ? 1.0 / gpus : (double)gpus);
    call_cuda("allreduce_open_from", ARGS(handle_out(PLAN), i32(gpus), i32(from),
                                          host(out_i32("h_current", &current, 1))));
    expect_current("allreduce_open", current, from);
    allreduce_call s = {0};
    s.arguments[0] = handle(PLAN);
    s.arguments[2] = u64(n);
    s.arguments[3] = i32(op);
    s.arguments[5] = i32(from);
    s.arguments[6] = host(out_i32("h_current", &current, 1));
    allreduce_add_arrays(&s, x, n, gpus, 7);
    call_cuda("allreduce_twice", s.arguments, s.count);
    expect_current("allreduce_ring", current, from);
    allreduce_expect(x, n, gpus, w);
    close_plan();
}

/* ---- open and close -------------------------------------------------------------------------- */

static void refuse(int error, int gpus)
{
    call_refused(error, "allreduce_open", ARGS(handle_out(PLAN), i32(gpus)));
    call_cuda("allreduce_close", ARGS(handle(PLAN))); /* NULL */
}

/* What was there before the call is no plan that could be closed. */
static void run_refused(const long *shape)
{
    int count = 0;
    call_cuda("cudaGetDeviceCount", ARGS(host(out_i32("count", &count, 1))));
    refuse(INVALID_VALUE, 0);
    refuse(INVALID_VALUE, -1);
    refuse(INVALID_DEVICE, count + 1);
    refuse(INVALID_DEVICE, 1 << 30);
    run_ring(shape);
}

/* GPU 0's stream for all GPUs, or that of the last one: an event of one is not recorded in a stream
 * of another. What the buffers hold then nobody knows. */
static void refuse_stream(const long *shape, unsigned device)
{
    const size_t n = (size_t)shape[1];
    const unsigned long long streams[] = {FIRST + 2, FIRST + 2}, buffers[] = {FIRST, FIRST + 1};
    float *x[MOST];
    allreduce_draw(x, n, 2, 0);
    open_plan(2);
    const argument on = device ? on_device(device, stream()) : stream();
    const int error = call_returning_i32(
        "allreduce_ring",
        ARGS(handle(PLAN), host(addresses("buffers", buffers, 2)), u64(n), i32(SUM),
             host(addresses("streams", streams, 2)), beside(inout_f32(allreduce_name(0), x[0], n)),
             beside(on_device(1, inout_f32(allreduce_name(1), x[1], n))), beside(on)));
    expect(error != 0, "allreduce_ring uses a stream of GPU %u for another GPU", device);
    close_plan();
}

static void run_wrong_stream(const long *shape)
{
    refuse_stream(shape, 0);
    refuse_stream(shape, 1);
    run_ring(shape);
}

static void run_close_null(const long *shape)
{
    call_cuda("allreduce_close", ARGS(null_pointer()));
    run_ring(shape);
}

static void run_two_plans(const long *shape)
{
    allreduce_two_plans("allreduce_open", "allreduce_close", "allreduce_ring", shape);
}

static const grading_case cases[] = {
    ALLREDUCE_ROWS(run_ring),
    {.name = "n=2", .run = run_ring, .shape = {2, 2, MEAN}},
    {.name = "twice", .run = run_twice, .shape = {2, 3001, SUM}},
    {.name = "mean, twice", .run = run_twice, .shape = {2, 3001, MEAN}},
    {.name = "refused", .run = run_refused, .shape = {2, 100, SUM}, .once = true},
    {.name = "close of nothing", .run = run_close_null, .shape = {2, 100, SUM}, .once = true},
    {.name = "a stream of another GPU", .run = run_wrong_stream, .shape = {2, 100, SUM}},
    {.name = "two plans", .run = run_two_plans, .shape = {2, 100, MEAN}},
    LONG_ROW("2200001 on two", run_ring, 2, 2200001, SUM),
    {.name = "mean of three", .run = run_ring, .shape = {3, 301, MEAN}, .where = ON_SOFTGPU},
    {.name = "four", .run = run_ring, .shape = {4, 1000, SUM}, .where = ON_SOFTGPU},
    {.name = "1003 on four", .run = run_ring, .shape = {4, 1003, SUM}, .where = ON_SOFTGPU},
    {.name = "1 element on four", .run = run_ring, .shape = {4, 1, SUM}, .where = ON_SOFTGPU},
    {.name = "four, twice", .run = run_twice, .shape = {4, 999, MEAN}, .where = ON_SOFTGPU},
    {.name = "7 elements on eight", .run = run_ring, .shape = {8, 7, SUM}, .where = ON_SOFTGPU},
    GPU_ROW("2^24 + 1", run_ring, 2, (1 << 24) + 1, SUM),
    {0},
};

/* ---- speed and traffic ----------------------------------------------------------------------- */

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one GPU that sums for all", .shape = "2 GPUs, 2^24 floats"},
     .function = "allreduce_ring",
     .baseline = "baseline_allreduce_ring",
     .run = run_sum,
     .shape = {2, 1 << 24, SUM},
     .varied = 1,
     .where = ON_GPU,
     .threshold = 1.6,
     .peer_share = 0.04, /* two H200: 182 GB/s, there and back */
     .peer_bytes = 2.0 * (1 << 24) * sizeof(float)},
    {0},
};

enum { GPUS = 4, N = 16384 };

static const traffic_test traffic[] = {
    {.metric = {"bytes on the busiest GPU's links", .relative_to = MINIMUM,
                .shape = "4 GPUs, 16384 floats"},
     .function = "allreduce_ring",
     .run = run_sum,
     .shape = {GPUS, N, SUM},
     .count = link_bytes,
     .ideal = 2.0 * (GPUS - 1) / GPUS * N * sizeof(float),
     .bound = AT_MOST,
     .least = 0.99,
     .wanted = 1.01},
    {0},
};

EXERCISE(415) = {
    .id = 415,
    .name = "allreduce_ring",
    .file = "phase4_optimization/415_allreduce_ring/415_allreduce_ring.cu",
    .functions = {"allreduce_open", "allreduce_ring", "allreduce_close"},
    .promises = {{"allreduce_open", KEEPS_DEVICE},
                 {"allreduce_ring",
                  WAITS_FOR_NOTHING | ALLOCATES_NOTHING | COPIES_NOTHING | KEEPS_DEVICE}},
    .devices = 2,
    .more_devices = MOST,
    .baseline_file = "grader/exercises/415_allreduce_ring/baseline.cu",
    .points = 15,
    .speed_points = 5,
    .see = "2 elements on three",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
