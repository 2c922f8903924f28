/* 511_autoencoder: both forward passes against a reference in double, every switch on and off and
 * what it changes, launches and bytes of the fused one, and its time against the layers one by one.
 * shape: batch, options, values */
#include "511_autoencoder/autoencoder.h"
#include "correctness/case.h"

#include <math.h>
#include <string.h>

#define FP32_TOLERANCE 2e-5 /* of max(1, |want|): fp32 all the way, its sums in any order */
#define FAST_TOLERANCE 4e-3 /* a tanh of 11 bits in each hidden unit, added up */
#define FAR_TOLERANCE  4e-3 /* x around 1,000: an fp32 mean is off by some 1e-4 of the spread */

#define EXACT          (SAE_ALL & ~SAE_FAST_GELU)

enum values { SPREAD, FAR, TINY, SPECIAL }; /* of x */

/* ---- inputs and what should come out --------------------------------------------------------- */

static const float *random_params(void)
{
    static const struct {
        int at, count;
        float low, high;
    } parts[] = {
        {SAE_GAMMA1, SAE_INPUTS, 0.5f, 2},
        {SAE_BETA1, SAE_INPUTS, -1, 1},
        {SAE_W1, SAE_HIDDEN * SAE_INPUTS, -0.1f, 0.1f},
        {SAE_BIAS1, SAE_HIDDEN, -1, 1},
        {SAE_W2, SAE_LATENT * SAE_HIDDEN, -0.1f, 0.1f},
        {SAE_BIAS2, SAE_LATENT, -1, 1},
        {SAE_GAMMA2, SAE_LATENT, 0.5f, 2},
        {SAE_BETA2, SAE_LATENT, -1, 1},
        {SAE_W3, SAE_HIDDEN * SAE_LATENT, -0.3f, 0.3f},
        {SAE_BIAS3, SAE_HIDDEN, -1, 1},
        {SAE_W4, SAE_INPUTS * SAE_HIDDEN, -0.1f, 0.1f},
        {SAE_BIAS4, SAE_INPUTS, -1, 1},
    };
    float *params = f32_array(SAE_PARAMS);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t count = (size_t)parts[i].count;
        memcpy(params + parts[i].at, random_f32_between(count, parts[i].low, parts[i].high),
               count * sizeof *params);
    }
    params[SAE_BIAS1] = params[SAE_BIAS3] = 20.0f; /* whose tanh by exp has an infinity in it */
    return params;
}

/* Each slice has a height and a spread of its own, so that no other row has its mean. */
static float *random_frames(int batch, enum values values)
{
    float *x = random_f32((size_t)batch * SAE_INPUTS);
    for (int row = 0; row < batch * SAE_SLICES; row++) {
        const float height = values == FAR ? 1000 : values == TINY ? 0 : 1.0f * (row % SAE_SLICES);
        const float spread = values == TINY ? 1e-3f : 1.0f + row % 3;
        for (int i = 0; i < SAE_SLICE; i++) {
            float *v = &x[(size_t)row * SAE_SLICE + i];
            *v = height + spread * *v;
        }
    }
    return x;
}

typedef enum { RIGHT, WHOLE_FRAME, ONE_GAMMA, ERF_GELU, NO_EPS } mistake;

static void normalized(double *y, const double *x, int count, const float *gamma, const float *beta,
                       double eps)
{
    double mean = 0, var = 0;
    for (int i = 0; i < count; i++) mean += x[i] / count;
    for (int i = 0; i < count; i++) var += (x[i] - mean) * (x[i] - mean) / count;
    for (int i = 0; i < count; i++) y[i] = (x[i] - mean) / sqrt(var + eps) * gamma[i] + beta[i];
}

static void dense(double *y, const double *x, const float *w, const float *bias, int in, int out)
{
    for (int o = 0; o < out; o++) {
        y[o] = bias[o];
        for (int i = 0; i < in; i++) y[o] += x[i] * w[o * in + i];
    }
}

