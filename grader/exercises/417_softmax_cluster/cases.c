/* 417_softmax_cluster: cases of the softmax by clusters: rows shorter than what a block of them
 * takes, rows of whole parts and others, rows that no cluster keeps; a row of which one part alone
 * counts. On softgpu the bytes moved and the longest way of a warp; on a GPU its speed against a
 * copy. shape: rows, columns, values */
#include "exercises/shared/layer_cases.h"
#include "exercises/shared/norm_cases.h"

#include <math.h>
#include <string.h>

#define SAMPLED_ROWS 16 /* of a large call */

/* Both arrays begin `shift` bytes past an aligned address. */
static void call_and_check(const char *function, const float *x, long rows, long cols,
                           unsigned shift)
{
    const size_t size = (size_t)(rows * cols);
    float *y = f32_array(size);
    call_cuda(function,
              ARGS(shifted(out_f32("y", y, size), shift), shifted(in_f32("x", x, size), shift),
                   i32((int)rows), i32((int)cols), stream()));
    if (strstr(function, "_copy")) return; /* the baseline, whose y is x */
    if (rows > SAMPLED_ROWS && size > 10000000) {
        const int *some = sampled_rows(SAMPLED_ROWS, rows);
        y = rows_of(y, cols, some, SAMPLED_ROWS), x = rows_of(x, cols, some, SAMPLED_ROWS);
        rows = SAMPLED_ROWS;
    }
    expect_softmax_rows(y, x, rows, cols);
}

static void run(const long *shape)
{
    const float *x = random_rows((row_values)shape[2], shape[0], shape[1]);
    call_and_check("softmax_cluster", x, shape[0], shape[1], 0);
}

static void run_misaligned(const long *shape)
{
    const float *x = random_rows(AROUND_0, shape[0], shape[1]);
    call_and_check("softmax_cluster", x, shape[0], shape[1], 4);
}

static void run_large_values(const long *shape)
{
    const float *x = random_f32_between((size_t)(shape[0] * shape[1]), -1e4f, 1e4f);
    call_and_check("softmax_cluster", x, shape[0], shape[1], 0);
}

static void run_all_negative(const long *shape)
{
    const float *x = random_f32_between((size_t)(shape[0] * shape[1]), -10004.0f, -9996.0f);
    call_and_check("softmax_cluster", x, shape[0], shape[1], 0);
}

/* Of row r only the r-th sixteenth is not masked, of the last row nothing, of the one above only a
 * NaN: most blocks have nothing but -infinity. */
static void run_masked(const long *shape)
{
    const long rows = shape[0], cols = shape[1];
    float *x = random_rows(AROUND_0, rows, cols);
    for (long i = 0; i < rows * cols; i++) {
        const long r = i / cols, sixteenth = i % cols * 16 / cols;
        if (r >= rows - 2 || sixteenth != r % 16) x[i] = -INFINITY;
    }
    x[(rows - 2) * cols + (long)random_below(case_random(), (uint64_t)cols)] = NAN;
    call_and_check("softmax_cluster", x, rows, cols, 0);
}

