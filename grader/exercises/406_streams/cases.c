/* 406_streams: every chunk once, whatever their number and size, from page-locked and pageable
 * memory; nothing left behind; its speed against copy, kernel, copy, and on softgpu how much could
 * overlap, in how much memory. shape: n, iterations, chunks, streams, pinned, NaN and infinities */
#include "correctness/case.h"

#include <limits.h>
#include <math.h>

#define TOLERANCE                                                                                  \
    2e-6 /* the work pulls values together: no error grows, also in 10^3 iterations                \
          */
#define PERIOD 1000003

/* ---- the work -------------------------------------------------------------------------------- */

typedef struct work {
    double *want;
    const float *x; /* [count] */
    size_t count;
    long iterations;
} work;

static void iterate(size_t begin, size_t end, void *context)
{
    const work *w = context;
    for (size_t i = begin; i < end; i++) {
        double value = w->x[i];
        for (long k = 0; k < w->iterations; k++) value -= value * value * value;
        w->want[i] = value;
    }
}

static double *reference(const float *x, size_t count, long iterations)
{
    work w = {f64_array(count), x, count, iterations};
    parallel(count, (size_t)iterations + 1, iterate, &w);
    return w.want;
}

/* ---- a call ---------------------------------------------------------------------------------- */

static argument host_memory(argument a, const long *shape)
{
    return shape[4] ? pinned(host(a)) : host(a);
}

/* Where there is no kernel, or less copied than that, the work was done somewhere else. */
static void expect_sent(size_t n)
{
    const device_counts *c = call_counts();
    if (!c || n == 0) return;
    expect(c->launches > 0, "no kernel ran: its work belongs on the device");
    expect(c->to_device.bytes >= 4 * n && c->to_host.bytes >= 4 * n,
           "%llu bytes went to the device and %llu came back, of %zu: its work belongs there",
           (unsigned long long)c->to_device.bytes, (unsigned long long)c->to_host.bytes, 4 * n);
}

/* Each piece is one copy, and there is room for as many as there are streams: for what comes of
 * them too, and an allocation's alignment. */
static void expect_pieces(const long *shape)
{
    const device_counts *c = call_counts();
    const unsigned long long n = (unsigned long long)shape[0],
                             chunks = (unsigned long long)shape[2];
    if (!c || n == 0) return;
    const unsigned long long chunk = (n + chunks - 1) / chunks, pieces = (n + chunk - 1) / chunk;
    const unsigned long long streams = (unsigned long long)shape[3];
    const unsigned long long at_once = streams < pieces ? streams : pieces;
    expect(c->to_device.count == pieces,
           "%llu copies went to the device, should be %llu: pieces of %llu elements",
           (unsigned long long)c->to_device.count, pieces, chunk);
    expect(
        c->peak >= 4 * chunk * at_once && c->peak <= (8 * chunk + 512) * streams,
        "it holds %llu bytes of device memory at once: %llu pieces of %llu bytes should be there",
        (unsigned long long)c->peak, at_once, 4 * chunk);
}

static void expect_nothing_left(void)
{
    const device_counts *c = call_counts();
    if (!c) return;
    expect(c->freed.bytes >= c->allocated.bytes,
           "it allocated %llu bytes of device memory and freed %llu",
           (unsigned long long)c->allocated.bytes, (unsigned long long)c->freed.bytes);
}

static void call(const char *function, float *out, const float *in, const long *shape)
{
    const size_t n = (size_t)shape[0];
    call_cuda(function, ARGS(host_memory(out_f32("h_out", out, n), shape),
                             host_memory(in_f32("h_in", in, n), shape), u64(n), i32((int)shape[1]),
                             i32((int)shape[2]), i32((int)shape[3])));
}

