/*
 * 418_find_the_bound: eight functions that are right and slow as they are handed out. Each case
 * judges a result and what the student says of the bound, for sizes that are drawn for each
 * student; the counters of the mended functions are traffic tests. So the skeleton, which has no
 * answers, passes nothing, and answers alone earn nothing for the functions.
 * shape: sizes of the function
 */
#include "correctness/case.h"
#include "exercises/shared/answers/hashed_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 16, REACH = 4, TILE = 32, BLOCK_OF_SAMPLES = 512 };

/* A weight is rounded to fp16 once, when the models are averaged first. */
#define HALF_TOLERANCE 6e-4
/* Compilers unroll loops, and then make an operation more or less at their ends. */
#define ROUGHLY 0.01

/* ---- the functions: inputs, ONE call, the result ----------------------------------------------
 */

/* A function of worker.c makes two calls, with arrays one behind the other. */
static size_t calls_of(const char *function)
{
    return strstr(function, "_twice") ? 2 : 1;
}

static void run_dot_product(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0], calls = calls_of(function);
    const float *a = random_f32(calls * n), *b = random_f32(calls * n);
    float out[2];
    double want[2] = {0.0}, scale[2] = {0.0};
    for (size_t i = 0; i < calls * n; i++) {
        const double term = (double)a[i] * b[i];
        want[i / n] += term, scale[i / n] += fabs(term);
    }
    call_counted(function, ARGS(out_f32("out", out, calls), in_f32("a", a, calls * n),
                                in_f32("b", b, calls * n), u64(n), stream()));
    expect_close((layout){"out", 1, calls}, out, want, scale, FP32_SUM_TOLERANCE);
}

static void run_finish(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    float *x = random_f32(n), *y = f32_array(n);
    const float *residual = random_f32(n);
    const float scale = *random_f32_between(1, -2.0f, 2.0f), shift = *random_f32(1);
    double *want = f64_array(n);
    sprinkle_f32(x, n, NAN, n > 100 ? 3 : 0);
    for (size_t i = 0; i < n; i++) {
        const double z = (double)scale * x[i] + shift;
        want[i] = (z < 0.0 ? 0.0 : z) + residual[i];
    }
    call_counted(function,
                 ARGS(out_f32("y", y, n), in_f32("x", x, n), in_f32("residual", residual, n),
                      u64(n), f32(scale), f32(shift), stream()));
    expect_close((layout){"y", 1, n}, y, want, NULL, FP32_SUM_TOLERANCE);
}

static void run_turn(const char *function, const long *shape)
{
    const size_t rows = (size_t)shape[0], cols = (size_t)shape[1], n = rows * cols;
    const float *x = random_f32(n);
    float *y = f32_array(n);
    double *want = f64_array(n);
    for (size_t i = 0; i < n; i++) want[i % cols * rows + i / cols] = x[i];
    call_counted(function, ARGS(out_f32("y", y, n), in_f32("x", x, n), i32((int)rows),
                                i32((int)cols), stream()));
    expect_close((layout){"y", cols, rows}, y, want, NULL, 0.0);
}

static void run_add_bias(const char *function, const long *shape)
{
    const size_t rows = (size_t)shape[0], cols = (size_t)shape[1], n = rows * cols;
    float *y = random_f32(n);
    const float *bias = random_f32(cols);
    double *want = f64_array(n);
    for (size_t i = 0; i < n; i++) want[i] = (double)y[i] + bias[i % cols];
    call_counted(function, ARGS(inout_f32("y", y, n), in_f32("bias", bias, cols), i32((int)rows),
                                i32((int)cols), stream()));
    expect_close((layout){"y", rows, cols}, y, want, NULL, FP32_SUM_TOLERANCE);
}

