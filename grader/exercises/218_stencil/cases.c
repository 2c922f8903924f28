/* 218_stencil: images smaller than the filter, than a tile, and beyond; filters that overtake each
 * other; how often constant memory is read, and how often the image. */
#include "correctness/case.h"

#include <math.h>
#include <string.h>

enum { IN_FLIGHT = 64, ENTRIES = 256, REFUSED = 1 /* cudaErrorInvalidValue */ };

/** What a call is given. */
typedef struct problem {
    long height, width;
    int radius;
    float *in;     /* [height x width] */
    float *filter; /* [diameter x diameter] */
} problem;

static size_t weights_of(int radius)
{
    return (size_t)(2 * radius + 1) * (size_t)(2 * radius + 1);
}

/* ---- the reference --------------------------------------------------------------------------- */

/** How the mistaken read the filter and the image. */
typedef struct reading {
    bool flipped, zeros;
} reading;

static double pixel(const problem *p, long y, long x, bool zeros)
{
    const long row = y < 0 ? 0 : y < p->height ? y : p->height - 1;
    const long col = x < 0 ? 0 : x < p->width ? x : p->width - 1;
    return zeros && (row != y || col != x) ? 0.0 : p->in[row * p->width + col];
}

/* Adds weight after weight to all pixels. */
static void filtered(double *want, double *scale, const problem *p, reading how)
{
    const long n = (long)weights_of(p->radius), side = 2 * p->radius + 1;
    for (long k = 0; k < n; k++) {
        const double weight = p->filter[how.flipped ? n - 1 - k : k];
        const long down = k / side - p->radius, right = k % side - p->radius;
        for (long i = 0; i < p->height * p->width; i++) {
            const long y = i / p->width + down, x = i % p->width + right;
            const double term = weight * pixel(p, y, x, how.zeros);
            want[i] += term;
            scale[i] += fabs(term);
        }
    }
}

static void suspect_reading(const char *words, const problem *p, reading how)
{
    double *wrong = f64_array(p->height * p->width), *scale = f64_array(p->height * p->width);
    filtered(wrong, scale, p, how);
    suspect(words, wrong);
}

static void expect_filtered(const float *out, const problem *p)
{
    double *want = f64_array(p->height * p->width), *scale = f64_array(p->height * p->width);
    filtered(want, scale, p, (reading){0});
    layout l = {"out", p->height, p->width};
    if (!is_close(l, out, want, scale, FP32_SUM_TOLERANCE)) {
        suspect_reading("the filter is flipped", p, (reading){.flipped = true});
        suspect_reading("pixels outside of the image count as 0", p, (reading){.zeros = true});
    }
    expect_close(l, out, want, scale, FP32_SUM_TOLERANCE);
}

/* ---- images ---------------------------------------------------------------------------------- */

/* shape: height, width, radius, how many NaN and infinities; there, many weights are 0 */
static problem problem_of(const long *shape)
{
    problem p = {.height = shape[0], .width = shape[1], .radius = (int)shape[2]};
    const size_t n = weights_of(p.radius);
    p.in = random_f32(p.height * p.width);
    p.filter = random_f32(n);
    if (shape[3] > 0) {
        sprinkle_special_f32(p.in, p.height * p.width, (int)shape[3]);
        sprinkle_f32(p.filter, n, 0.0f, (int)n / 2);
    }
    return p;
}

static void convolve(const char *function, const long *shape)
{
    problem p = problem_of(shape);
    const size_t n = p.height * p.width;
    float *out = f32_array(n);
    call_cuda(function, ARGS(out_f32("out", out, n), in_f32("in", p.in, n), i32((int)p.height),
                             i32((int)p.width), in_f32("filter", p.filter, weights_of(p.radius)),
                             i32(p.radius), stream()));
    const device_counts *c = call_counts();
    expect(n > 0 || !c || c->launches == 0, "out is empty, but a kernel is launched");
    expect_filtered(out, &p);
}

static void run_direct(const long *shape)
{
    convolve("convolve", shape);
}

static void run_tiled(const long *shape)
{
    convolve("convolve_tiled", shape);
}