static void gelu(double *x, int count, mistake m)
{
    for (int i = 0; i < count; i++) {
        const double inner = sqrt(2 / M_PI) * (x[i] + 0.044715 * x[i] * x[i] * x[i]);
        x[i] *= 0.5 * (1 + (m == ERF_GELU ? erf(x[i] / sqrt(2)) : tanh(inner)));
    }
}

static void reference_frame(double *y, double *latent, const float *frame, const float *p,
                            mistake m)
{
    const int width = m == WHOLE_FRAME ? SAE_INPUTS : SAE_SLICE;
    const double eps = m == NO_EPS ? 0 : SAE_EPS;
    double x[SAE_INPUTS], in[SAE_INPUTS], hidden[SAE_HIDDEN], code[SAE_LATENT];
    for (int i = 0; i < SAE_INPUTS; i++) x[i] = frame[i];
    for (int at = 0; at < SAE_INPUTS; at += width) {
        const int own = m == ONE_GAMMA ? 0 : at;
        normalized(in + at, x + at, width, p + SAE_GAMMA1 + own, p + SAE_BETA1 + own, eps);
    }
    dense(hidden, in, p + SAE_W1, p + SAE_BIAS1, SAE_INPUTS, SAE_HIDDEN);
    gelu(hidden, SAE_HIDDEN, m);
    dense(code, hidden, p + SAE_W2, p + SAE_BIAS2, SAE_HIDDEN, SAE_LATENT);
    normalized(latent, code, SAE_LATENT, p + SAE_GAMMA2, p + SAE_BETA2, eps);
    dense(hidden, latent, p + SAE_W3, p + SAE_BIAS3, SAE_LATENT, SAE_HIDDEN);
    gelu(hidden, SAE_HIDDEN, m);
    dense(y, hidden, p + SAE_W4, p + SAE_BIAS4, SAE_HIDDEN, SAE_INPUTS);
}

typedef struct {
    double *y, *latent;
} outputs;

static outputs reference(const float *x, const float *params, int batch, mistake m)
{
    const size_t rows = (size_t)batch;
    const outputs r = {f64_array(rows * SAE_INPUTS), f64_array(rows * SAE_LATENT)};
    for (size_t f = 0; f < rows; f++)
        reference_frame(r.y + f * SAE_INPUTS, r.latent + f * SAE_LATENT, x + f * SAE_INPUTS, params,
                        m);
    return r;
}

static void expect_outputs(const float *y, const float *latent, const float *x, const float *params,
                           int batch, double tolerance)
{
    static const struct {
        mistake made;
        const char *words;
    } suspects[] = {
        {WHOLE_FRAME, "the frame is normalized as a whole, not slice by slice"},
        {ONE_GAMMA, "every slice uses gamma and beta of the first"},
        {ERF_GELU, "this is the gelu with erf, not the one with tanh"},
        {NO_EPS, "eps is left out"},
    };
    const outputs want = reference(x, params, batch, RIGHT);
    const layout code = {"latent", (size_t)batch, SAE_LATENT},
                 out = {"y", (size_t)batch, SAE_INPUTS};
    if (!is_close(code, latent, want.latent, NULL, tolerance))
        for (size_t i = 0; i < sizeof suspects / sizeof *suspects; i++)
            suspect(suspects[i].words, reference(x, params, batch, suspects[i].made).latent);
    expect_close(code, latent, want.latent, NULL, tolerance);
    expect_close(out, y, want.y, NULL, tolerance);
}

/* ---- calls ----------------------------------------------------------------------------------- */

typedef void call_kind(const char *function, argument *arguments, int count);

typedef struct {
    float *y, *latent;
} results;

static results room_for(int batch)
{
    return (results){f32_array((size_t)batch * SAE_INPUTS), f32_array((size_t)batch * SAE_LATENT)};
}