/* shape: n, terms */
static void run_polynomial(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0], terms = (size_t)shape[1], calls = calls_of(function);
    const size_t size = calls * n;
    const float *x = random_f32(size), *coefficients = random_f32(calls * terms);
    float *y = f32_array(size);
    double *want = f64_array(size), *scale = f64_array(size);
    for (size_t i = 0; i < size; i++) {
        double power = 1.0;
        for (size_t k = 0; k < terms; k++, power *= x[i]) {
            const double term = coefficients[i / n * terms + k] * power;
            want[i] += term, scale[i] += fabs(term);
        }
    }
    call_counted(function, ARGS(out_f32("y", y, size), in_f32("x", x, size), u64(n),
                                in_f32("coefficients", coefficients, calls * terms),
                                i32((int)terms), stream()));
    expect_close((layout){"y", calls, n}, y, want, scale, FP32_SUM_TOLERANCE);
}

/* shape: rows, cols, width */
static void run_fetch_left(const char *function, const long *shape)
{
    const size_t rows = (size_t)shape[0], cols = (size_t)shape[1], width = (size_t)shape[2];
    const float *x = random_f32(rows * cols);
    float *out = f32_array(rows * width);
    double *want = f64_array(rows * width);
    for (size_t i = 0; i < rows * width; i++) want[i] = x[i / width * cols + i % width];
    call_counted(function,
                 ARGS(host(out_f32("h_out", out, rows * width)), in_f32("x", x, rows * cols),
                      i32((int)rows), i32((int)cols), i32((int)width), stream()));
    expect_close((layout){"h_out", rows, width}, out, want, NULL, 0.0);
}

static void run_blur(const char *function, const long *shape)
{
    const long rows = shape[0], cols = shape[1];
    const size_t n = (size_t)(rows * cols);
    float *x = random_f32(n), *y = f32_array(n);
    double *want = f64_array(n);
    sprinkle_f32(x, n, NAN, n > 1000 ? 1 : 0);
    sprinkle_f32(x, n, 1e6f, n > 1000 ? 1 : 0);
    for (long i = 0; i < (long)n; i++) {
        const long row = i / cols;
        double sum = 0.0;
        int count = 0;
        for (long q = row - REACH; q <= row + REACH; q++) {
            if (q >= 0 && q < rows) sum += x[q * cols + i % cols], count++;
        }
        want[i] = sum / count;
    }
    call_counted(function, ARGS(out_f32("y", y, n), in_f32("x", x, n), i32((int)rows),
                                i32((int)cols), stream()));
    expect_close((layout){"y", (size_t)rows, (size_t)cols}, y, want, NULL, FP32_SUM_TOLERANCE);
}

/* shape: n, models */
static void run_average_models(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0], models = (size_t)shape[1], size = (size_t)SIDE * SIDE;
    const size_t calls = calls_of(function), all_x = calls * n * SIDE,
                 all_w = calls * models * size;
    void *half_x = random_of(ELEMENT_F16, all_x, -1.0, 1.0);
    void *half_w = random_of(ELEMENT_F16, all_w, -1.0, 1.0);
    const float *x = f32_of(ELEMENT_F16, half_x, all_x), *w = f32_of(ELEMENT_F16, half_w, all_w);
    float *y = f32_array(all_x);
    double *want = f64_array(all_x), *scale = f64_array(all_x), *mean = f64_array(calls * size);
    for (size_t i = 0; i < all_w; i++)
        mean[i / (models * size) * size + i % size] += (double)w[i] / (double)models;
    for (size_t i = 0; i < all_x; i++) {
        for (size_t k = 0; k < SIDE; k++) {
            const double *of_call = mean + i / (n * SIDE) * size;
            const double term = x[i / SIDE * SIDE + k] * of_call[k * SIDE + i % SIDE];
            want[i] += term, scale[i] += fabs(term);
        }
    }
    call_counted(function, ARGS(out_f32("y", y, all_x), in_of(ELEMENT_F16, "x", half_x, all_x),
                                in_of(ELEMENT_F16, "w", half_w, all_w), i32((int)n),
                                i32((int)models), stream()));
    expect_close((layout){"y", calls * n, SIDE}, y, want, scale, HALF_TOLERANCE);
}

