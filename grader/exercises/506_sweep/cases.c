/* 506_sweep: rows, medians, warm-up, budget, memory and errors of a sweep, against a forward pass
 * that knows how long it took (sweep_plan.h). */
#include "correctness/case.h"

#include "506_sweep/sweep.h"
#include "sweep_plan.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ROWS   4
#define SWEEPS 3 /* at most, of each case */
#define WORDS  (sizeof(sweep_row) / sizeof(int))

typedef struct sweeping {
    sweep_plan plan;
    int batches[ROWS], count, warmup, repeats;
    float budget_ms;
    sweep_row rows[ROWS];
} sweeping;

/* Forward noted its calls where the sweep has no business; that the stream was busy for so long the
 * grader's clock saw, too. Milliseconds of the plan, which the grader has for itself. */
static void expect_spent(const sweep_plan *plan, const sweep_plan *noted)
{
    const double spent = 1e3 * call_wall_seconds();
    double least = 0.0;
    for (int i = 0; i < noted->calls && i < SWEEP_CALLS; i++) least += 1e-3 * noted->took[i];
    expect(memcmp(plan, noted, offsetof(sweep_plan, calls)) == 0, "changed what forward is to do");
    for (int i = 0; i < noted->calls && i < SWEEP_CALLS; i++) {
        expect(noted->took[i] >= sweep_length(noted, i) - 1,
               "call %d of forward keeps the stream busy for %.3f ms, and was noted with %.3f", i,
               1e-3 * sweep_length(noted, i), 1e-3 * noted->took[i]);
    }
    expect(spent >= least - 1,
           "%d calls of forward keep the stream busy for %.3f ms, and the sweep took %.3f",
           noted->calls, least, spent);
}

static void sweep_here(sweeping *s)
{
    const sweep_plan plan = s->plan;
    const size_t words = WORDS * (size_t)s->count;
    call_cuda("sweep",
              ARGS(shifted(host(out_i32("rows", (int *)s->rows, words)), _Alignof(sweep_row)),
                   worker_function("timed_forward"),
                   opaque(host(inout_f32("context", (float *)&s->plan, sizeof s->plan / 4))),
                   host(in_i32("batches", s->batches, (size_t)s->count)), i32(s->count),
                   i32(s->warmup), i32(s->repeats), f32(s->budget_ms), stream()));
    expect_spent(&plan, &s->plan);
}

/* ---- what should have been measured ---------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Microseconds of the last `repeats` calls of a row, sorted. */
static void timed_calls(int *sorted, const sweeping *s, int last)
{
    for (int i = 0; i < s->repeats; i++) sorted[i] = s->plan.took[last - i];
    qsort(sorted, (size_t)s->repeats, sizeof *sorted, by_value);
}

static double median_of(const int *sorted, int count)
{
    return 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
}

/* At least what the stream was busy for; a little more for the events. Milliseconds. */
static double most_of(double want)
{
    return 1.3 * want + 2.0;
}

static bool is_timely(double got, double want_us)
{
    return got >= 0.97e-3 * want_us && got <= most_of(1e-3 * want_us);
}

static void expect_time(const char *what, const sweep_row *row, double got, double want_us)
{
    const double want = want_us * 1e-3, most = most_of(want);
    expect(is_timely(got, want_us),
           "batch %d: %s is %.3f ms; of the %s it should be %.3f ms (%.3f at most)", row->batch,
           what, got, "calls that count", want, most);
}

static void expect_throughput(const sweep_row *row)
{
    const double want = 1e3 * row->batch / row->ms;
    expect(fabs(row->images_per_second - want) <= 1e-3 * want,
           "batch %d: %.3f images a second, should be %.3f: the images of a batch by its median",
           row->batch, row->images_per_second, want);
}

static void expect_timed(const sweeping *s, const sweep_row *row, int last)
{
    int sorted[SWEEP_CALLS];
    timed_calls(sorted, s, last);
    expect(row->error == 0, "batch %d: error %d, but every call succeeded", row->batch, row->error);
    expect(row->measured_at == row->batch, "batch %d was timed, and its row says measured_at %d",
           row->batch, row->measured_at);
    expect_time("the median", row, row->ms, median_of(sorted, s->repeats));
    expect_time("the fastest", row, row->fastest, sorted[0]);
    expect_time("the slowest", row, row->slowest, sorted[s->repeats - 1]);
    expect_throughput(row);
}

static int calls_with(const sweep_plan *plan, int batch)
{
    int count = 0;
    for (int i = 0; i < plan->calls && i < SWEEP_CALLS; i++) count += plan->batch[i] == batch;
    return count;
}

