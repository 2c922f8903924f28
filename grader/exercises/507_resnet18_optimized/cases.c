/*
 * 507_resnet18_optimized: the optimized ResNet-18 against the reference in double, each precision
 * as near to it as its rounding allows; its speed against plain kernels in fp32.
 */
#include "exercises/shared/resnet/resnet_cases.h"

#include "correctness/case.h"
#include <math.h>
#include <string.h>

/* resnet18_precision of network.h, which needs CUDA. */
enum { FP32, TF32, FP16, PRECISIONS };

/* How far logits may be from the reference: the root mean square of the difference, of that of the
 * logits; of any row, and of all rows of a batch that has MANY or more. What honest kernels of each
 * precision need is less than a half of it, and the next lower precision needs more. How much a
 * rounding matters differs from image to image: single rows were seen at twice the usual. */
static const struct {
    const char *name, *reasons;
    double of_all, of_a_row;
} precisions[PRECISIONS] = {
    {"fp32", "; factors rounded to TF32, small products left out, or eps not under the root?", 1e-5,
     1e-5},
    {"tf32", "; factors cut off instead of rounded?", 3e-3, 6e-3},
    {"fp16", "; sums in fp16?", 2.5e-3, 5e-3},
};
#define MANY 5

/* ---- the student's networks, by number ------------------------------------------------------- */

static void create(int net, const float *params, int batch, int size, int precision)
{
    call_cuda("resnet18_create_opt",
              ARGS(handle_out(net), host(in_f32("h_params", params, RESNET18_FLOATS)), i32(batch),
                   i32(size), i32(precision)));
}

static void release(int net)
{
    call_cuda("resnet18_free_opt", ARGS(handle(net)));
}

/* @param logits_at, x_at bytes by which the arrays are off the addresses that they would have */
static float *forward_by(const char *function, int net, const float *x, int batch, int size,
                         unsigned logits_at, unsigned x_at)
{
    float *logits = f32_array((size_t)batch * RESNET18_CLASSES);
    argument y = out_f32("logits", logits, (size_t)batch * RESNET18_CLASSES);
    argument images = in_f32("x", x, resnet_pixels(batch, size));
    call_cuda(function, ARGS(handle(net), shifted(y, logits_at), shifted(images, x_at), stream()));
    return logits;
}

static float *forward(int net, const float *x, int batch, int size, unsigned bytes)
{
    return forward_by("resnet18_forward_opt", net, x, batch, size, bytes, bytes);
}

/* ---- judging --------------------------------------------------------------------------------- */

static double distance(const float *got, const double *want, int rows)
{
    double difference = 0.0, norm = 0.0;
    for (int i = 0; i < rows * RESNET18_CLASSES; i++) {
        difference += (got[i] - want[i]) * (got[i] - want[i]);
        norm += want[i] * want[i];
    }
    return sqrt(difference / norm);
}

/* @return the image whose logits these are, or -1 */
static int image_of(const resnet_reference *r, const float *got, double tolerance)
{
    for (int image = 0; image < r->batch; image++) {
        if (distance(got, r->logits + image * RESNET18_CLASSES, 1) <= tolerance) return image;
    }
    return -1;
}

static const char *reason_of(double off, int precision)
{
    return off < 0.03 ? precisions[precision].reasons : "";
}

static void expect_rows(const resnet_reference *r, const float *logits, int precision)
{
    const double tolerance = precisions[precision].of_a_row, of_all = precisions[precision].of_all;
    for (int row = 0; row < r->batch; row++) {
        const float *got = logits + row * RESNET18_CLASSES;
        const double *want = r->logits + row * RESNET18_CLASSES;
        const double off = distance(got, want, 1);
        if (off <= tolerance) continue;
        const int other = image_of(r, got, tolerance);
        expect(other < 0, "logits[%d] are those of image %d", row, other);
        fail("logits[%d] differ by %.2g of their root mean square, should be at most %.2g in %s; "
             "the first is %.9g, should be %.9g%s",
             row, off, tolerance, precisions[precision].name, got[0], want[0],
             reason_of(off, precision));
    }
    const double off = distance(logits, r->logits, r->batch);
    expect(r->batch < MANY || off <= of_all,
           "the logits of %d images differ by %.2g of their root mean square, should be at most "
           "%.2g in %s%s",
           r->batch, off, of_all, precisions[precision].name, reason_of(off, precision));
    const int others = resnet_other_classes(r, logits, 4 * of_all);
    expect(others == 0, "%d of %d images get the wrong class", others, r->batch);
}