/* ---- counters ---------------------------------------------------------------------------------
 */

static double warps(const device_counts *c)
{
    return (double)c->warps;
}

static double bytes_by_kernels(const device_counts *c)
{
    return 32.0 * (double)(c->global_load.sectors + c->global_store.sectors);
}

static double sectors_loaded(const device_counts *c)
{
    return (double)c->global_load.sectors;
}

static double bytes_to_host(const device_counts *c)
{
    return (double)c->to_host.bytes;
}

/* ---- what is said of each ----------------------------------------------------------------------
 */

static const drawn_number numbers[] = {
    {"rows", 70, 190, 1}, {"cols", 64, 240, 8}, {"terms", 9, 30, 1}, {"models", 5, 15, 1}, {0},
};

typedef struct drawn {
    double rows, cols, n, terms, models;
} drawn;

/* What each costs as it is handed out, by pencil. */
static double launches_before(drawn d)
{
    return d.rows; /* one each */
}

static double copied_before(drawn d)
{
    return 4.0 * d.n; /* all of x */
}

static double moved_before(drawn d)
{
    return 28.0 * d.n; /* two, two and three arrays */
}

static double loaded_before(drawn d)
{
    return (9.0 * d.rows - 20.0) * d.cols / 8.0; /* nine rows; at both edges 4, 3, 2 and 1 less */
}

static double conflicts_before(drawn d)
{
    return d.cols * (d.rows - ceil(d.rows / TILE)); /* of h lanes in one bank h - 1 wait */
}

static double operations_before(drawn d)
{
    return d.n * (d.terms * (d.terms - 1.0) / 2.0 + 2.0 * d.terms);
}

static double products_before(drawn d)
{
    return 32.0 * ceil(8.0 * d.rows / BLOCK_OF_SAMPLES) * d.models; /* 4 warps of 8 */
}

static double warps_before(drawn d)
{
    return d.rows > 0.0 ? 8.0 : 0.0; /* of one block */
}

enum { DOT, FINISH, TURN, ADD_BIAS, POLYNOMIAL, FETCH_LEFT, BLUR, AVERAGE_MODELS, FUNCTIONS };

static const struct stage {
    const char *name;
    void (*run)(const char *function, const long *shape);
    double (*count)(const device_counts *);
    double (*before)(drawn);
    const char *bound, *what; /* hashed; in words */
} stages[FUNCTIONS] = {
    {"dot_product", run_dot_product, warps, warps_before, "45724aa93667", "warps"},
    {"finish", run_finish, bytes_by_kernels, moved_before, "276aa7903c7d", "bytes moved"},
    {"turn", run_turn, bank_conflicts, conflicts_before, "863c797ddb23", "bank conflicts"},
    {"add_bias", run_add_bias, kernel_launches, launches_before, "d31a4a470a78", "launches"},
    {"polynomial", run_polynomial, operations, operations_before, "80097bbaf703", "operations"},
    {"fetch_left", run_fetch_left, bytes_to_host, copied_before, "018644dd61b6", "bytes copied"},
    {"blur", run_blur, sectors_loaded, loaded_before, "4349836555f0", "sectors loaded"},
    {"average_models", run_average_models, tensor_instructions, products_before, "a31eed023415",
     "tensor instructions"},
};

static const char *const bounds[FUNCTIONS] = {"launch", "copy",  "dram",   "l2",
                                              "banks",  "issue", "tensor", "latency"};

static drawn drawn_sizes(void)
{
    drawn d = {.rows = (double)drawn_i64("rows"),
               .cols = (double)drawn_i64("cols"),
               .terms = (double)drawn_i64("terms"),
               .models = (double)drawn_i64("models")};
    d.n = d.rows * d.cols;
    return d;
}

