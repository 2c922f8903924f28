/* 418_find_the_bound: TODO: what its cases hold it to. */
#include "correctness/case.h"

/* Inputs, a call, and what should have come back: in double, by another way than the solution's. */
static void run_find_the_bound(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *x = random_f32(n);
    float *y = f32_array(n);
    double *want = f64_array(n);
    for (size_t i = 0; i < n; i++) want[i] = x[i];
    call_cuda("find_the_bound", ARGS(out_f32("y", y, n), in_f32("x", x, n), u64(n), stream()));
    expect_close((layout){"y", 1, n}, y, want, NULL, 0.0);
}

/* TODO: nothing, one, what fills a block and what does not, NaN and infinity, in place, large. */
static const grading_case cases[] = {
    {.name = "n=0", .run = run_find_the_bound, .shape = {0}},
    {.name = "n=1000", .run = run_find_the_bound, .shape = {1000}},
    {0},
};

/* course/exercise.h has all that it may have: .prerequisites, exercises that it calls; .parts, files
 * that it includes; .baseline_file, .speed, .traffic and .speed_points, as 203 has them. */
EXERCISE(418) = {
    .id = 418,
    .name = "find_the_bound",
    .file = "phase4_optimization/418_find_the_bound/418_find_the_bound.cu",
    .functions = {"find_the_bound"},
    .points = 10,
    .cases = cases,
};
