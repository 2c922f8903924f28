/* 504_resnet18_cpu: cases of ResNet-18 on the CPU: files of weights (weights_cases.c), the
 * forward pass stage by stage, and its speed as a part of what the core can multiply and add at
 * most. */
#include "resnet18_weights.h"
#include "exercises/shared/resnet/resnet_cases.h"
#include "exercises/shared/resnet/weights_cases.h"

#include <math.h>
#include <string.h>

static void create(int number, const float *params)
{
    call_returning_handle(number, "resnet18_create_cpu",
                          ARGS(in_f32("params", params, RESNET18_FLOATS)));
}

static void free_network(int number)
{
    call_void("resnet18_free_cpu", ARGS(handle(number)));
}

/* @param activations NULL when not wanted */
static void forward(int number, float *logits, float *activations, const float *x, int batch,
                    int size)
{
    const size_t stages = (size_t)batch * resnet18_activations(size);
    argument a = activations ? out_f32("activations", activations, stages) : null_pointer();
    const int status = call_returning_i32(
        "resnet18_forward_cpu",
        ARGS(handle(number), out_f32("logits", logits, (size_t)batch * RESNET18_CLASSES), a,
             in_f32("x", x, resnet_pixels(batch, size)), i32(batch), i32(size)));
    expect(status == 0, "resnet18_forward_cpu returned %d", status);
}

/* Stage by stage and logit by logit; with the activations, and without. */
static void expect_forward(int number, const float *params, int batch, int size)
{
    const float *x = resnet_images(batch, size);
    float *logits = f32_array((size_t)batch * RESNET18_CLASSES);
    float *activations = f32_array((size_t)batch * resnet18_activations(size));
    const resnet_reference want = reference_resnet18(params, x, batch, size, true);
    forward(number, logits, activations, x, batch, size);
    expect_stages(&want, activations, RESNET_STAGE_TOLERANCE);
    expect_logits(&want, logits, RESNET_LOGIT_TOLERANCE);
    forward(number, logits, NULL, x, batch, size);
    expect_logits(&want, logits, RESNET_LOGIT_TOLERANCE);
}

/* shape: batch, size; and again, with the same network, until 0 ends it */
static void run_forward(const long *shape)
{
    create(0, resnet_params());
    for (int i = 0; i + 1 < SHAPE_MAX && shape[i]; i += 2) {
        expect_forward(0, resnet_params(), (int)shape[i], (int)shape[i + 1]);
    }
    free_network(0);
}

/* What one network keeps is not the other's. */
static void run_two_networks(const long *shape)
{
    float *params = f32_array(RESNET18_FLOATS);
    resnet18_random_params(params, random_u64(case_random()));
    create(0, resnet_params());
    create(1, params);
    expect_forward(0, resnet_params(), (int)shape[0], (int)shape[1]);
    free_network(0);
    expect_forward(1, params, (int)shape[0], (int)shape[1]);
    free_network(1);
}

/* NaN in one image is no matter of the others. */
static void run_rows_apart(const long *shape)
{
    const int batch = (int)shape[0], size = (int)shape[1], bad = batch / 2;
    const size_t image = resnet_pixels(1, size);
    float *x = resnet_images(batch, size), *logits = f32_array((size_t)batch * RESNET18_CLASSES);
    const resnet_reference want = reference_resnet18(resnet_params(), x, batch, size, false);
    for (size_t i = 0; i < image; i++) x[bad * image + i] = NAN;
    create(0, resnet_params());
    forward(0, logits, NULL, x, batch, size);
    for (int c = 0; c < RESNET18_CLASSES; c++) { /* its own row is not judged */
        const int at = bad * RESNET18_CLASSES + c;
        logits[at] = (float)want.logits[at];
    }
    expect_logits(&want, logits, RESNET_LOGIT_TOLERANCE);
    free_network(0);
}

static void run_nothing(const long *shape)
{
    float none = 0.0f;
    (void)shape;
    create(0, resnet_params());
    forward(0, &none, NULL, &none, 0, 32);
    free_network(0);
    call_void("resnet18_free_cpu", ARGS(null_pointer()));
}