static bool is_bound(const char *said)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        if (strcmp(bounds[i], said) == 0) return true;
    }
    return false;
}

/* The right numbers are not told: a profile shows them, or a pencil.
 * @return what the student predicts of the mended function */
static double expect_diagnosis(const struct stage *s)
{
    char bound[16], more;
    double before, after;
    const char *text = answer_text(s->name);
    expect(sscanf(text, "%15s %lf %lf %c", bound, &before, &after, &more) == 3,
           "`%s = %s` is not a bound and two numbers, as in `launch 100 1`", s->name, text);
    expect(is_bound(bound), "`%s = %s`: `%s` is none of the eight bounds", s->name, text, bound);
    expect(is_hashed_answer(s->name, bound, s->bound),
           "`%s = %s`: it is not bound by that; which counter is far from what the task needs?",
           s->name, bound);
    expect(before == s->before(drawn_sizes()),
           "`%s = %s ...`: as handed out it does not cost %.0f %s at your sizes", s->name, bound,
           before, s->what);
    return after;
}

static void run(const long *shape)
{
    const struct stage *s = &stages[shape[0]];
    s->run(s->name, shape + 1);
    expect_diagnosis(s);
}

/* Two calls at the same time, on two streams. */
static void run_twice(const long *shape)
{
    const struct stage *s = &stages[shape[0]];
    char twice[32];
    snprintf(twice, sizeof twice, "%s_twice", s->name);
    s->run(twice, shape + 1);
    expect_diagnosis(s);
}

/* With the student's sizes: the prediction against what is counted. */
static void run_drawn(const long *shape)
{
    const struct stage *s = &stages[shape[0]];
    const drawn d = drawn_sizes();
    const long n = (long)d.n, rows = (long)d.rows, cols = (long)d.cols;
    const long sizes[FUNCTIONS][3] = {
        [DOT] = {n},
        [FINISH] = {n},
        [TURN] = {rows, cols},
        [ADD_BIAS] = {rows, cols},
        [POLYNOMIAL] = {n, (long)d.terms},
        [FETCH_LEFT] = {rows, cols, cols / 8},
        [BLUR] = {rows, cols},
        [AVERAGE_MODELS] = {8 * rows, (long)d.models},
    };
    s->run(s->name, sizes[shape[0]]);
    const double is = call_counts() ? s->count(call_counts()) : NAN;
    const double said = expect_diagnosis(s);
    expect(isnan(is) || fabs(said - is) <= ROUGHLY * is,
           "%s, your sizes: predicted %.0f %s, but it is %.0f", s->name, said, s->what, is);
}

/* ---- tables ------------------------------------------------------------------------------------
 */

#define ROW(title, which, ...)                                                                     \
    {                                                                                              \
        .name = title, .run = run, .shape = { which, __VA_ARGS__ }                                 \
    }
#define TWICE(title, which, ...)                                                                   \
    {                                                                                              \
        .name = title ", on two streams", .run = run_twice, .shape = { which, __VA_ARGS__ }        \
    }
#define YOURS(title, which)                                                                        \
    {                                                                                              \
        .name = title ", your sizes", .run = run_drawn, .shape = {which}, .once = true             \
    }
#define OF_N(title, which)                                                                         \
    {.name = title ", n=1003", .run = run, .shape = {which, 1003}, .part = title},                 \
        ROW(title ", n=0", which, 0), ROW(title ", n=1", which, 1),                                \
        {.name = title ", any n", .run = run, .shape = {which, 1}, .most = {0, 5000}},             \
        LONG_ROW(title ", n=70001", run, which, 70001), YOURS(title, which)