static void expect_forward(int net, const float *params, int batch, int size, int precision,
                           unsigned bytes)
{
    const float *x = resnet_images(batch, size);
    const resnet_reference r = reference_resnet18(params, x, batch, size, false);
    expect_rows(&r, forward(net, x, batch, size, bytes), precision);
}

/* ---- the cases ------------------------------------------------------------------------------- */

/* Two calls, the second with other images and arrays elsewhere. shape: precision, batch, size */
static void logits(const long *shape)
{
    const int precision = (int)shape[0], batch = (int)shape[1], size = (int)shape[2];
    create(0, resnet_params(), batch, size, precision);
    expect_forward(0, resnet_params(), batch, size, precision, 0);
    expect_forward(0, resnet_params(), batch, size, precision, 4);
    release(0);
}

/* One call: where the software GPU takes its time. shape: as above */
static void logits_once(const long *shape)
{
    const int precision = (int)shape[0], batch = (int)shape[1], size = (int)shape[2];
    create(0, resnet_params(), batch, size, precision);
    expect_forward(0, resnet_params(), batch, size, precision, 0);
    release(0);
}

/* Its caller captures it, as a part of a larger graph (worker.c). shape: as above */
static void captured(const long *shape)
{
    const int precision = (int)shape[0], batch = (int)shape[1], size = (int)shape[2];
    const float *x = resnet_images(batch, size);
    const resnet_reference r = reference_resnet18(resnet_params(), x, batch, size, false);
    create(0, resnet_params(), batch, size, precision);
    expect_rows(&r, forward_by("forward_captured", 0, x, batch, size, 0, 0), precision);
    release(0);
}

/* The same images, three times and in between others: the same logits, to the last bit. At first
 * only the logits have another address than in the call before, then only the images. shape: as
 * above */
static void same_every_time(const long *shape)
{
    const int precision = (int)shape[0], batch = (int)shape[1], size = (int)shape[2];
    const float *x = resnet_images(batch, size), *others = resnet_images(batch, size);
    const size_t bytes = (size_t)batch * RESNET18_CLASSES * sizeof(float);
    create(0, resnet_params(), batch, size, precision);
    const float *first = forward(0, x, batch, size, 0);
    const float *again = forward(0, x, batch, size, 0);
    expect(memcmp(first, again, bytes) == 0, "a second call with the same images and arrays gives "
                                             "other logits: sums in another order, or left-overs");
    const float *of_others = forward_by("resnet18_forward_opt", 0, others, batch, size, 20, 0);
    for (int i = 0; i < batch * RESNET18_CLASSES; i++)
        expect(isfinite(of_others[i]), "logits[%d] is %g, where the array alone is new", i,
               of_others[i]);
    const float *elsewhere = forward(0, x, batch, size, 20);
    expect(memcmp(first, elsewhere, bytes) == 0,
           "the same images in other arrays, after others, give other logits");
    const resnet_reference r = reference_resnet18(resnet_params(), x, batch, size, false);
    expect_rows(&r, first, precision);
    release(0);
}

/* Two at once, of other weights, batch and precision. shape: size */
static void two_networks(const long *shape)
{
    const int size = (int)shape[0];
    const resnet18_conv *c = &resnet18_convs[7];
    float *others = f32_array(RESNET18_FLOATS);
    memcpy(others, resnet_params(), RESNET18_FLOATS * sizeof *others);
    for (int i = 0; i < c->out_channels; i++) others[c->beta + (size_t)i] += 0.5f;
    create(0, resnet_params(), 2, size, FP16);
    create(1, others, 1, size, TF32);
    expect_forward(0, resnet_params(), 2, size, FP16, 0);
    expect_forward(1, others, 1, size, TF32, 0);
    release(0);
    expect_forward(1, others, 1, size, TF32, 0);
    release(1);
}

