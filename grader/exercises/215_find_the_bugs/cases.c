/*
 * 215_find_the_bugs: eight repaired kernels, each right, without a finding and no more costly
 * than it has to be; and what the student says of each bug. Every case asks for the latter last, so
 * that a finding is seen before it is named. shape: kernel, n
 */
#include "correctness/case.h"
#include "exercises/shared/answers/hashed_answer.h"

#include <string.h>

enum { GROUP = 256, LANES = 32, DIGITS = 10 };

/* Of a warp. Mended, the longest kernel has about 100; one thread for all has thousands. */
#define MOST_INSTRUCTIONS 500.0

static size_t parts(size_t n, size_t part)
{
    return (n + part - 1) / part;
}

static int *values(size_t n)
{
    return random_i32(n, -1000000000, 1000000000);
}

/* int is of 32 bits, and wraps. */
static int wrapped(long long value)
{
    return (int)(unsigned)value;
}

/* ---- the kernels ----------------------------------------------------------------------------- */

static void run_rotate(size_t n)
{
    const int *in = values(n);
    int *out = i32_array(n), *want = i32_array(n);
    for (size_t i = 0; i < n; i++) {
        const bool last = i + 1 == n || i % GROUP == GROUP - 1;
        want[i] = in[last ? i / GROUP * GROUP : i + 1];
    }
    call_counted("rotate_groups",
                 ARGS(out_i32("out", out, n), in_i32("in", in, n), u64(n), stream()));
    expect_equal_i32((layout){"out", 1, n}, out, want);
}

static void run_scale(size_t n)
{
    int *x = values(n), *want = i32_array(n);
    const int factor = *random_i32(1, 2, 1000);
    for (size_t i = 0; i < n; i++) want[i] = wrapped((long long)x[i] * factor);
    call_counted("scale_all",
                 ARGS(inout_of(ELEMENT_I32, "x", x, n), u64(n), i32(factor), stream()));
    expect_equal_i32((layout){"x", 1, n}, x, want);
}

static void run_count_digits(size_t n)
{
    const int *digits = random_i32(n, 0, DIGITS);
    int counts[DIGITS], want[DIGITS] = {0};
    for (size_t i = 0; i < n; i++) want[digits[i]]++;
    call_counted("count_digits", ARGS(out_i32("counts", counts, DIGITS),
                                      in_i32("digits", digits, n), u64(n), stream()));
    expect_equal_i32((layout){"counts", 1, DIGITS}, counts, want);
}

static void run_group_sums(size_t n)
{
    const size_t groups = parts(n, GROUP);
    const int *in = values(n);
    int *out = i32_array(groups), *want = i32_array(groups);
    for (size_t i = 0; i < n; i++) want[i / GROUP] = wrapped((long long)want[i / GROUP] + in[i]);
    call_counted("group_sums",
                 ARGS(out_i32("out", out, groups), in_i32("in", in, n), u64(n), stream()));
    expect_equal_i32((layout){"out", 1, groups}, out, want);
}

static void run_maxima(size_t n)
{
    const size_t warps = parts(n, LANES);
    int *in = values(n), *out = i32_array(warps), *want = i32_array(warps);
    for (size_t i = n / LANES * LANES; i < n; i++) in[i] = INT_MIN + (int)(i % 3); /* below all */
    for (size_t i = 0; i < n; i++) {
        if (i % LANES == 0 || in[i] > want[i / LANES]) want[i / LANES] = in[i];
    }
    call_counted("warp_maxima",
                 ARGS(out_i32("out", out, warps), in_i32("in", in, n), u64(n), stream()));
    expect_equal_i32((layout){"out", 1, warps}, out, want);
}

/* The product of step and 3 is beyond an int. */
static void run_gather(size_t n)
{
    const int *in = values(n), step = *random_i32(1, INT_MAX / 3 + 1, INT_MAX);
    int *out = i32_array(n), *want = i32_array(n);
    for (size_t i = 0; i < n; i++) want[i] = in[i * (size_t)step % n];
    call_counted("gather_steps", ARGS(out_i32("out", out, n), in_i32("in", in, n), i32((int)n),
                                      i32(step), stream()));
    expect_equal_i32((layout){"out", 1, n}, out, want);
}

static void run_line(size_t n)
{
    const int *x = values(n), *ab = random_i32(2, -1000, 1000);
    int *y = i32_array(n), *want = i32_array(n);
    for (size_t i = 0; i < n; i++) want[i] = wrapped((long long)ab[0] * x[i] + ab[1]);
    call_counted("evaluate_line", ARGS(out_i32("y", y, n), in_i32("x", x, n), u64(n),
                                       host(in_i32("h_ab", ab, 2)), stream()));
    expect_equal_i32((layout){"y", 1, n}, y, want);
}

static void run_count_above(size_t n)
{
    int *x = values(n), count, want = 0;
    const int limit = *random_i32(1, -1000, 1000);
    for (size_t i = 0; i < n; i += 3) x[i] = limit; /* is not above itself */
    for (size_t i = 0; i < n; i++) want += x[i] > limit;
    call_counted("count_above", ARGS(out_i32("count", &count, 1), in_i32("x", x, n), u64(n),
                                     i32(limit), stream()));
    expect_equal_i32((layout){"count", 1, 1}, &count, &want);
}

/* ---- what is judged of each ------------------------------------------------------------------ */

enum { ROTATE, SCALE, COUNT_DIGITS, GROUP_SUMS, MAXIMA, GATHER, LINE, COUNT_ABOVE, KERNELS };

