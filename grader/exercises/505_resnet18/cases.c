/* 505_resnet18: ResNet-18 on the GPU against the reference in double: stage by stage, whatever
 * else is in the batch and whatever the network computed before; its speed against the same network
 * of kernels with a thread per output. */
#include "exercises/shared/resnet/resnet_cases.h"

#include <math.h>
#include <string.h>

#define IMAGES_MAX 8 /* of the cases that put images into another order */

/* ---- the student's networks, by number ------------------------------------------------------- */

static void create(int net, const float *params)
{
    call_cuda("resnet18_create",
              ARGS(handle_out(net), host(in_f32("h_params", params, RESNET18_FLOATS))));
}

static void release(int net)
{
    call_cuda("resnet18_free", ARGS(handle(net)));
}

/* @param activations or NULL */
static void forward(int net, float *logits, float *activations, const float *x, int batch, int size)
{
    const size_t stages = (size_t)batch * resnet18_activations(size);
    call_cuda("resnet18_forward",
              ARGS(handle(net), out_f32("logits", logits, (size_t)batch * RESNET18_CLASSES),
                   activations ? out_f32("activations", activations, stages) : null_pointer(),
                   in_f32("x", x, resnet_pixels(batch, size)), i32(batch), i32(size), stream()));
}

static void classify(int net, float *logits, const float *x, int batch, int size)
{
    call_cuda("resnet18_classify",
              ARGS(handle(net), host(out_f32("h_logits", logits, (size_t)batch * RESNET18_CLASSES)),
                   host(in_f32("h_x", x, resnet_pixels(batch, size))), i32(batch), i32(size),
                   stream()));
}

static float *logits_for(int batch)
{
    return f32_array((size_t)batch * RESNET18_CLASSES);
}

/* Fresh images: every stage, and the logits. */
static void expect_forward(int net, const float *params, int batch, int size)
{
    const float *x = resnet_images(batch, size);
    const resnet_reference r = reference_resnet18(params, x, batch, size, true);
    float *logits = logits_for(batch), *stages;
    stages = f32_array((size_t)batch * resnet18_activations(size));
    forward(net, logits, stages, x, batch, size);
    expect_stages(&r, stages, RESNET_STAGE_TOLERANCE);
    expect_logits(&r, logits, RESNET_LOGIT_TOLERANCE);
}

/* Fresh images: the logits, where nobody wants the stages. @param call forward_alone, or classify
 */
static void expect_logits_of(void (*call)(int net, float *, const float *, int batch, int size),
                             int batch, int size)
{
    const float *x = resnet_images(batch, size);
    const resnet_reference r = reference_resnet18(resnet_params(), x, batch, size, false);
    float *logits = logits_for(batch);
    call(0, logits, x, batch, size);
    expect_logits(&r, logits, RESNET_LOGIT_TOLERANCE);
}

static void forward_alone(int net, float *logits, const float *x, int batch, int size)
{
    forward(net, logits, NULL, x, batch, size);
}

/* ---- what is computed ------------------------------------------------------------------------ */

/* shape: batch, size, and so on; one network for all of them */
static void stage_by_stage(const long *shape)
{
    create(0, resnet_params());
    for (int i = 0; i + 1 < SHAPE_MAX && shape[i] > 0; i += 2) {
        expect_forward(0, resnet_params(), (int)shape[i], (int)shape[i + 1]);
    }
    release(0);
}

/* shape: as above */
static void logits_alone(const long *shape)
{
    create(0, resnet_params());
    for (int i = 0; i + 1 < SHAPE_MAX && shape[i] > 0; i += 2) {
        expect_logits_of(forward_alone, (int)shape[i], (int)shape[i + 1]);
    }
    release(0);
}

/* shape: as above */
static void from_host_to_host(const long *shape)
{
    create(0, resnet_params());
    for (int i = 0; i + 1 < SHAPE_MAX && shape[i] > 0; i += 2) {
        expect_logits_of(classify, (int)shape[i], (int)shape[i + 1]);
    }
    release(0);
}

static void empty_batch(const long *shape)
{
    float nothing;
    create(0, resnet_params());
    forward(0, &nothing, &nothing, &nothing, 0, (int)shape[0]);
    classify(0, &nothing, &nothing, 0, (int)shape[0]);
    expect_forward(0, resnet_params(), 1, (int)shape[0]);
    release(0);
}