/* A NaN shows in every logit of its image, and in none of another. shape: precision, batch, size */
static void nan_stays_in_its_image(const long *shape)
{
    const int precision = (int)shape[0], batch = (int)shape[1], size = (int)shape[2];
    const int bad = (int)random_below(case_random(), (uint64_t)batch);
    float *x = resnet_images(batch, size);
    const resnet_reference r = reference_resnet18(resnet_params(), x, batch, size, false);
    x[resnet_pixels(bad, size) + random_below(case_random(), resnet_pixels(1, size))] = NAN;
    create(0, resnet_params(), batch, size, precision);
    float *got = forward(0, x, batch, size, 0);
    for (int i = bad * RESNET18_CLASSES; i < (bad + 1) * RESNET18_CLASSES; i++) {
        expect(isnan(got[i]), "a NaN in image %d: its logit %d is %.9g, should be NaN", bad,
               i % RESNET18_CLASSES, got[i]);
        got[i] = (float)r.logits[i];
    }
    expect_rows(&r, got, precision);
    release(0);
}

static const grading_case cases[] = {
    {.name = "fp32, 1x32", .run = logits_once, .shape = {FP32, 1, 32}, .once = true, .seconds = 60},
    {.name = "tf32, 1x32", .run = logits, .shape = {TF32, 1, 32}, .once = true, .seconds = 60},
    {.name = "fp16, 1x32", .run = logits, .shape = {FP16, 1, 32}, .once = true, .seconds = 60},
    {.name = "fp32, 3x40", .run = logits_once, .shape = {FP32, 3, 40}, .once = true, .seconds = 60},
    {.name = "tf32, 2x47", .run = logits_once, .shape = {TF32, 2, 47}, .once = true, .seconds = 60},
    {.name = "fp16, 5x33", .run = logits_once, .shape = {FP16, 5, 33}, .once = true, .seconds = 60},
    {.name = "same every time",
     .run = same_every_time,
     .shape = {FP16, 2, 32},
     .once = true,
     .seconds = 60},
    {.name = "captured", .run = captured, .shape = {FP16, 1, 32}, .once = true, .seconds = 60},
    {.name = "two networks", .run = two_networks, .shape = {32}, .once = true, .seconds = 60},
    {.name = "nan, tf32",
     .run = nan_stays_in_its_image,
     .shape = {TF32, 2, 32},
     .once = true,
     .seconds = 60},
    {.name = "nan, fp16",
     .run = nan_stays_in_its_image,
     .shape = {FP16, 2, 32},
     .once = true,
     .seconds = 60},
    {.name = "fp16, 1x224",
     .run = logits_once,
     .shape = {FP16, 1, 224},
     .once = true,
     .seconds = 120},
    {.name = "fp32, 2x224", .run = logits, .shape = {FP32, 2, 224}, .where = ON_GPU},
    {.name = "tf32, 3x225", .run = logits, .shape = {TF32, 3, 225}, .where = ON_GPU},
    GPU_ROW("fp16, 8x224", logits, FP16, 8, 224),
    {.name = "fp32, 64x224",
     .run = logits_once,
     .shape = {FP32, 64, 224},
     .where = ON_GPU,
     .once = true,
     .seconds = 60},
    {.name = "nan, fp32", .run = nan_stays_in_its_image, .shape = {FP32, 3, 224}, .where = ON_GPU},
    {.name = "fp32, same every time",
     .run = same_every_time,
     .shape = {FP32, 1, 224},
     .where = ON_GPU},
    {0},
};

#define COUNTED 2 /* a network of its own */

/* A baseline's other functions have the same names as the student's, but for "baseline_". */
static void aside(const char *timed, const char *function, argument *arguments, int count)
{
    const bool baseline = strncmp(timed, "baseline_", strlen("baseline_")) == 0;
    call_aside(baseline ? function : function + strlen("baseline_"), arguments, count);
}

/* Nothing follows a call of a baseline that is timed, so the network of the run before is freed
 * first. One image, nobody knows which, is judged: the reference takes longer for it than a GPU for
 * all. shape: precision, batch, size */
