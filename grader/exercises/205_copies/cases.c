/* 205_copies: numbers to the GPU and back: which they are, how many copies they took, from what
 * memory, and how fast a copy from pinned memory is against one from ordinary memory. */
#include "correctness/case.h"

#include <string.h>

enum { PAGEABLE, PINNED }; /* copy_mode */

#define LAYERS_MOST 300
#define RATE_N      (4L << 20) /* floats: 16 MB take long enough to be measured */

/* Any bits: a copy knows nothing of NaN, infinity or -0. */
static float *random_bits(size_t n)
{
    float *x = f32_array(n);
    for (size_t i = 0; i < n; i++) {
        const unsigned bits = (unsigned)random_u64(case_random());
        memcpy(&x[i], &bits, sizeof bits);
    }
    return x;
}

typedef struct pair {
    const float *got, *want;
} pair;

static bool differs(size_t i, const void *context)
{
    const pair *p = context;
    return memcmp(&p->got[i], &p->want[i], sizeof(float)) != 0;
}

static void expect_same(const char *name, const float *got, const float *want, size_t n)
{
    unsigned is, should;
    const size_t i = parallel_find(n, 1, differs, &(pair){got, want});
    if (i == n) return;
    memcpy(&is, &got[i], sizeof is);
    memcpy(&should, &want[i], sizeof should);
    fail("%s[%zu] has the bits %08x (%.9g), should have %08x (%.9g)%s", name, i, is, got[i], should,
         want[i], place_of((layout){name, 1, n}, i));
}

static void expect_copies(const char *after, unsigned wanted)
{
    const unsigned count = call_copies().count;
    expect(count == wanted, "%s copied %u time%s between host and device, should be %u", after,
           count, count == 1 ? "" : "s", wanted);
}

/* Of the last call, which made `wanted` copies of n floats each. */
static void expect_whole_copies(const char *after, unsigned wanted, size_t n)
{
    const unsigned long long bytes = call_copies().bytes, all = 4ull * n * wanted;
    expect_copies(after, wanted);
    expect(bytes == all, "%s copied %llu bytes, should be %llu: %zu floats, %u time%s", after,
           bytes, all, n, wanted, wanted == 1 ? "" : "s");
}

static void expect_pinned(const char *after, unsigned wanted)
{
    const unsigned pinned = call_copies().pinned;
    expect(pinned == wanted, "%s: %u copies went from or to pinned memory, should be %u", after,
           pinned, wanted);
}

/* ---- there and back -------------------------------------------------------------------------- */

static void trip(float *y, const float *x, size_t n, int mode, float gbs[2])
{
    call_cuda("roundtrip", ARGS(host(out_f32("h_y", y, n)), host(in_f32("h_x", x, n)), u64(n),
                                i32(mode), host(out_f32("h_gbs", gbs, 2)), stream()));
}

/* How long the copies took, as both rates together say: not longer than the call.
 * @return seconds */
static double claimed_seconds(const float gbs[2], size_t n)
{
    const double claimed = 4e-9 * (double)n * (1.0 / gbs[0] + 1.0 / gbs[1]), all = call_seconds();
    expect(claimed <= 1.05 * all,
           "at %.4g and %.4g GB/s both copies of %zu bytes would take %.6f s, but the whole call "
           "took %.6f s",
           gbs[0], gbs[1], 4 * n, claimed, all);
    return claimed;
}

/* shape: n, mode */
static void run_roundtrip(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *x = random_bits(n);
    float *y = f32_array(n), gbs[2];
    trip(y, x, n, (int)shape[1], gbs);
    expect_same("h_y", y, x, n);
    expect_whole_copies("roundtrip", 2, n);
    expect_pinned("roundtrip", shape[1] == PINNED ? 2 : 0);
    for (int i = 0; i < 2; i++) {
        expect(gbs[i] > 0 && gbs[i] < 1e6f, "h_gbs[%d] is %g GB/s, which is no rate", i, gbs[i]);
    }
    claimed_seconds(gbs, n);
}

/* Nor so short that something else than the copies was timed. shape: n, mode, at most so many times
 * shorter */
static void run_rates(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *x = random_f32(n);
    float *y = f32_array(n), gbs[2];
    trip(y, x, n, (int)shape[1], gbs);
    const double claimed = claimed_seconds(gbs, n), all = call_seconds();
    expect(claimed * (double)shape[2] >= all,
           "at %.4g and %.4g GB/s both copies of %zu bytes would take %.9f s of the %.6f s of the "
           "call: was something else timed?",
           gbs[0], gbs[1], 4 * n, claimed, all);
}