/* The reference's rows, and images, of some of its images in this order. */
static resnet_reference chosen(const resnet_reference *all, const int *which, int count)
{
    const size_t image = resnet_pixels(1, all->size);
    float *x = f32_array((size_t)count * image);
    resnet_reference r = *all;
    r.batch = count;
    r.logits = f64_array((size_t)count * RESNET18_CLASSES);
    for (int i = 0; i < count; i++) {
        memcpy(x + (size_t)i * image, all->x + (size_t)which[i] * image, image * sizeof *x);
        memcpy(r.logits + i * RESNET18_CLASSES, all->logits + which[i] * RESNET18_CLASSES,
               RESNET18_CLASSES * sizeof *r.logits);
    }
    r.x = x;
    return r;
}

/* An image gets the same logits alone, and wherever it stands among others. shape: size */
static void any_batch_and_position(const long *shape)
{
    static const struct {
        int count, which[IMAGES_MAX];
    } batches[] = {{5, {4, 3, 2, 1, 0}}, {1, {2}}, {3, {1, 4, 1}}};
    const int size = (int)shape[0];
    const float *x = resnet_images(5, size);
    const resnet_reference all = reference_resnet18(resnet_params(), x, 5, size, false);
    create(0, resnet_params());
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        const resnet_reference r = chosen(&all, batches[i].which, batches[i].count);
        float *logits = logits_for(r.batch);
        forward(0, logits, NULL, r.x, r.batch, size);
        expect_logits(&r, logits, RESNET_LOGIT_TOLERANCE);
    }
    release(0);
}

/* A NaN shows in every logit of its image, and in none of another. shape: batch, size */
static void nan_stays_in_its_image(const long *shape)
{
    const int batch = (int)shape[0], size = (int)shape[1];
    const int bad = (int)random_below(case_random(), (uint64_t)batch);
    float *x = resnet_images(batch, size), *logits = logits_for(batch);
    const resnet_reference r = reference_resnet18(resnet_params(), x, batch, size, false);
    x[resnet_pixels(bad, size) + random_below(case_random(), resnet_pixels(1, size))] = NAN;
    create(0, resnet_params());
    forward(0, logits, NULL, x, batch, size);
    for (int i = 0; i < RESNET18_CLASSES; i++) {
        float *got = &logits[bad * RESNET18_CLASSES + i];
        expect(isnan(*got),
               "logits[%d][%d] is %.9g, should be NaN: there is one in the image, and each layer "
               "passes it on",
               bad, i, *got);
        *got = (float)r.logits[bad * RESNET18_CLASSES + i];
    }
    expect_logits(&r, logits, RESNET_LOGIT_TOLERANCE);
    release(0);
}