static const grading_case cases[] = {
    {.name = "load a good file", .run = load_good},
    {.name = "load from an odd address", .run = load_unaligned},
    {.name = "load arrays in another order, among others", .run = load_shuffled},
    {.name = "load a foreign file", .run = load_foreign},
    {.name = "load a truncated file", .run = load_truncated},
    {.name = "load a file cut to size", .run = load_cut_to_size},
    {.name = "load numbers that overflow", .run = load_overflowing},
    {.name = "load without an array", .run = load_missing},
    {.name = "load other shapes", .run = load_other_shape},
    {.name = "load a corrupt table", .run = load_corrupt_table},
    {.name = "load corrupt arrays", .run = load_corrupt_array},
    {.name = "load with several mistakes", .run = load_first_mistake},
    {.name = "forward 1 of 32", .run = run_forward, .shape = {1, 32}},
    {.name = "forward 3 of 32", .run = run_forward, .shape = {3, 32}},
    {.name = "forward 2 of 40, odd on the way", .run = run_forward, .shape = {2, 40}},
    {.name = "forward 1 of 75, odd from the start", .run = run_forward, .shape = {1, 75}},
    {.name = "forward other sizes in turn",
     .run = run_forward,
     .shape = {1, 32, 3, 64, 1, 40, 2, 33}},
    {.name = "two networks", .run = run_two_networks, .shape = {1, 32}},
    {.name = "rows apart", .run = run_rows_apart, .shape = {3, 32}},
    {.name = "no image, no network", .run = run_nothing},
    {.name = "forward 1 of 224", .run = run_forward, .shape = {1, 224}, .once = true},
    {0},
};

/* ---- speed ----------------------------------------------------------------------------------- */

/* Work is proportional to the pixels of the image, which is what a pair varies. */
static int side_of(const long *shape)
{
    return (int)sqrt((double)shape[0]);
}

/* As many multiply-adds as the network has, in registers: the baseline of 106. */
static void run_baseline(const char *function, int size)
{
    double multiply_adds = 0.0;
    float *c = f32_array(64);
    for (int i = 0; i <= RESNET18_CONVS; i++) multiply_adds += resnet18_multiply_adds(i, size);
    call_void(function,
              ARGS(out_f32("c", c, 64), in_f32("a", random_f32(1), 1),
                   in_f32("b", random_f32(1), 1), i32(1), i32(1), i32((int)multiply_adds)));
}

/* The last call is the one that is timed; so the network of the call before is freed first. No case
 * has a network of this number, and the first time it is NULL. */
#define TIMED 2

static void run_timed(const char *function, const long *shape)
{
    const int size = side_of(shape);
    if (strncmp(function, "baseline_", 9) == 0) run_baseline(function, size);
    const float *x = resnet_images(1, size);
    float *logits = f32_array(RESNET18_CLASSES);
    free_network(TIMED);
    create(TIMED, resnet_params());
    forward(TIMED, logits, NULL, x, 1, size);
    const resnet_reference want = reference_resnet18(resnet_params(), x, 1, size, false);
    expect_logits(&want, logits, RESNET_LOGIT_TOLERANCE);
}

static const speed_test speed[] = {
    {.metric = {"FMA rate", .relative_to = "peak of one core", .shape = "1 image of 224 × 224"},
     .function = "resnet18_forward_cpu",
     .baseline = "baseline_fma_peak",
     .run = run_timed,
     .shape = {224 * 224},
     .where = ON_HOST,
     .threshold = 0.2,
     .begin = 0.006, /* the seven loops of 110: tests.tsv */
     .flop = 2.0 * 1814073344,
     .peer_share = 60.0},
    {0},
};

EXERCISE(504) = {
    .id = 504,
    .name = "resnet18_cpu",
    .file = "phase5_full_network/504_resnet18_cpu/504_resnet18_cpu.c",
    .functions = {"resnet18_load", "resnet18_create_cpu", "resnet18_forward_cpu",
                  "resnet18_free_cpu"},
    .prerequisites = {106, 110},
    .baseline_file = "grader/exercises/106_matmul_cpu_vectorized/baseline.c",
    .points = 20,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
};