/* ---- a tensor -------------------------------------------------------------------------------- */

static void create(int t, const float *values, size_t n)
{
    call_cuda("tensor_create", ARGS(handle_out(t), host(in_f32("h_values", values, n)), u64(n)));
    expect_copies("tensor_create", 0);
}

/* @param copied whether it has to */
static void to_gpu(int t, bool copied, size_t n)
{
    call_cuda("tensor_to_gpu", ARGS(handle(t), stream()));
    expect_whole_copies(copied ? "tensor_to_gpu" : "tensor_to_gpu, of numbers that are there,",
                        copied, n);
    expect_pinned("tensor_to_gpu", copied);
}

static void to_cpu(int t, bool copied, size_t n)
{
    call_cuda("tensor_to_cpu", ARGS(handle(t), stream()));
    expect_whole_copies(copied ? "tensor_to_cpu" : "tensor_to_cpu, of numbers that are there,",
                        copied, n);
    expect_pinned("tensor_to_cpu", copied);
}

static void expect_place(int t, int on_gpu, const char *after)
{
    const int said = call_returning_i32("tensor_on_gpu", ARGS(handle(t)));
    expect(said == on_gpu, "tensor_on_gpu is %d after %s, should be %d", said, after, on_gpu);
    expect_copies("tensor_on_gpu", 0);
}

static void layer(int t, float scale, float shift)
{
    call_cuda("tensor_layer", ARGS(handle(t), f32(scale), f32(shift), stream()));
    expect_copies("tensor_layer", 0);
}

static void get(int t, float *y, size_t n)
{
    call_cuda("tensor_get", ARGS(host(out_f32("h_y", y, n)), handle(t), stream()));
}

static void release(int t)
{
    call_cuda("tensor_free", ARGS(handle(t), stream()));
    expect_copies("tensor_free", 0);
}

/* To the GPU, do nothing, back. shape: n */
static void run_there_and_back(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *x = random_bits(n);
    float *y = f32_array(n);
    create(0, x, n);
    expect_place(0, 0, "tensor_create");
    to_gpu(0, true, n);
    expect_place(0, 1, "tensor_to_gpu");
    to_cpu(0, true, n);
    expect_place(0, 0, "tensor_to_cpu");
    get(0, y, n);
    expect_same("h_y", y, x, n);
    expect_copies("tensor_get, of numbers on the CPU,", 0);
    release(0);
}

static void run_asked_twice(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *x = random_bits(n);
    float *y = f32_array(n);
    create(0, x, n);
    to_cpu(0, false, n);
    to_gpu(0, true, n);
    to_gpu(0, false, n);
    to_gpu(0, false, n);
    to_cpu(0, true, n);
    to_cpu(0, false, n);
    get(0, y, n);
    expect_same("h_y", y, x, n);
    release(0);
}

static double layer_of(double x, double scale, double shift)
{
    const double y = scale * x + shift;
    return y < 0.0 ? 0.0 : y;
}

static void expect_layers(const float *y, const float *x, size_t n, const float *scale,
                          const float *shift, int layers)
{
    double *want = f64_array(n);
    for (size_t i = 0; i < n; i++) {
        want[i] = x[i];
        for (int l = 0; l < layers; l++) want[i] = layer_of(want[i], scale[l], shift[l]);
    }
    expect_close((layout){"h_y", 1, n}, y, want, NULL, 2e-6 * (layers + 1));
}

/* What a kernel writes comes back; what is sent again is what came back. */
static void run_several_trips(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float scale[] = {1.5f, -0.75f, 0.5f}, shift[] = {0.25f, 1.0f, 0.125f};
    const float *x = random_f32(n);
    float *y = f32_array(n);
    create(0, x, n);
    for (int i = 0; i < 3; i++) {
        to_gpu(0, true, n);
        layer(0, scale[i], shift[i]);
        to_cpu(0, true, n);
        get(0, y, n);
        expect_layers(y, x, n, scale, shift, i + 1);
    }
    release(0);
}

/* Each has memory and a place of its own. */
static void run_two_tensors(const long *shape)
{
    const size_t n = (size_t)shape[0], m = (size_t)shape[1];
    const float *x = random_bits(n), *z = random_bits(m);
    float *y = f32_array(n > m ? n : m);
    create(0, x, n);
    to_gpu(0, true, n);
    create(1, z, m);
    expect_place(0, 1, "another tensor was made");
    expect_place(1, 0, "tensor_create");
    to_gpu(1, true, m);
    to_cpu(0, true, n);
    expect_place(1, 1, "another tensor went back");
    get(0, y, n);
    expect_same("h_y of the first tensor", y, x, n);
    release(0);
    get(1, y, m);
    expect_copies("tensor_get, of numbers on the GPU,", 1);
    expect_same("h_y of the second tensor", y, z, m);
    release(1);
}