static void layerwise(results to, const float *x, const float *params, int batch)
{
    const size_t rows = (size_t)batch;
    float *scratch = f32_array(rows * SAE_SCRATCH);
    call_cuda("sae_forward",
              ARGS(out_f32("y", to.y, rows * SAE_INPUTS),
                   out_f32("latent", to.latent, rows * SAE_LATENT),
                   in_f32("x", x, rows * SAE_INPUTS), in_f32("params", params, SAE_PARAMS),
                   out_f32("scratch", scratch, rows * SAE_SCRATCH), i32(batch), stream()));
}

static void fused(call_kind *call, const char *function, results to, const float *x,
                  const float *params, int batch, int options)
{
    const size_t rows = (size_t)batch;
    call(function,
         ARGS(out_f32("y", to.y, rows * SAE_INPUTS),
              out_f32("latent", to.latent, rows * SAE_LATENT), in_f32("x", x, rows * SAE_INPUTS),
              in_f32("params", params, SAE_PARAMS), i32(batch), i32(options), stream()));
}

static double tolerance_of(int options, enum values values)
{
    return values == FAR             ? FAR_TOLERANCE
           : options & SAE_FAST_GELU ? FAST_TOLERANCE
                                     : FP32_TOLERANCE;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void run_layerwise(const long *shape)
{
    const int batch = (int)shape[0];
    const float *x = random_frames(batch, (enum values)shape[2]), *params = random_params();
    const results r = room_for(batch);
    layerwise(r, x, params, batch);
    expect_outputs(r.y, r.latent, x, params, batch, tolerance_of(0, (enum values)shape[2]));
}

static void run_fused(const long *shape)
{
    const int batch = (int)shape[0], options = (int)shape[1];
    const float *x = random_frames(batch, (enum values)shape[2]), *params = random_params();
    const results r = room_for(batch);
    fused(call_cuda, "sae_forward_fused", r, x, params, batch, options);
    expect_outputs(r.y, r.latent, x, params, batch, tolerance_of(options, (enum values)shape[2]));
}

/* Every combination of switches, with the same frames. */
static void every_option(const long *shape)
{
    const int batch = (int)shape[0];
    const float *x = random_frames(batch, SPREAD), *params = random_params();
    const results r = room_for(batch);
    for (int options = 0; options <= SAE_ALL; options++) {
        fused(call_cuda, "sae_forward_fused", r, x, params, batch, options);
        expect_outputs(r.y, r.latent, x, params, batch, tolerance_of(options, SPREAD));
    }
}

static void unknown_options(const long *shape)
{
    enum { INVALID_VALUE = 1 };
    float nothing;
    run_fused(shape);
    for (unsigned option = SAE_ALL + 1; option != 0; option *= 2) /* the last one is the sign */
        call_refused(INVALID_VALUE, "sae_forward_fused",
                     ARGS(out_f32("y", &nothing, 0), out_f32("latent", &nothing, 0),
                          in_f32("x", &nothing, 0), in_f32("params", &nothing, 0), i32(0),
                          i32((int)option), stream()));
}

/* A NaN, or an infinity, shows in every number of its frame and in none of another. */
static void special_stays_in_its_frame(const long *shape)
{
    const int batch = (int)shape[0];
    const float *params = random_params();
    float *x = random_frames(batch, SPREAD);
    const results r = room_for(batch);
    x[random_below(case_random(), SAE_INPUTS)] = NAN;
    x[(batch - 1) * SAE_INPUTS + random_below(case_random(), SAE_INPUTS)] = INFINITY;
    layerwise(r, x, params, batch);
    expect_outputs(r.y, r.latent, x, params, batch, FP32_TOLERANCE);
    fused(call_cuda, "sae_forward_fused", r, x, params, batch, EXACT);
    expect_outputs(r.y, r.latent, x, params, batch, FP32_TOLERANCE);
}

static double counted(int options, int batch, const float *x, const float *params,
                      double (*count)(const device_counts *))
{
    fused(call_counted, "sae_forward_fused", room_for(batch), x, params, batch, options);
    return count(call_counts());
}

/* A switch that changes nothing is none: the study would compare a kernel with itself. What
 * unrolling saves is for the compiler to say, and prefetching is a matter of time: neither is
 * counted. */
static void switches_switch(const long *shape)
{
    static const struct {
        int option;
        double (*count)(const device_counts *);
        double times; /* at least so many times as much without it */
        const char *name, *counted;
    } rows[] = {
        {SAE_WARP_SUMS, shared_requests, 1.001, "SAE_WARP_SUMS", "requests of shared memory"},
        {SAE_VECTORS, global_requests, 1.1, "SAE_VECTORS", "requests of global memory"},
        {SAE_FAST_GELU, instructions_per_warp, 1.001, "SAE_FAST_GELU", "instructions of a warp"},
        {SAE_MANY_FRAMES, moved_bytes, 2, "SAE_MANY_FRAMES", "bytes moved"},
    };
    const int batch = (int)shape[0];
    const float *x = random_frames(batch, SPREAD), *params = random_params();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double on = counted(SAE_ALL, batch, x, params, rows[i].count);
        const double off = counted(SAE_ALL & ~rows[i].option, batch, x, params, rows[i].count);
        expect(off >= rows[i].times * on, "without %s there are %.0f %s, with it %.0f: %s",
               rows[i].name, off, rows[i].counted, on,
               off == on ? "it switches nothing" : "it gains too little");
    }
}