#define OF_A_MATRIX(title, which)                                                                  \
    {.name = title ", 33x65", .run = run, .shape = {which, 33, 65}, .part = title},                \
        ROW(title ", 0x5", which, 0, 5), ROW(title ", 5x0", which, 5, 0),                          \
        ROW(title ", 1x1", which, 1, 1), ROW(title ", 9x300", which, 9, 300),                      \
        {.name = title ", any shape", .run = run, .shape = {which, 1, 1}, .most = {0, 90, 300}},   \
        LONG_ROW(title ", 2x70001", run, which, 2, 70001)

static const grading_case cases[] = {
    OF_N("dot_product", DOT),
    LONG_ROW("dot_product, n=600001", run, DOT, 600001),
    TWICE("dot_product", DOT, 3000),
    OF_N("finish", FINISH),
    OF_A_MATRIX("turn", TURN),
    LONG_ROW("turn, 70001x3", run, TURN, 70001, 3),
    YOURS("turn", TURN),
    OF_A_MATRIX("add_bias", ADD_BIAS),
    LONG_ROW("add_bias, 66000x1", run, ADD_BIAS, 66000, 1),
    YOURS("add_bias", ADD_BIAS),
    {.name = "polynomial, n=1003, 7 terms",
     .run = run,
     .shape = {POLYNOMIAL, 1003, 7},
     .part = "polynomial"},
    ROW("polynomial, n=0", POLYNOMIAL, 0, 5),
    ROW("polynomial, n=1, 1 term", POLYNOMIAL, 1, 1),
    TWICE("polynomial", POLYNOMIAL, 300, 2),
    LONG_ROW("polynomial, n=40, 17001 terms", run, POLYNOMIAL, 40, 17001),
    LONG_ROW("polynomial, n=70001, 3 terms", run, POLYNOMIAL, 70001, 3),
    YOURS("polynomial", POLYNOMIAL),
    {.name = "fetch_left, 33x65, 7 wide",
     .run = run,
     .shape = {FETCH_LEFT, 33, 65, 7},
     .part = "fetch_left"},
    ROW("fetch_left, 0x5, 2 wide", FETCH_LEFT, 0, 5, 2),
    ROW("fetch_left, 5x4, 0 wide", FETCH_LEFT, 5, 4, 0),
    ROW("fetch_left, 0x0", FETCH_LEFT, 0, 0, 0),
    ROW("fetch_left, 9x20, all", FETCH_LEFT, 9, 20, 20),
    LONG_ROW("fetch_left, 70001x3, 1 wide", run, FETCH_LEFT, 70001, 3, 1),
    LONG_ROW("fetch_left, 2x140002, 70001 wide", run, FETCH_LEFT, 2, 140002, 70001),
    YOURS("fetch_left", FETCH_LEFT),
    OF_A_MATRIX("blur", BLUR),
    LONG_ROW("blur, 70001x3", run, BLUR, 70001, 3),
    YOURS("blur", BLUR),
    {.name = "average_models, n=100, 3 models",
     .run = run,
     .shape = {AVERAGE_MODELS, 100, 3},
     .part = "average_models"},
    ROW("average_models, n=0, 2 models", AVERAGE_MODELS, 0, 2),
    ROW("average_models, n=1, 1 model", AVERAGE_MODELS, 1, 1),
    ROW("average_models, n=600, 17 models", AVERAGE_MODELS, 600, 17),
    ROW("average_models, n=17, 300 models", AVERAGE_MODELS, 17, 300),
    TWICE("average_models", AVERAGE_MODELS, 40, 4),
    LONG_ROW("average_models, n=70001, 1 model", run, AVERAGE_MODELS, 70001, 1),
    YOURS("average_models", AVERAGE_MODELS),
    {0},
};

#define SPEED(which, title, at_least, ...)                                                         \
    {                                                                                              \
        .metric = {"speedup", .over = "as handed out", .shape = title}, .function = #which,        \
        .baseline = "baseline_" #which, .run = run_##which, .shape = {__VA_ARGS__},                \
        .where = ON_GPU, .threshold = at_least                                                     \
    }