static void run_freed_on_the_gpu(const long *shape)
{
    const size_t n = (size_t)shape[0];
    create(0, random_f32(n), n);
    to_gpu(0, true, n);
    release(0);
    call_cuda("tensor_free", ARGS(null_pointer(), stream()));
}

/* Memory that no machine has: an error, nothing to free, and the next one works. */
static void run_too_large(const long *shape)
{
    const float one = 1.0f;
    float y = 0.0f, gbs[2];
    const argument n = u64(1ull << 58), x = host(in_f32("h_x", &one, 1));
    const argument h_y = host(inout_f32("h_y", &y, 1));
    run_there_and_back(shape); /* then the handle is not NULL yet */
    int error = call_returning_i32("tensor_create", ARGS(handle_out(0), x, n));
    expect(error != 0, "tensor_create accepts 2^58 floats");
    release(0); /* NULL */
    error = call_returning_i32("tensor_chain", ARGS(h_y, x, n, x, x, i32(1), stream()));
    expect(error != 0, "tensor_chain accepts 2^58 floats");
    for (int mode = PAGEABLE; mode <= PINNED; mode++) {
        const argument rates = host(inout_f32("h_gbs", gbs, 2));
        gbs[0] = gbs[1] = 0.0f;
        error = call_returning_i32("roundtrip", ARGS(h_y, x, n, i32(mode), rates, stream()));
        expect(error != 0, "roundtrip accepts 2^58 floats");
    }
    run_there_and_back(shape);
}

static void create_and_free(const void *unused)
{
    (void)unused;
    static const float x[5] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f};
    create(0, x, 5);
    release(0);
}

static void ask_too_much(const void *unused)
{
    (void)unused;
    const float one = 1.0f;
    const argument x = host(in_f32("h_x", &one, 1));
    call_returning_i32("tensor_create", ARGS(handle_out(0), x, u64(1ull << 58)));
}

/* shape: times */
static void run_frees_all(const long *shape)
{
    const double each = kept_by(create_and_free, NULL, shape[0], shape[0], KEEPS_NOTHING);
    const double none = kept_by(ask_too_much, NULL, shape[0], shape[0], KEEPS_NOTHING);
    expect(each <= KEEPS_NOTHING, "%.0f bytes of host memory are not freed for each tensor", each);
    expect(none <= KEEPS_NOTHING, "tensor_create keeps %.0f bytes when it fails", none);
}

/* ---- a chain --------------------------------------------------------------------------------- */

static void check_chain(const char *function, const float *x, size_t n, int layers)
{
    const float *scale = random_f32_between(LAYERS_MOST, -1.5f, 1.5f);
    const float *shift = random_f32_between(LAYERS_MOST, 0.0f, 1.0f);
    float *y = f32_array(n);
    call_cuda(function,
              ARGS(host(out_f32("h_y", y, n)), host(in_f32("h_x", x, n)), u64(n),
                   host(in_f32("h_scale", scale, (size_t)layers)),
                   host(in_f32("h_shift", shift, (size_t)layers)), i32(layers), stream()));
    expect_layers(y, x, n, scale, shift, layers);
    expect_whole_copies(function, 2, n);
}

/* shape: n, layers, of the numbers how many NaN, infinite and -infinite */
static void run_chain(const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *x = random_f32(n);
    sprinkle_special_f32(x, n, (int)shape[2]);
    check_chain("tensor_chain", x, n, (int)shape[1]);
}

static void run_counted_chain(const char *function, const long *shape)
{
    check_chain(function, random_f32((size_t)shape[0]), (size_t)shape[0], (int)shape[1]);
}