static const grading_case cases[] = {
    {.name = "layerwise, 1 frame", .run = run_layerwise, .shape = {1}},
    {.name = "layerwise, 33", .run = run_layerwise, .shape = {33}},
    {.name = "layerwise, 0", .run = run_layerwise, .shape = {0}},
    {.name = "layerwise around 1000", .run = run_layerwise, .shape = {5, 0, FAR}, .once = true},
    {.name = "layerwise, tiny", .run = run_layerwise, .shape = {5, 0, TINY}, .once = true},
    {.name = "layerwise, any", .run = run_layerwise, .shape = {1}, .most = {40}},
    LONG_ROW("layerwise, 300", run_layerwise, 300),
    {.name = "fused, 1 frame", .run = run_fused, .shape = {1, EXACT}, .part = "sae_forward_fused"},
    {.name = "fused, 2", .run = run_fused, .shape = {2, SAE_ALL}},
    {.name = "fused, 5", .run = run_fused, .shape = {5, EXACT}},
    {.name = "fused, 33", .run = run_fused, .shape = {33, EXACT}},
    {.name = "fused, fast, 33", .run = run_fused, .shape = {33, SAE_ALL}},
    {.name = "fused, 0", .run = run_fused, .shape = {0, SAE_ALL}},
    {.name = "fused around 1000", .run = run_fused, .shape = {5, EXACT, FAR}},
    {.name = "fused, tiny", .run = run_fused, .shape = {5, EXACT, TINY}},
    {.name = "fused, any", .run = run_fused, .shape = {1, EXACT}, .most = {40}},
    LONG_ROW("fused, 350", run_fused, 350, EXACT),
    {.name = "every option", .run = every_option, .shape = {3}, .once = true},
    {.name = "unknown options", .run = unknown_options, .shape = {2, EXACT}, .once = true},
    {.name = "nan and infinity stay in their frames",
     .run = special_stays_in_its_frame,
     .shape = {6}},
    {.name = "switches switch",
     .run = switches_switch,
     .shape = {40},
     .where = ON_SOFTGPU,
     .once = true},
    GPU_ROW("every option, 200", every_option, 200),
    {.name = "layerwise, 4097",
     .run = run_layerwise,
     .shape = {4097},
     .where = ON_GPU,
     .once = true,
     .part = "sae_forward"},
    {.name = "fused, 512",
     .run = run_fused,
     .shape = {512, EXACT},
     .where = ON_GPU,
     .once = true,
     .part = "sae_forward_fused"},
    GPU_ROW("fused, 4097", run_fused, 4097, EXACT),
    {0},
};