static void refuse(const char *function, const long *shape)
{
    const size_t n = shape[0] * shape[1];
    float *out = f32_array(n), *in = random_f32(n), *filter = random_f32(weights_of(5));
    const int radii[] = {-1, 5};
    for (int i = 0; i < 2; i++) {
        call_refused(REFUSED, function,
                     ARGS(inout_f32("out", out, n), in_f32("in", in, n), i32((int)shape[0]),
                          i32((int)shape[1]), in_f32("filter", filter, weights_of(5)),
                          i32(radii[i]), stream()));
    }
    for (size_t i = 0; i < n; i++) expect(out[i] == 0.0f, "out[%zu] is written", i);
}

static void run_direct_refused(const long *shape)
{
    refuse("convolve", shape);
}

static void run_tiled_refused(const long *shape)
{
    refuse("convolve_tiled", shape);
}

/* One image, a filter per call: worker.c. */
static void fly(const char *function, const long *shape)
{
    problem p = problem_of(shape);
    const size_t n = p.height * p.width, weights = weights_of(p.radius);
    float *out = f32_array(IN_FLIGHT * n), *filters = random_f32(IN_FLIGHT * weights);
    call_cuda(function, ARGS(out_f32("out", out, IN_FLIGHT * n), in_f32("in", p.in, n),
                             i32((int)p.height), i32((int)p.width),
                             in_f32("filters", filters, IN_FLIGHT * weights), i32(p.radius)));
    for (int i = 0; i < IN_FLIGHT; i++) {
        p.filter = filters + i * weights;
        expect_filtered(out + i * n, &p);
    }
}

static void run_direct_in_flight(const long *shape)
{
    fly("convolve_in_flight", shape);
}