static const speed_test speed[] = {
    SPEED(dot_product, "2^22 floats", 20, 1 << 22),
    SPEED(finish, "2^24 floats", 1.8, 1 << 24),
    SPEED(turn, "4096 × 4096", 1.4, 4096, 4096),
    SPEED(polynomial, "2^22 floats, 32 terms", 4, 1 << 22, 32),
    SPEED(fetch_left, "2048 × 4096, 64 wide", 20, 2048, 4096, 64),
    SPEED(blur, "4096 × 4096", 1.3, 4096, 4096),
    SPEED(average_models, "2^18 rows, 128 models", 1.5, 1 << 18, 128),
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"instructions", .per = "warp", .shape = "2^16 floats"},
     .function = "dot_product",
     .run = run_dot_product,
     .shape = {65536},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 600,
     .begin = 2000},
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "2^16 floats"},
     .function = "finish",
     .run = run_finish,
     .shape = {65536},
     .count = moved_bytes,
     .ideal = 12.0 * 65536,
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 28.0 / 12.0},
    {.metric = {"bank conflicts", .shape = "256 × 192"},
     .function = "turn",
     .run = run_turn,
     .shape = {256, 192},
     .count = bank_conflicts,
     .bound = AT_MOST,
     .wanted = 0},
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "256 × 192"},
     .function = "turn",
     .run = run_turn,
     .shape = {256, 192},
     .count = moved_bytes,
     .ideal = 8.0 * 256 * 192,
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 4.5},
    {.metric = {"kernel launches", .shape = "100 × 64"},
     .function = "add_bias",
     .run = run_add_bias,
     .shape = {100, 64},
     .count = kernel_launches,
     .bound = EXACTLY,
     .wanted = 1},
    {.metric = {"instructions", .per = "warp", .shape = "2^12 floats, 32 terms"},
     .function = "polynomial",
     .run = run_polynomial,
     .shape = {4096, 32},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 300,
     .begin = 1000},
    {.metric = {"bytes copied", .relative_to = MINIMUM, .shape = "100 × 400, 25 wide"},
     .function = "fetch_left",
     .run = run_fetch_left,
     .shape = {100, 400, 25},
     .count = bytes_to_host,
     .ideal = 4.0 * 100 * 25,
     .bound = AT_MOST,
     .wanted = 1.0,
     .begin = 16,
     .least = 1.0,
     .no_kernels = true},
    {.metric = {"sectors loaded", .relative_to = MINIMUM, .shape = "512 × 256"},
     .function = "blur",
     .run = run_blur,
     .shape = {512, 256},
     .count = sectors_loaded,
     .ideal = 512.0 * 256 / 8,
     .bound = AT_MOST,
     .wanted = 1.6,
     .begin = 8.9,
     .least = 1.0},
    {.metric = {"tensor instructions", .relative_to = MINIMUM, .shape = "1024 rows, 20 models"},
     .function = "average_models",
     .run = run_average_models,
     .shape = {1024, 20},
     .count = tensor_instructions,
     .ideal = 1024.0 / SIDE,
     .bound = AT_MOST,
     .wanted = 1.0,
     .begin = 20,
     .least = 1.0},
    {0},
};

EXERCISE(418) = {
    .id = 418,
    .name = "find_the_bound",
    .file = "phase4_optimization/418_find_the_bound/418_find_the_bound.cu",
    .parts = {"phase4_optimization/418_find_the_bound/418_find_the_bound.answers"},
    .answers = {"dot_product", "finish", "turn", "add_bias", "polynomial", "fetch_left", "blur",
                "average_models"},
    .drawn = numbers,
    .functions = {"dot_product", "finish", "turn", "add_bias", "polynomial", "fetch_left", "blur",
                  "average_models"},
    .baseline_file = "grader/exercises/418_find_the_bound/baseline.cu",
    .promises = {{"fetch_left", HAS_WAITED}},
    .points = 5,
    .speed_points = 15,
    .see = "turn, 33x65",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