static void expect_calls(const sweeping *s, const sweep_row *row, int want)
{
    const int calls = calls_with(&s->plan, row->batch);
    expect(calls == want, "batch %d: forward was called %d times, should be %d", row->batch, calls,
           want);
}

static void expect_batch(const sweeping *s, int i)
{
    expect(s->rows[i].batch == s->batches[i], "rows[%d] is of batch %d, should be of %d", i,
           s->rows[i].batch, s->batches[i]);
}

/* All rows are timed, one after the other. */
static void expect_all_timed(const sweeping *s)
{
    const int calls = s->warmup + s->repeats;
    for (int i = 0; i < s->count; i++) {
        expect_batch(s, i);
        expect_calls(s, &s->rows[i], calls);
        expect_timed(s, &s->rows[i], (i + 1) * calls - 1);
    }
}

/* ---- on a machine that others use ------------------------------------------------------------ */

static int last_call(const sweep_plan *plan, int batch)
{
    int last = plan->calls < SWEEP_CALLS ? plan->calls - 1 : SWEEP_CALLS - 1;
    while (last >= 0 && plan->batch[last] != batch) last--;
    return last;
}

static bool row_is_timely(const sweeping *s, const sweep_row *row)
{
    int sorted[SWEEP_CALLS];
    const int last = last_call(&s->plan, row->batch);
    if (row->error || last + 1 < s->repeats) return true; /* there is nothing to compare */
    timed_calls(sorted, s, last);
    return is_timely(row->ms, median_of(sorted, s->repeats)) &&
           is_timely(row->fastest, sorted[0]) && is_timely(row->slowest, sorted[s->repeats - 1]);
}

/* What others take away of the GPU or the cores makes a call late, which is no fault of the sweep:
 * then it is made again. */
static void sweep_undisturbed(sweeping *s)
{
    const sweeping start = *s;
    for (int i = 0; i < SWEEPS; i++) {
        bool timely = true;
        *s = start;
        sweep_here(s);
        for (int row = 0; row < s->count; row++) timely &= row_is_timely(s, &s->rows[row]);
        if (timely) return;
    }
}

/* ---- cases ----------------------------------------------------------------------------------- */

static int random_batch(int low, int high)
{
    return *random_i32(1, low, high);
}

/* Of a call or an image, in microseconds: so far around the usual that only who measures knows. */
static int random_time(long usual)
{
    return random_batch((int)(usual / 2), (int)(usual * 3 / 2) + 1);
}

/* shape: rows, warmup, repeats, cold, every, outlier, us of a call, us of an image */
static void timed(const long *shape)
{
    sweeping s = {.count = (int)shape[0], .warmup = (int)shape[1], .repeats = (int)shape[2]};
    s.plan = (sweep_plan){.fixed = random_time(shape[6]),
                          .per_image = random_time(shape[7]),
                          .cold_calls = (int)shape[1],
                          .cold = (int)shape[3],
                          .every = (int)shape[4],
                          .outlier = (int)shape[5]};
    for (int i = 0; i < s.count; i++) s.batches[i] = 4 * i + random_batch(1, 4);
    sweep_undisturbed(&s);
    expect_all_timed(&s);
}

static void expect_failed(const sweep_row *);

static void expect_scaled(const char *what, double of_16, double of_2)
{
    expect(fabs(of_16 - 8.0 * of_2) <= 1e-3 * of_16,
           "batch 16, scaled: %s is %.3f ms, should be 8 times the %.3f ms of batch 2", what, of_16,
           of_2);
}

/* Batch 16 would take twice the budget, and 2 half of it; so would 3, which may fail. shape: the
 * last two batches, which of them fails, calls to warm up of the 4 */
static void scaled(const long *shape)
{
    const int of_16 = shape[0] == 16 ? 2 : 3;
    sweeping s = {.count = 4,
                  .warmup = (int)shape[3],
                  .repeats = 4 - (int)shape[3],
                  .batches = {1, 2, (int)shape[0], (int)shape[1]}};
    s.plan = (sweep_plan){
        .per_image = random_time(12000), .cold_calls = 1, .cold = 2, .fails_at = (int)shape[2]};
    s.budget_ms = 320.0f; /* 4 calls of 16 images are 384 ms at least, of 3 216 at most */
    sweep_undisturbed(&s);
    const sweep_row *from = &s.rows[1], *row = &s.rows[of_16], *other = &s.rows[5 - of_16];
    for (int i = 0; i < s.count; i++) expect_batch(&s, i);
    expect_calls(&s, row, 0);
    expect_timed(&s, &s.rows[0], 3);
    expect_timed(&s, from, 7);
    if (shape[2])
        expect_failed(other);
    else
        expect_timed(&s, other, 11);
    expect(row->measured_at == 2,
           "batch 16 was not timed: measured_at is %d, should be 2, the "
           "batch whose time was scaled",
           row->measured_at);
    expect_scaled("the median", row->ms, from->ms);
    expect_scaled("the fastest", row->fastest, from->fastest);
    expect_scaled("the slowest", row->slowest, from->slowest);
    expect_throughput(row);
    expect(row->device_bytes == 0, "batch 16 was not run, and has device_bytes %zu",
           row->device_bytes);
}