/* A finding may name the line that is to blame, or one that suffers: both are right. */
static const struct bug {
    const char *name;
    void (*run)(size_t n);
    int barriers; /* enough, for each warp */
    const char *kind, *lines[2];
} bugs[KERNELS] = {
    {"rotate_groups", run_rotate, 1, "2d75dcd41e8c", {"5f17ff125fc8", "89add680b764"}},
    {"scale_all", run_scale, 0, "c2c3ef1b5fd8", {"a1f1ebcced1b", "362e9c812476"}},
    {"count_digits", run_count_digits, 2, "2351f9be9625", {"ea5f07041454"}},
    {"group_sums", run_group_sums, 9, "28a35b9c6c96", {"7d94b3966ca3", "f5af7a3f9ade"}},
    {"warp_maxima", run_maxima, 0, "7cd74da93de0", {"61378d28b5ed", "c98b7022c7a7"}},
    {"gather_steps", run_gather, 0, "28c2cb0369d9", {"95ffe053337f"}},
    {"evaluate_line", run_line, 0, "1e99041fda99", {"eaf96ad1a31a", "7b73c5832c23"}},
    {"count_above", run_count_above, 0, "41bb2cf0194a", {"cb14ae9f9789"}},
};

static const char *const kinds[KERNELS] = {
    "divergent_barrier", "host_pointer",  "missing_atomic", "missing_barrier",
    "missing_lane",      "out_of_bounds", "overflow",       "uninitialised",
};

static void expect_cost(const struct bug *b)
{
    const device_counts *c = call_counts();
    if (!c || c->warps == 0) return;
    const double barriers = (double)c->barriers / (double)c->warps;
    expect(barriers <= b->barriers, "a warp waits at a barrier %g times; the task needs %d",
           barriers, b->barriers);
    expect(
        instructions_per_warp(c) <= MOST_INSTRUCTIONS,
        "a warp executes %g instructions: the threads must share the work, so that each has little",
        instructions_per_warp(c));
}

static bool is_kind(const char *said)
{
    for (int i = 0; i < KERNELS; i++) {
        if (strcmp(kinds[i], said) == 0) return true;
    }
    return false;
}

static void expect_answers(const struct bug *b)
{
    char key[64], line[32];
    snprintf(key, sizeof key, "%s_kind", b->name);
    const char *kind = answer_text(key);
    expect(is_kind(kind), "`%s = %s` is none of the eight kinds", key, kind);
    expect(is_hashed_answer(key, kind, b->kind), "`%s = %s`: that is not its bug", key, kind);
    snprintf(key, sizeof key, "%s_line", b->name);
    snprintf(line, sizeof line, "%lld", answer_i64(key));
    expect(is_hashed_answer(key, line, b->lines[0]) || is_hashed_answer(key, line, b->lines[1]),
           "`%s = %s`: that line is not to blame", key, line);
}

static void run(const long *shape)
{
    const struct bug *b = &bugs[shape[0]];
    b->run((size_t)shape[1]);
    expect_cost(b);
    expect_answers(b);
}

#define TAIL_ROW(title, kernel)                                                                    \
    {                                                                                              \
        .name = title ", n=1003", .run = run, .shape = {kernel, 1003}, .part = title               \
    }
#define ANY_ROW(title, kernel)                                                                     \
    {                                                                                              \
        .name = title ", any", .run = run, .shape = {kernel, 1}, .most = {0, 3000}, .part = title  \
    }
#define ONCE_ROW(title, kernel, n)                                                                 \
    {                                                                                              \
        .name = title ", n=" #n, .run = run, .shape = {kernel, n}, .once = true, .part = title     \
    }
#define NOTHING_ROW(title, kernel) ONCE_ROW(title, kernel, 0)
#define ONE_ROW(title, kernel)     ONCE_ROW(title, kernel, 1)
#define MANY_ROW(title, kernel)    ONCE_ROW(title, kernel, 70001)
/* Size by size, so that what is shown first has a word on each kernel. */
#define EACH(row)                                                                                  \
    row("rotate_groups", ROTATE), row("scale_all", SCALE), row("count_digits", COUNT_DIGITS),      \
        row("group_sums", GROUP_SUMS), row("warp_maxima", MAXIMA), row("gather_steps", GATHER),    \
        row("evaluate_line", LINE), row("count_above", COUNT_ABOVE)

static const grading_case cases[] = {
    EACH(TAIL_ROW), EACH(ANY_ROW), EACH(NOTHING_ROW), EACH(ONE_ROW), EACH(MANY_ROW), {0},
};

EXERCISE(215) = {
    .id = 215,
    .core = true,
    .name = "find_the_bugs",
    .file = "phase2_cuda_basics/215_find_the_bugs/215_find_the_bugs.cu",
    .parts = {"phase2_cuda_basics/215_find_the_bugs/215_find_the_bugs.answers"},
    .answers = {"rotate_groups_kind", "rotate_groups_line", "scale_all_kind", "scale_all_line",
                "count_digits_kind", "count_digits_line", "group_sums_kind", "group_sums_line",
                "warp_maxima_kind", "warp_maxima_line", "gather_steps_kind", "gather_steps_line",
                "evaluate_line_kind", "evaluate_line_line", "count_above_kind", "count_above_line"},
    .functions = {"rotate_groups", "scale_all", "count_digits", "group_sums", "warp_maxima",
                  "gather_steps", "evaluate_line", "count_above"},
    .points = 15,
    .cases = cases,
};