static void run_tiled_in_flight(const long *shape)
{
    fly("convolve_tiled_in_flight", shape);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* shape: n */
static void look_up(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    unsigned char *index = array_of(ELEMENT_BYTE, n);
    const int *drawn = random_i32(n, 0, ENTRIES);
    float *table = random_f32(ENTRIES), *out = f32_array(n);
    double *want = f64_array(n);
    for (size_t i = 0; i < n; i++) {
        index[i] = (unsigned char)drawn[i];
        want[i] = table[drawn[i]];
    }
    call_cuda(function, ARGS(out_f32("out", out, n), in_bytes("index", index, n), u64(n),
                             in_f32("table", table, ENTRIES), stream()));
    expect_close((layout){"out", 1, n}, out, want, NULL, 0.0);
}

static void run_look_up(const long *shape)
{
    look_up("look_up", shape);
}

static const grading_case cases[] = {
    {.name = "0x5, radius 1", .run = run_direct, .shape = {0, 5, 1}},
    {.name = "5x0, radius 1", .run = run_direct, .shape = {5, 0, 1}},
    {.name = "1x1, radius 4", .run = run_direct, .shape = {1, 1, 4}},
    {.name = "2x3, radius 4", .run = run_direct, .shape = {2, 3, 4}},
    {.name = "37x70, radius 0", .run = run_direct, .shape = {37, 70, 0}},
    {.name = "33x65, radius 2", .run = run_direct, .shape = {33, 65, 2}},
    {.name = "any", .run = run_direct, .shape = {2, 2, 0}, .most = {90, 150, 4}},
    {.name = "20x35, radius 1, NaN and infinity", .run = run_direct, .shape = {20, 35, 1, 2}},
    {.name = "7x9, radius -1 and 5", .run = run_direct_refused, .shape = {7, 9}},
    {.name = "9x14, radius 2, 64 in flight", .run = run_direct_in_flight, .shape = {9, 14, 2}},
    LONG_ROW("70001x1, radius 1", run_direct, 70001, 1, 1),
    LONG_ROW("1x70001, radius 1", run_direct, 1, 70001, 1),
    GPU_ROW("2100000x2, radius 2", run_direct, 2100000, 2, 2),
    {.name = "tiled 0x5, radius 1", .run = run_tiled, .shape = {0, 5, 1}, .part = "convolve_tiled"},
    {.name = "tiled 5x0, radius 1", .run = run_tiled, .shape = {5, 0, 1}},
    {.name = "tiled 1x1, radius 4", .run = run_tiled, .shape = {1, 1, 4}},
    {.name = "tiled 2x3, radius 4", .run = run_tiled, .shape = {2, 3, 4}},
    {.name = "tiled 37x70, radius 0", .run = run_tiled, .shape = {37, 70, 0}},
    {.name = "tiled 33x65, radius 2", .run = run_tiled, .shape = {33, 65, 2}},
    {.name = "tiled, any", .run = run_tiled, .shape = {2, 2, 0}, .most = {90, 150, 4}},
    {.name = "tiled 20x35, radius 1, NaN and infinity", .run = run_tiled, .shape = {20, 35, 1, 2}},
    {.name = "tiled 7x9, radius -1 and 5", .run = run_tiled_refused, .shape = {7, 9}},
    {.name = "tiled 9x14, radius 2, 64 in flight", .run = run_tiled_in_flight, .shape = {9, 14, 2}},
    LONG_ROW("tiled 70001x1, radius 1", run_tiled, 70001, 1, 1),
    LONG_ROW("tiled 1x70001, radius 1", run_tiled, 1, 70001, 1),
    GPU_ROW("tiled 2100000x2, radius 2", run_tiled, 2100000, 2, 2),
    {.name = "look up 0", .run = run_look_up, .shape = {0}, .part = "look_up"},
    {.name = "look up 1", .run = run_look_up, .shape = {1}},
    {.name = "look up any", .run = run_look_up, .shape = {2}, .most = {20000}},
    LONG_ROW("look up 1100000", run_look_up, 1100000),
    {0},
};

/* ---- traffic --------------------------------------------------------------------------------- */

static double constant_reads(const device_counts *c)
{
    return c->constant.requests ? (double)c->constant.reads / (double)c->constant.requests : 0.0;
}

/* Sectors of whatever may hold an image: textures, too. Constant memory holds one if lanes read it
 * at different addresses. */
static double sectors_loaded(const device_counts *c)
{
    return (double)(c->global_load.sectors + c->read_only.sectors - c->constant.sectors +
                    c->local_load.sectors + c->constant.reads - c->constant.requests);
}

static double bytes_loaded(const device_counts *c)
{
    return 32.0 * sectors_loaded(c) + 2.0 * (double)c->on_device.bytes;
}

/* What the memories do for a warp one after the other: sectors, addresses, passes over the banks.
 */
static double passes(const device_counts *c)
{
    return sectors_loaded(c) +
           (double)(c->constant.requests + c->shared_load.wavefronts + c->shared_atomic.wavefronts);
}

static const traffic_test traffic[] = {
    {.metric = {"constant reads", .per = "request", .shape = "96 × 128, radius 2"},
     .function = "convolve",
     .run = convolve,
     .shape = {96, 128, 2},
     .count = constant_reads,
     .bound = EXACTLY,
     .wanted = 1.0},
    {.metric = {"bytes loaded", .relative_to = MINIMUM, .shape = "192 × 256, radius 2"},
     .function = "convolve_tiled",
     .run = convolve,
     .shape = {192, 256, 2},
     .count = bytes_loaded,
     .ideal = 4.0 * 192 * 256,
     .bound = AT_MOST,
     .wanted = 3.0,
     .begin = 20.0,
     .least = 1.0},
    {.metric = {"passes", .per = "32 look-ups", .shape = "2^16 random indices"},
     .function = "look_up",
     .run = look_up,
     .shape = {1 << 16},
     .count = passes,
     .ideal = (1 << 16) / 32,
     .bound = AT_MOST,
     .wanted = 6.0,
     .begin = 20.0},
    {0},
};

EXERCISE(218) = {
    .id = 218,
    .name = "stencil",
    .file = "phase2_cuda_basics/218_stencil/218_stencil.cu",
    .functions = {"convolve", "convolve_tiled", "look_up"},
    .promises = {{"convolve", WAITS_FOR_NOTHING | ALLOCATES_NOTHING},
                 {"convolve_tiled", WAITS_FOR_NOTHING | ALLOCATES_NOTHING},
                 {"look_up", WAITS_FOR_NOTHING}},
    .points = 10,
    .speed_points = 5,
    .see = "tiled 2x3, radius 4",
    .cases = cases,
    .traffic = traffic,
};