static void memory(const long *shape)
{
    sweeping s = {.count = 3, .warmup = 1, .repeats = 1, .batches = {1, 4, 2}};
    s.plan = (sweep_plan){.fixed = random_time(5000), .cold_calls = 1, .cold = 1};
    s.plan.mib_per_image = (int)shape[0];
    sweep_undisturbed(&s);
    expect_all_timed(&s);
    for (int i = 0; i < s.count; i++) {
        const double want = (double)shape[0] * s.batches[i];
        const double got = (double)s.rows[i].device_bytes / (1 << 20);
        expect(got >= want - 4 && got <= want + 24,
               "batch %d: %.1f MiB of device memory, should be %.0f: the memory free before the "
               "first row, less the memory free now",
               s.rows[i].batch, got, want);
    }
    sweep_here(&(sweeping){.repeats = 1}); /* of no rows: forward lets go of what it holds */
}

static void expect_failed(const sweep_row *row)
{
    expect(row->error == 2,
           "batch %d: forward returned 2 (cudaErrorMemoryAllocation), and the row "
           "has error %d",
           row->batch, row->error);
    expect(row->ms == 0 && row->fastest == 0 && row->slowest == 0 && row->images_per_second == 0 &&
               row->measured_at == 0 && row->device_bytes == 0,
           "batch %d failed, and its row has numbers: %.3f ms, measured_at %d", row->batch, row->ms,
           row->measured_at);
}

/* A batch that is too large for the device is a row of the table, and not the end of it. */
static void fails(const long *shape)
{
    sweeping s = {.count = 3, .warmup = (int)shape[0], .repeats = 2, .batches = {2, 8, 4}};
    s.plan = (sweep_plan){.fixed = random_time(8000), .fails_at = 8};
    s.budget_ms = (float)shape[1];
    sweep_undisturbed(&s);
    const int calls = s.warmup + s.repeats;
    for (int i = 0; i < s.count; i++) expect_batch(&s, i);
    expect_timed(&s, &s.rows[0], calls - 1);
    expect_failed(&s.rows[1]);
    expect_calls(&s, &s.rows[2], calls);
    expect_timed(&s, &s.rows[2], s.plan.calls - 1);
}

static void empty(const long *shape)
{
    sweeping s = {.count = 0, .warmup = 1, .repeats = (int)shape[0]};
    sweep_undisturbed(&s);
    expect(s.plan.calls == 0, "forward was called %d times for no batch", s.plan.calls);
}

static const grading_case cases[] = {
    {.name = "one_row", .run = timed, .shape = {1, 0, 1, 1, 0, 0, 20000, 500}},
    {.name = "each_batch_is_warmed_up", .run = timed, .shape = {3, 3, 2, 5, 0, 0, 8000, 500}},
    {.name = "median_of_odd", .run = timed, .shape = {2, 1, 5, 1, 3, 8, 10000, 500}},
    {.name = "median_of_even", .run = timed, .shape = {1, 1, 4, 1, 2, 4, 10000, 500}},
    {.name = "images_take_time", .run = timed, .shape = {4, 1, 3, 2, 0, 0, 1000, 2500}},
    {.name = "median_of_many", .run = timed, .shape = {1, 1, 120, 1, 0, 0, 300, 5}},
    {.name = "scaled_rows_say_so", .run = scaled, .shape = {16, 3, 0, 1}},
    {.name = "warming_up_costs_too", .run = scaled, .shape = {16, 3, 0, 3}},
    {.name = "scaled_behind_a_failure", .run = scaled, .shape = {3, 16, 3, 1}},
    {.name = "memory_held", .run = memory, .shape = {32}, .where = ON_SOFTGPU}, /* one's own */
    {.name = "row_that_fails", .run = fails, .shape = {1, 0}},
    {.name = "row_that_fails_within_a_budget", .run = fails, .shape = {0, 60000}},
    {.name = "no_rows", .run = empty, .shape = {3}},
    {0},
};

EXERCISE(506) = {
    .id = 506,
    .name = "sweep",
    .file = "phase5_full_network/506_sweep/506_sweep.cu",
    .functions = {"sweep"},
    .host_copies = true,
    .points = 15,
    .cases = cases,
};