static const grading_case cases[] = {
    {.name = "0x5000", .run = run, .shape = {0, 5000}},
    {.name = "7x0", .run = run, .shape = {7, 0}},
    {.name = "3x1", .run = run, .shape = {3, 1}},
    {.name = "5x320", .run = run, .shape = {5, 320}},
    {.name = "2x1024", .run = run, .shape = {2, 1024}},
    /* The first for a cluster, and more than 48 KB for a block: what is done once is done here, so
     * that the calls that fail are those of this case. */
    {.name = "1x98305", .run = run, .shape = {1, 98305}, .once = true},
    {.name = "3x1025", .run = run, .shape = {3, 1025}},
    {.name = "2x4096", .run = run, .shape = {2, 4096}},
    {.name = "1x8191", .run = run, .shape = {1, 8191}},
    {.name = "any shape", .run = run, .shape = {1, 1}, .most = {12, 9000}},
    {.name = "any long row", .run = run, .shape = {1, 10000}, .most = {2, 90000}},
    {.name = "more clusters than fit, 70x1100", .run = run, .shape = {70, 1100}},
    {.name = "misaligned, 3x4000", .run = run_misaligned, .shape = {3, 4000}},
    {.name = "large values, 3x5001", .run = run_large_values, .shape = {3, 5001}},
    {.name = "all negative, 3x1501", .run = run_all_negative, .shape = {3, 1501}},
    {.name = "equal values, 3x5001", .run = run, .shape = {3, 5001, EQUAL}},
    {.name = "masked, 18x5001", .run = run_masked, .shape = {18, 5001}},
    {.name = "masked, 18x300", .run = run_masked, .shape = {18, 300}},
    {.name = "with a nan, 6x5001", .run = run, .shape = {6, 5001, WITH_NAN}},
    {.name = "with infinity, 6x5001", .run = run, .shape = {6, 5001, WITH_INFINITY}},
    {.name = "2x131072", .run = run, .shape = {2, 131072}, .once = true},
    {.name = "1x300001", .run = run, .shape = {1, 300001}, .once = true},
    {.name = "1x600000", .run = run, .shape = {1, 600000}, .once = true},
    LONG_ROW("70001x3", run, 70001, 3),
    GPU_ROW("65537x1025", run, 65537, 1025), /* clusters for more rows than a grid has along y */
    {.name = "5003x20011", .run = run, .shape = {5003, 20011}, .where = ON_GPU, .once = true},
    {.name = "100x400000", .run = run, .shape = {100, 400000}, .where = ON_GPU, .once = true},
    {0},
};

/* A timed or counted call. */
static void run_timed(const char *function, const long *shape)
{
    const float *x = random_rows(AROUND_0, shape[0], shape[1]);
    call_and_check(function, x, shape[0], shape[1], 0);
}

/* An H200 reaches 0.66 of a copy (0.65 to 0.66); of that 0.85 is asked. Three passes reach 0.32 and
 * 405's row that stays on the chip 0.78 (512 × 65536, tests.tsv). What 405 moves of this row, 1.75
 * times the least, can be 0.57 of a copy at most; the counts tell it apart. */
static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "device copy", .shape = "512 × 131072"},
     .function = "softmax_cluster",
     .baseline = "baseline_softmax_copy",
     .run = run_timed,
     .shape = {512, 131072},
     .where = ON_GPU,
     .threshold = 0.6,
     .begin = 0.32,
     .capability = 90,
     .bytes = 8.0 * 512 * 131072,
     .peer_share = 0.88,
     .peer_bytes = 8.0 * 512 * 131072},
    {0},
};

/* softgpu has registers without end: one block of 1,024 threads that keeps a row there moves each
 * byte once, by 2,300 instructions a warp. Eight blocks of 512 need 825. */
static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = MINIMUM, .shape = "2 × 131072"},
     .function = "softmax_cluster",
     .run = run_timed,
     .shape = {2, 131072},
     .count = moved_bytes,
     .ideal = 8.0 * 2 * 131072,
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 1.75},
    {.metric = {"instructions", .per = "warp", .shape = "1 × 131072"},
     .function = "softmax_cluster",
     .run = run_timed,
     .shape = {1, 131072},
     .count = instructions_per_warp,
     .bound = AT_MOST,
     .wanted = 2000},
    {0},
};

EXERCISE(417) = {
    .id = 417,
    .name = "softmax_cluster",
    .file = "phase4_optimization/417_softmax_cluster/417_softmax_cluster.cu",
    .functions = {"softmax_cluster"},
    .prerequisites = {405},
    .promises = {{"softmax_cluster", WAITS_FOR_NOTHING | ALLOCATES_NOTHING | COPIES_NOTHING, 1}},
    .softgpu_90 = true,
    .baseline_file = "grader/exercises/305_cross_entropy/baseline.cu",
    .exponentials = true,
    .masks = true,
    .points = 15,
    .speed_points = 10,
    .see = "3x1025",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};