static void run_pipeline(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *in = random_f32(n), *out = f32_array(n);
    sprinkle_special_f32(in, n, (int)shape[5]);
    call("pipeline", out, in, shape);
    expect_close((layout){"h_out", 1, n}, out, reference(in, n, shape[1]), NULL, TOLERANCE);
    expect_sent(n);
    expect_pieces(shape);
    expect_nothing_left();
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Arrays of one element; no right pipeline touches them. */
static void expect_refused(const char *what, const long *shape)
{
    float in = 1.0f, out = 0.0f;
    const int error = call_returning_i32(
        "pipeline", ARGS(host(out_f32("h_out", &out, 1)), host(in_f32("h_in", &in, 1)),
                         u64((unsigned long long)shape[0]), i32((int)shape[1]), i32((int)shape[2]),
                         i32((int)shape[3])));
    expect(error != 0, "pipeline takes %s for success", what);
    expect_nothing_left();
}

static void run_wrong_arguments(const long *shape)
{
    expect_refused("0 chunks", (const long[]){1, 3, 0, 1});
    expect_refused("-1 chunks", (const long[]){1, 3, -1, 1});
    expect_refused("0 chunks of nothing", (const long[]){0, 3, 0, 1});
    expect_refused("-1 iterations on nothing", (const long[]){0, -1, 1, 1});
    expect_refused("0 streams", (const long[]){1, 3, 1, 0});
    expect_refused("-1 streams", (const long[]){1, 3, 1, -1});
    expect_refused("-1 iterations", (const long[]){1, -1, 1, 1});
    run_pipeline(shape);
}

static void run_too_large(const long *shape)
{
    expect_refused("2^42 floats in one chunk", (const long[]){1L << 42, 3, 1, 3});
    run_pipeline(shape);
}

/* ---- large arrays: the same PERIOD values again and again ------------------------------------ */

typedef struct repeated {
    float *in;
    const float *out, *pattern;
    const double *want; /* of the pattern */
} repeated;

static void repeat(size_t begin, size_t end, void *context)
{
    const repeated *r = context;
    for (size_t i = begin; i < end; i++) r->in[i] = r->pattern[i % PERIOD];
}

static bool is_wrong(size_t i, const void *context)
{
    const repeated *r = context;
    const double difference = r->out[i] - r->want[i % PERIOD];
    return !(difference <= TOLERANCE && difference >= -TOLERANCE);
}

static void run_large(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *out = f32_array(n);
    const float *pattern = random_f32(PERIOD);
    repeated r = {f32_array(n), out, pattern, NULL};
    parallel(n, 1, repeat, &r);
    call(function, out, r.in, shape);
    r.want = reference(pattern, PERIOD, shape[1]);
    const size_t i = parallel_find(n, 1, is_wrong, &r);
    if (i == n) return;
    fail("h_out[%zu] is %.9g, should be %.9g (n = %zu)%s", i, out[i], r.want[i % PERIOD], n,
         place_of((layout){"h_out", 1, n}, i));
}

static void run_many(const long *shape)
{
    run_large("pipeline", shape);
}

static const grading_case cases[] = {
    {.name = "n=0", .run = run_pipeline, .shape = {0, 3, 4, 2, 1}},
    {.name = "n=1", .run = run_pipeline, .shape = {1, 3, 1, 1, 1}},
    {.name = "one chunk", .run = run_pipeline, .shape = {1000, 3, 1, 1, 1}},
    {.name = "2 chunks, 4 streams", .run = run_pipeline, .shape = {10, 3, 2, 4, 1}},
    {.name = "one stream", .run = run_pipeline, .shape = {4096, 3, 8, 1, 1}},
    {.name = "8 chunks, 3 streams", .run = run_pipeline, .shape = {8192, 3, 8, 3, 1}},
    {.name = "1000 in 7 chunks, 2 streams", .run = run_pipeline, .shape = {1000, 3, 7, 2, 1}},
    {.name = "1000 in 7 chunks", .run = run_pipeline, .shape = {1000, 3, 7, 9, 1}},
    {.name = "4097 in 4 chunks", .run = run_pipeline, .shape = {4097, 3, 4, 4, 1}},
    {.name = "10 in 6 chunks", .run = run_pipeline, .shape = {10, 3, 6, 7, 1}},
    {.name = "5 in 8 chunks", .run = run_pipeline, .shape = {5, 3, 8, 7, 1}},
    {.name = "5 in 2147483647 chunks", .run = run_pipeline, .shape = {5, 3, INT_MAX, 7, 1}},
    {.name = "1000 in 1000 chunks", .run = run_pipeline, .shape = {1000, 3, 1000, 3, 1}},
    {.name = "any", .run = run_pipeline, .shape = {1, 0, 1, 1, 0}, .most = {9000, 9, 40, 9, 1}},
    LONG_ROW("3000 in 1500 chunks, 300 streams", run_pipeline, 3000, 2, 1500, 300, 1),
    {.name = "nan", .run = run_pipeline, .shape = {1000, 3, 7, 2, 1, 5}},
    {.name = "no iterations", .run = run_pipeline, .shape = {3001, 0, 5, 3, 1}},
    {.name = "100 iterations", .run = run_pipeline, .shape = {3001, 100, 5, 3, 1}},
    {.name = "pageable", .run = run_pipeline, .shape = {3001, 3, 5, 3, 0}},
    {.name = "pageable, n=0", .run = run_pipeline, .shape = {0, 3, 5, 3, 0}},
    {.name = "wrong arguments", .run = run_wrong_arguments, .shape = {100, 3, 2, 2, 1}},
    {.name = "too large", .run = run_too_large, .shape = {100, 3, 2, 2, 1}},
    LONG_ROW("2100007 in 2 chunks", run_pipeline, 2100007, 1, 2, 2, 1),
    {.name = "short kernels, 512 chunks",
     .run = run_many,
     .shape = {1 << 24, 1, 512, 3, 1},
     .where = ON_GPU},
    GPU_ROW("long kernels, 64 chunks", run_many, 1 << 24, 4000, 64, 3, 1),
    GPU_ROW("16 streams, 1000 chunks", run_many, (1 << 24) + 1, 200, 1000, 16, 1),
    GPU_ROW("pageable, 64 chunks", run_many, 1 << 24, 200, 64, 3, 0),
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "copying, computing and copying back in turn",
                .shape = "2^25 floats, 16 chunks, 3 streams"},
     .function = "pipeline",
     .baseline = "baseline_pipeline",
     .run = run_large,
     .shape = {1 << 25, 1000, 16, 3, 1},
     .where = ON_GPU,
     .threshold = 1.6,
     .flop = 3.0 * 1000 * (1 << 25),
     .peer_share = 0.2}, /* from copies of 53.7 GB/s and a kernel as long as one of them */
    {0},
};