static const grading_case cases[] = {
    {.name = "there and back, n=1",
     .run = run_there_and_back,
     .shape = {1},
     .part = "tensor_to_gpu"},
    {.name = "there and back, n=1000", .run = run_there_and_back, .shape = {1000}},
    /* Before anything large: a heap with room hides what is left. */
    {.name = "3000 tensors, each freed",
     .run = run_frees_all,
     .shape = {3000},
     .where = ON_SOFTGPU,
     .once = true},
    {.name = "there and back, n=1000003", .run = run_there_and_back, .shape = {1000003}},
    {.name = "asked twice", .run = run_asked_twice, .shape = {1000}},
    {.name = "three trips", .run = run_several_trips, .shape = {70001}},
    {.name = "two tensors", .run = run_two_tensors, .shape = {1000, 257}},
    {.name = "freed on the GPU", .run = run_freed_on_the_gpu, .shape = {1000003}},
    {.name = "too large", .run = run_too_large, .shape = {1000}},
    {.name = "roundtrip n=1, pageable",
     .run = run_roundtrip,
     .shape = {1, PAGEABLE},
     .part = "roundtrip"},
    {.name = "roundtrip n=1, pinned", .run = run_roundtrip, .shape = {1, PINNED}},
    {.name = "roundtrip n=1000, pageable", .run = run_roundtrip, .shape = {1000, PAGEABLE}},
    {.name = "roundtrip n=1000, pinned", .run = run_roundtrip, .shape = {1000, PINNED}},
    {.name = "roundtrip n=1000003, pageable", .run = run_roundtrip, .shape = {1000003, PAGEABLE}},
    {.name = "roundtrip n=1000003, pinned", .run = run_roundtrip, .shape = {1000003, PINNED}},
    {.name = "rates, pageable", .run = run_rates, .shape = {RATE_N, PAGEABLE, 100}, .once = true},
    {.name = "rates, pinned", .run = run_rates, .shape = {RATE_N, PINNED, 5000}, .once = true},
    {.name = "chain of 0 layers", .run = run_chain, .shape = {1000, 0}, .part = "tensor_chain"},
    {.name = "chain of 1 layer, n=1", .run = run_chain, .shape = {1, 1}},
    {.name = "chain of 4 layers", .run = run_chain, .shape = {1000, 4}},
    {.name = "chain of 4 layers, n=1000003", .run = run_chain, .shape = {1000003, 4}},
    {.name = "chain of 300 layers", .run = run_chain, .shape = {3, 300}},
    {.name = "chain of 7 layers with NaN", .run = run_chain, .shape = {1000, 7, 9}},
    {0},
};

/* The student's tensor is made before and looked at after; the baseline is one call. A tensor that
 * was brought to the GPU earlier than it is timed shows in its copies. */
static void run_timed(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *x = random_f32(n);
    if (strcmp(function, "tensor_to_gpu") != 0) {
        call_cuda(function, ARGS(host(in_f32("h_values", x, n)), u64(n), stream()));
        return;
    }
    float *y = f32_array(n);
    call_aside("tensor_create", ARGS(handle_out(0), host(in_f32("h_values", x, n)), u64(n)));
    call_cuda(function, ARGS(handle(0), stream()));
    expect_whole_copies(function, 1, n);
    call_aside("tensor_get", ARGS(host(out_f32("h_y", y, n)), handle(0), stream()));
    call_aside("tensor_free", ARGS(handle(0), stream()));
    expect_same("h_y", y, x, n);
}

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "a copy from pageable memory", .shape = "2^24 floats"},
     .function = "tensor_to_gpu",
     .baseline = "baseline_to_gpu",
     .run = run_timed,
     .shape = {1L << 24},
     .where = ON_GPU,
     .threshold = 1.5,
     .peer_share = 0.0016, /* of the memory's bandwidth: the bus, and a copy by the CPU before it */
     .peer_bytes = 4.0 * (1L << 24)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "4 layers of 2^16 floats"},
     .function = "tensor_chain",
     .run = run_counted_chain,
     .shape = {1L << 16, 4},
     .count = moved_bytes,
     .ideal = (2 + 2 * 4) * 4.0 * (1L << 16), /* two copies; each layer reads and writes */
     .least = (2 + 2) / (2 + 2 * 4.0),        /* all layers in one kernel */
     .bound = AT_MOST,
     .wanted = 1.1},
    {0},
};

EXERCISE(205) = {
    .id = 205,
    .core = true,
    .name = "copies",
    .file = "phase2_cuda_basics/205_copies/205_copies.cu",
    .functions = {"roundtrip", "tensor_create", "tensor_to_gpu", "tensor_on_gpu", "tensor_to_cpu",
                  "tensor_free", "tensor_layer", "tensor_get", "tensor_chain"},
    .promises = {{"roundtrip", HAS_WAITED},
                 {"tensor_to_gpu", WAITS_FOR_NOTHING | ALLOCATES_NOTHING},
                 {"tensor_to_cpu", HAS_WAITED | ALLOCATES_NOTHING},
                 {"tensor_free", 0},
                 {"tensor_layer", WAITS_FOR_NOTHING | ALLOCATES_NOTHING | COPIES_NOTHING},
                 {"tensor_get", HAS_WAITED | ALLOCATES_NOTHING},
                 {"tensor_chain", HAS_WAITED}},
    .baseline_file = "grader/exercises/205_copies/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