static void run_counted(const char *function, const long *shape)
{
    const int precision = (int)shape[0], batch = (int)shape[1], size = (int)shape[2];
    const size_t rows = (size_t)batch * RESNET18_CLASSES;
    const float *x = resnet_images(batch, size);
    float *warm = f32_array(rows), *logits = f32_array(rows);
    argument params = host(in_f32("h_params", resnet_params(), RESNET18_FLOATS));
    argument images = in_f32("x", x, resnet_pixels(batch, size));

    aside(function, "baseline_resnet18_free_opt", ARGS(handle(COUNTED))); /* NULL at first */
    aside(function, "baseline_resnet18_create_opt",
          ARGS(handle_out(COUNTED), params, i32(batch), i32(size), i32(precision)));
    if (call_is_timed())
        call_aside(function,
                   ARGS(handle(COUNTED), out_f32("logits", warm, rows), images, stream()));
    call_cuda(function, ARGS(handle(COUNTED), out_f32("logits", logits, rows), images, stream()));

    const size_t one = random_below(case_random(), (uint64_t)batch);
    x += one * resnet_pixels(1, size);
    const resnet_reference r = reference_resnet18(resnet_params(), x, 1, size, false);
    expect_rows(&r, logits + one * RESNET18_CLASSES, precision);
}

/* What the baseline's passes over the activations of an image of 224 x 224 read and write, about: 6
 * over conv1's, 25 over those of layer1, and half as much in each layer that follows. An H200 needs
 * 30 times as long as copies of that would take: most of it is arithmetic. */
#define PEER_BYTES 57e6

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "plain kernels in fp32", .shape = "32 images of 224 × 224"},
     .function = "resnet18_forward_opt",
     .baseline = "baseline_resnet18_forward_opt",
     .run = run_counted,
     .shape = {FP32, 32, 224},
     .varied = 1,
     .where = ON_GPU,
     .threshold = 3.0,
     .peer_share = 0.034,
     .peer_bytes = 32 * PEER_BYTES},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = "bytes of the weights in fp16",
                .shape = "fp16, 1 image of 32 × 32"},
     .function = "resnet18_forward_opt",
     .run = run_counted,
     .shape = {FP16, 1, 32},
     .count = moved_bytes,
     .ideal = 2.0 * RESNET18_PARAMS,
     .bound = AT_MOST,
     .wanted = 1.5,
     .begin = 2.231},
    {.metric = {"host launches", .shape = "fp16, 1 image of 32 × 32"},
     .function = "resnet18_forward_opt",
     .run = run_counted,
     .shape = {FP16, 1, 32},
     .count = host_launches,
     .bound = AT_MOST,
     .wanted = 2,
     .begin = 24},
    {0},
};

EXERCISE(507) = {
    .id = 507,
    .name = "resnet18_optimized",
    .file = "phase5_full_network/507_resnet18_optimized/507_resnet18_optimized.cu",
    .parts = {"phase5_full_network/507_resnet18_optimized/507_early.cuh",
              "phase5_full_network/507_resnet18_optimized/507_prepare.cuh",
              "phase5_full_network/507_resnet18_optimized/507_tensor_core.cuh",
              "phase5_full_network/507_resnet18_optimized/507_conv_tensor_core.cuh",
              "phase5_full_network/507_resnet18_optimized/507_pooling_nhwc.cuh",
              "phase5_full_network/507_resnet18_optimized/507_plan.cuh",
              "phase5_full_network/507_resnet18_optimized/507_wgmma.cuh",
              "phase5_full_network/507_resnet18_optimized/507_hopper.cuh",
              "phase5_full_network/507_resnet18_optimized/507_hopper_stem.cuh",
              "phase5_full_network/507_resnet18_optimized/507_layers.cuh",
              "phase5_full_network/507_resnet18_optimized/507_launches.cuh"},
    .functions = {"resnet18_create_opt", "resnet18_forward_opt", "resnet18_device_bytes_opt",
                  "resnet18_free_opt"},
    .promises = {{"resnet18_create_opt", MAY_FAIL_ANYHOW}}, /* without a graph it launches */
    .baseline_file = "grader/exercises/507_resnet18_optimized/baseline.cu",
    .sm_90a = true,
    .points = 30,
    .speed_points = 10,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