/* ---- what it costs --------------------------------------------------------------------------- */

#define JUDGED 16 /* frames of a timed call, which nobody can know before */

/* shape: batch, options */
static void run_counted(const char *function, const long *shape)
{
    const int batch = (int)shape[0], judged = batch < JUDGED ? batch : JUDGED;
    const float *x = random_frames(batch, SPREAD), *params = random_params();
    const results r = room_for(batch), some = room_for(judged);
    float *some_x = f32_array((size_t)judged * SAE_INPUTS);
    fused(call_cuda, function, r, x, params, batch, (int)shape[1]);
    for (size_t i = 0; i < (size_t)judged; i++) {
        const size_t f = random_below(case_random(), (uint64_t)batch);
        memcpy(some_x + i * SAE_INPUTS, x + f * SAE_INPUTS, SAE_INPUTS * sizeof *x);
        memcpy(some.y + i * SAE_INPUTS, r.y + f * SAE_INPUTS, SAE_INPUTS * sizeof *x);
        memcpy(some.latent + i * SAE_LATENT, r.latent + f * SAE_LATENT, SAE_LATENT * sizeof *x);
    }
    expect_outputs(some.y, some.latent, some_x, params, judged,
                   tolerance_of((int)shape[1], SPREAD));
}

#define FLOP_OF_A_FRAME  (4.0 * (SAE_INPUTS + SAE_LATENT) * SAE_HIDDEN)
#define BYTES_OF_A_FRAME (4.0 * (2 * SAE_INPUTS + SAE_LATENT))

#define SPEED(batch, idle)                                                                         \
    {                                                                                              \
        .metric = {"speedup", .over = "the layers one by one", .shape = "batch " #batch},          \
        .function = "sae_forward_fused", .baseline = "baseline_sae_layers", .run = run_counted,    \
        .shape = {batch, SAE_ALL}, .where = ON_GPU, .from_idle = idle, .threshold = 2.0,           \
        .flop = batch * FLOP_OF_A_FRAME, .bytes = batch * BYTES_OF_A_FRAME                         \
    }

static const speed_test speed[] = {SPEED(512, true), SPEED(65536, false), {0}};

/* A fill is a launch, too, of the driver's. */
static double launches_and_fills(const device_counts *c)
{
    return kernel_launches(c) + (double)c->fills.count;
}

static const traffic_test traffic[] = {
    {.metric = {"kernel launches", .shape = "batch 24"},
     .function = "sae_forward_fused",
     .run = run_counted,
     .shape = {24, SAE_ALL},
     .count = launches_and_fills,
     .bound = EXACTLY,
     .wanted = 1},
    {.metric = {"DRAM bytes", .relative_to = "bytes of parameters, x, latent and y",
                .shape = "batch 64"},
     .function = "sae_forward_fused",
     .run = run_counted,
     .shape = {64, SAE_ALL},
     .count = moved_bytes,
     .ideal = 4.0 * SAE_PARAMS + 64 * BYTES_OF_A_FRAME,
     .bound = AT_MOST,
     .wanted = 8,
     .begin = 47.019},
    {0},
};

EXERCISE(511) = {
    .id = 511,
    .name = "autoencoder",
    .file = "phase5_full_network/511_autoencoder/511_autoencoder.cu",
    .functions = {"sae_forward", "sae_forward_fused"},
    .promises = {{"sae_forward_fused", .launches = 1}},
    .prerequisites = {301, 303, 311},
    .own_prerequisites = true,
    .exponentials = true,
    .baseline_file = "grader/exercises/511_autoencoder/baseline.cu",
    .points = 20,
    .speed_points = 10,
    .see = "fused, 2",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