/* Two networks at once: neither may keep anything where the other finds it. shape: batch, size */
static void two_networks(const long *shape)
{
    const int batch = (int)shape[0], size = (int)shape[1];
    const resnet18_conv *c = &resnet18_convs[7];
    float *others = f32_array(RESNET18_FLOATS);
    memcpy(others, resnet_params(), RESNET18_FLOATS * sizeof *others);
    for (int i = 0; i < c->out_channels; i++) others[c->beta + (size_t)i] += 0.5f;
    create(0, resnet_params());
    create(1, others);
    expect_forward(0, resnet_params(), batch, size);
    release(0);
    expect_forward(1, others, batch, size);
    release(1);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Bytes of the device that are taken, by whomever. */
static double taken_bytes(void)
{
    int available[2], all[2]; /* a size_t each */
    unsigned long long bytes;
    call_cuda("cudaMemGetInfo",
              ARGS(host(out_i32("free", available, 2)), host(out_i32("total", all, 2))));
    memcpy(&bytes, available, sizeof bytes);
    return -(double)bytes;
}

static void expect_account(double before, const char *when)
{
    const double taken = taken_bytes() - before;
    const double said = (double)call_returning_u64("resnet18_device_bytes", ARGS(handle(0)));
    expect(fabs(said - taken) <= 4096.0 + 1e-3 * taken,
           "resnet18_device_bytes is %.0f %s; the network has allocated %.0f bytes", said, when,
           taken);
}

/* shape: size */
static void device_bytes(const long *shape)
{
    const int size = (int)shape[0];
    create(0, resnet_params()); /* what a runtime takes for itself at first is not of interest */
    release(0);
    const double before = taken_bytes();
    create(0, resnet_params());
    expect_account(before, "after resnet18_create");
    expect_logits_of(forward_alone, 3, size);
    expect_account(before, "after a batch of 3");
    const double most = taken_bytes();
    expect_logits_of(classify, 2, size);
    expect_logits_of(classify, 3, size);
    expect_logits_of(forward_alone, 3, size);
    expect_account(before, "after smaller batches and the same again");
    expect(taken_bytes() <= most + 1e6,
           "calls of no larger batches than before have allocated %.0f bytes more",
           taken_bytes() - most);
    release(0);
    expect(taken_bytes() <= before, "resnet18_free leaves %.0f bytes of device memory allocated",
           taken_bytes() - before);
}

/* With all of the device's memory taken, what needs no more than it has still works. shape: batch,
 * size */
static void allocates_once(const long *shape)
{
    create(0, resnet_params());
    expect_logits_of(classify, (int)shape[0], (int)shape[1]);
    call_cuda("cudaMalloc", ARGS(handle_out(1), u64((unsigned long long)-taken_bytes())));
    expect_logits_of(classify, (int)shape[0], (int)shape[1]);
    expect_logits_of(classify, 1, (int)shape[1]);
    call_cuda("cudaFree", ARGS(handle(1)));
    release(0);
}

/* ---- classes --------------------------------------------------------------------------------- */

/* The same images in every grading. shape: images, size, batch */
static void same_classes(const long *shape)
{
    const int images = (int)shape[0], size = (int)shape[1];
    const float *x = resnet_fixed_images(images, size);
    int others = 0;
    create(0, resnet_params());
    for (int first = 0; first < images; first += (int)shape[2]) {
        const int batch = (int)fmin((double)shape[2], images - first);
        const float *here = x + resnet_pixels(first, size);
        const resnet_reference r = reference_resnet18(resnet_params(), here, batch, size, false);
        float *logits = logits_for(batch);
        classify(0, logits, here, batch, size);
        expect_logits(&r, logits, RESNET_LOGIT_TOLERANCE);
        others += resnet_other_classes(&r, logits, RESNET_LOGIT_TOLERANCE);
    }
    expect(others == 0, "%d of %d images get the wrong class", others, images);
    note("%d images of %d x %d get the class of the reference", images, size, size);
    release(0);
}

/* Where numbers matter and not what else there is, once is enough: the emulated GPU takes about a
 * second for a batch. */
static const grading_case cases[] = {
    {.name = "1x32", .run = stage_by_stage, .shape = {1, 32}},
    {.name = "3x32", .run = stage_by_stage, .shape = {3, 32}, .once = true},
    {.name = "1x40", .run = stage_by_stage, .shape = {1, 40}, .once = true},
    {.name = "3x40", .run = stage_by_stage, .shape = {3, 40}, .once = true},
    {.name = "2x47: odd sides", .run = stage_by_stage, .shape = {2, 47}, .once = true},
    {.name = "logits alone", .run = logits_alone, .shape = {2, 40}, .once = true},
    {.name = "from host to host", .run = from_host_to_host, .shape = {3, 32, 1, 40}, .once = true},
    {.name = "empty batch", .run = empty_batch, .shape = {32}, .once = true},
    {.name = "any batch and position", .run = any_batch_and_position, .shape = {32}, .once = true},
    {.name = "nan stays in its image",
     .run = nan_stays_in_its_image,
     .shape = {4, 32},
     .once = true},
    {.name = "other batches and sizes",
     .run = stage_by_stage,
     .shape = {3, 32, 2, 48, 1, 32},
     .once = true},
    {.name = "logits of other batches and sizes",
     .run = logits_alone,
     .shape = {3, 32, 2, 48, 1, 32},
     .once = true},
    {.name = "two networks", .run = two_networks, .shape = {2, 32}, .once = true},
    {.name = "device bytes", .run = device_bytes, .shape = {32}, .where = ON_SOFTGPU, .once = true},
    {.name = "allocates once, then the device is full",
     .run = allocates_once,
     .shape = {2, 32},
     .where = ON_SOFTGPU,
     .once = true},
    {.name = "1x224", .run = stage_by_stage, .shape = {1, 224}, .once = true, .seconds = 60},
    {.name = "classes of 64 images of 32x32",
     .run = same_classes,
     .shape = {64, 32, 32},
     .where = ON_SOFTGPU,
     .once = true,
     .seconds = 60},
    GPU_ROW("2x224, 1x225", stage_by_stage, 2, 224, 1, 225),
    GPU_ROW("batches of 1 to 8, 224x224", logits_alone, 1, 224, 2, 224, 4, 224, 8, 224),
    GPU_ROW("batches of 16 and 32, 224x224", logits_alone, 16, 224, 32, 224),
    GPU_ROW("classes of 256 images of 224x224", same_classes, 256, 224, 64),
    {0},
};

/* ---- what it costs --------------------------------------------------------------------------- */

static bool is_baseline(const char *function)
{
    return strncmp(function, "baseline_", 9) == 0; /* ours, and believed */
}

static void call_baseline(const char *function, float *logits, const float *x, int batch, int size)
{
    call_cuda(function,
              ARGS(out_f32("logits", logits, (size_t)batch * RESNET18_CLASSES),
                   in_f32("params", resnet_params(), RESNET18_FLOATS),
                   in_f32("x", x, resnet_pixels(batch, size)), i32(batch), i32(size), stream()));
}

#define COUNTED 2 /* no other case has this network */
#define JUDGED  3 /* rows of a timed call, which nobody can know before */

/* Some rows of logits, because the reference takes longer than a GPU. */
static void expect_some_rows(const float *logits, const float *x, int batch, int size)
{
    const size_t image = resnet_pixels(1, size);
    const int count = batch < JUDGED ? batch : JUDGED;
    float *some_x = f32_array((size_t)count * image), *some_logits = logits_for(count);
    for (int i = 0; i < count; i++) {
        const size_t row = (size_t)random_below(case_random(), (uint64_t)batch);
        memcpy(some_x + (size_t)i * image, x + row * image, image * sizeof *x);
        memcpy(some_logits + i * RESNET18_CLASSES, logits + row * RESNET18_CLASSES,
               RESNET18_CLASSES * sizeof *logits);
    }
    const resnet_reference r = reference_resnet18(resnet_params(), some_x, count, size, false);
    expect_logits(&r, some_logits, RESNET_LOGIT_TOLERANCE);
}

/* The last call is the one that counts: of a network that had a batch of this size before. What the
 * run before left is freed first. shape: batch, size */
static void run_forward(const char *function, const long *shape)
{
    const int batch = (int)shape[0], size = (int)shape[1];
    const float *x = resnet_images(batch, size);
    float *logits = logits_for(batch);
    const bool copies = strcmp(function, "resnet18_classify") == 0;
    if (is_baseline(function)) {
        call_baseline(function, logits, x, batch, size);
        return;
    }
    release(COUNTED);
    create(COUNTED, resnet_params());
    for (int i = 0; i < 2; i++) {
        (copies ? classify : forward_alone)(COUNTED, logits, x, batch, size);
    }
    expect_some_rows(logits, x, batch, size);
}

#define FLOP_OF_AN_IMAGE 3.64e9 /* of 224 x 224 */

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one thread per output", .shape = "32 images of 224 × 224"},
     .function = "resnet18_forward",
     .baseline = "baseline_resnet18_direct",
     .run = run_forward,
     .shape = {32, 224},
     .varied = 0,
     .where = ON_GPU,
     .threshold = 2.0,
     .flop = 32 * FLOP_OF_AN_IMAGE,
     .peer_share = 0.041},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"copies between host and device", .shape = "3 images of 32 × 32"},
     .function = "resnet18_classify",
     .run = run_forward,
     .shape = {3, 32},
     .count = host_copies,
     .bound = EXACTLY,
     .wanted = 2.0},
    {.metric = {"reduction in DRAM bytes", .over = "one thread per output",
                .shape = "4 images of 40 × 40"},
     .function = "resnet18_forward",
     .baseline = "baseline_resnet18_direct",
     .run = run_forward,
     .shape = {4, 40},
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 8.0},
    {0},
};

EXERCISE(505) = {
    .id = 505,
    .name = "resnet18",
    .file = "phase5_full_network/505_resnet18/505_resnet18.cu",
    .functions = {"resnet18_create", "resnet18_forward", "resnet18_classify",
                  "resnet18_device_bytes", "resnet18_free"},
    .promises = {{"resnet18_classify", HAS_WAITED}},
    .prerequisites = {203, 301, 303, 307, 309, 310},
    .own_prerequisites = true,
    .baseline_file = "grader/exercises/505_resnet18/baseline.cu",
    .points = 20,
    .speed_points = 10,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