#define CHUNKS 8

/* The copies of 8 chunks; more would be none that the task needs. At best 16 in 10 steps, and in 24
 * where nothing overlaps. */
static double copies_a_step(const device_counts *c)
{
    const double copies = fmin(host_copies(c), 2.0 * CHUNKS);
    return c->span > 0 ? copies / (double)c->span : 0.0;
}

static const traffic_test traffic[] = {
    {.metric = {"copies", .per = "step", .shape = "8 chunks, 3 streams"},
     .function = "pipeline",
     .run = run_large,
     .shape = {CHUNKS * 4096, 10, CHUNKS, 3, 1},
     .count = copies_a_step,
     .bound = AT_LEAST,
     .wanted = 1.45,
     .begin = 0.667},
    {.metric = {"bytes allocated", .relative_to = "two chunks per stream",
                .shape = "8 chunks, 3 streams"},
     .function = "pipeline",
     .run = run_large,
     .shape = {CHUNKS * 4096, 10, CHUNKS, 3, 1},
     .count = allocated_bytes,
     .ideal = 2.0 * 3 * 4096 * 4,
     .bound = AT_MOST,
     .least = 1.0 / 6,
     .wanted = 1.01},
    {.metric = {"operations", .relative_to = "those asked for", .shape = "8 chunks, 3 streams"},
     .function = "pipeline",
     .run = run_large,
     .shape = {CHUNKS * 4096, 10, CHUNKS, 3, 1},
     .count = operations,
     .ideal = 3.0 * 10 * CHUNKS * 4096,
     .bound = AT_LEAST,
     .wanted = 1.0},
    {0},
};

EXERCISE(406) = {
    .id = 406,
    .core = true,
    .name = "streams",
    .file = "phase4_optimization/406_streams/406_streams.cu",
    .functions = {"pipeline"},
    .promises = {{"pipeline", HAS_WAITED | NEVER_LEGACY}},
    .baseline_file = "grader/exercises/406_streams/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "1000 in 7 chunks",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
