/* compare_runs.c: `grader compare --exercise N`: the newest verdict against the student's own
 * earlier ones, the reference solution, the class and what this device can do. It reads the history
 * only; `make compare` grades both first. */
#include "student.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TESTS_MAX 16

/* The tests of the newest verdict, in the order of its entry: the columns of the table. */
typedef struct columns {
    int count, speeds;
    const json_t *test[TESTS_MAX];
} columns;

static void add_columns(columns *c, const json_t *tests)
{
    for (size_t i = 0; i < json_array_size(tests) && c->count < TESTS_MAX; i++) {
        c->test[c->count++] = json_array_get(tests, i);
    }
}

static columns columns_of(const json_t *record)
{
    columns c = {0};
    const json_t *entry = json_object_get(record, "entry");
    add_columns(&c, json_object_get(entry, "speeds"));
    c.speeds = c.count;
    add_columns(&c, json_object_get(entry, "traffic"));
    return c;
}

static bool is_judged(const json_t *test)
{
    const char *verdict = string_of(test, "verdict");
    return !strcmp(verdict, "passed") || !strcmp(verdict, "failed") ||
           !strcmp(verdict, "too_noisy");
}

static bool is_shown(const columns *c, int i)
{
    return test_is_shown(c->test[i]);
}

/* Of a column: as in the plot, only those that are shown have one. */
static char letter_of(const columns *c, int column)
{
    char letter = 'A';
    for (int i = 0; i < column; i++) letter += is_shown(c, i);
    return letter;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_legend(const columns *c)
{
    for (int i = 0; i < c->count; i++) {
        const bool timed = i < c->speeds;
        if (!is_shown(c, i)) continue;
        printf("  %c = %s: %s; wanted %s %.2f\n", letter_of(c, i), timed ? "speed" : "traffic",
               string_of(c->test[i], "metric"), timed ? "at least" : string_of(c->test[i], "bound"),
               real_of(c->test[i], timed ? "threshold" : "wanted"));
    }
}

static void print_number(const json_t *test)
{
    const char *key = json_object_get(test, "threshold") ? "ratio" : "counted";
    if (is_judged(test) && json_is_number(json_object_get(test, key))) {
        printf(" %9.2f", real_of(test, key));
    } else {
        printf(" %9s", "-");
    }
}

/* As a grading does: "3 of 14 wrong", "14". A class has none. */
static void count_cases(const json_t *record, char *words, size_t size)
{
    const long all = integer_of(record, "cases"), wrong = all - integer_of(record, "cases_passed");
    snprintf(words, size, wrong > 0 ? "%2$ld of %1$ld wrong" : "%1$ld", all, wrong);
    if (!json_object_get(record, "cases")) *words = '\0';
}

static void print_row(const char *label, const json_t *record, const columns *now_columns)
{
    char cases[48];
    const columns c = columns_of(record);
    count_cases(record, cases, sizeof cases);
    printf("  %-10s %-20s %-12s %14s %6.1f", label, string_of(record, "time"),
           string_of(json_object_get(record, "entry"), "status"), cases,
           real_of(json_object_get(record, "entry"), "points"));
    for (int i = 0; i < now_columns->count; i++) {
        if (is_shown(now_columns, i)) print_number(i < c.count ? c.test[i] : NULL);
    }
    printf("\n");
}

static void print_heading(const columns *c)
{
    printf("\n  %-10s %-20s %-12s %14s %6s", "", "", "", "cases", "points");
    for (int i = 0; i < c->count; i++) {
        if (is_shown(c, i)) printf(" %9c", letter_of(c, i));
    }
    printf("\n");
}

/* The weakest margin decides between verdicts of as many points and cases. */
static double weakest(const json_t *record)
{
    double least = INFINITY;
    const columns c = columns_of(record);
    for (int i = 0; i < c.count; i++) {
        const double margin = margin_of(c.test[i]);
        if (!isnan(margin)) least = fmin(least, margin);
    }
    return least == INFINITY ? 0.0 : least;
}

static double points_of(const json_t *record)
{
    return real_of(json_object_get(record, "entry"), "points");
}

static bool is_better(const json_t *a, const json_t *b)
{
    const long more = integer_of(a, "cases_passed") - integer_of(b, "cases_passed");
    if (points_of(a) != points_of(b)) return points_of(a) > points_of(b);
    return more != 0 ? more > 0 : weakest(a) > weakest(b);
}

static const json_t *best_of(const json_t *records)
{
    const json_t *best = json_array_get(records, 0);
    for (size_t i = 1; i < json_array_size(records); i++) {
        if (is_better(json_array_get(records, i), best)) best = json_array_get(records, i);
    }
    return best;
}

/* A class has no cases and no times, only numbers. */
static void print_class_row(const char *label, const json_t *class, const json_t *newest,
                            double share, const columns *c)
{
    json_t *record = class_record(class, newest, share);
    if (record) print_row(label, record, c);
    json_decref(record);
}

static void print_table(const json_t *own, const json_t *reference, const json_t *class)
{
    const size_t count = json_array_size(own), runs = json_array_size(reference);
    const json_t *newest = json_array_get(own, count - 1);
    const columns c = columns_of(newest);
    print_legend(&c);
    print_heading(&c);
    if (count > 1) print_row("first", json_array_get(own, 0), &c);
    if (count > 2) print_row("before", json_array_get(own, count - 2), &c);
    if (count > 1) print_row("best", best_of(own), &c);
    print_row("now", newest, &c);
    if (runs > 0) print_row("reference", json_array_get(reference, runs - 1), &c);
    print_class_row("median", class, newest, 0.5, &c);
    print_class_row("class best", class, newest, 1.0, &c);
    if (class) class_print_places(class, newest);
}

/* ---- what the device can do ------------------------------------------------------------------ */

static void print_share(const char *what, double rate, double ceiling, double unit,
                        const char *unit_name)
{
    if (!(rate > 0) || !(ceiling > 0)) return;
    printf("     %s: %.1f %s, %.1f %% of the %.1f that this device %s\n", what, rate / unit,
           unit_name, 100.0 * rate / ceiling, ceiling / unit,
           unit == 1e9 ? "copies" : "can do at most");
}

/* The roof over a kernel: what moving its bytes, or doing its arithmetic, takes at least. */
static void print_roof(const speed_test *test, double seconds, const json_t *device)
{
    const double copy = real_of(device, "copy_bytes_per_second");
    const double flop = test->precision == IN_FP32 ? real_of(device, "flop_per_second") : 0.0;
    print_share("arithmetic", test->flop / seconds, flop, 1e12, "TFLOP/s");
    print_share("memory", test->bytes / seconds, copy, 1e9, "GB/s");
    if (test->flop > 0 && test->bytes > 0 && copy > 0 && flop > 0) {
        const bool by_memory = test->bytes / copy > test->flop / flop;
        printf("     %.1f operations per byte: in the end, %s limits it\n",
               test->flop / test->bytes, by_memory ? "memory" : "arithmetic");
    }
}

static void print_roofs(const exercise *e, const json_t *record)
{
    bool any = false;
    const columns c = columns_of(record);
    const json_t *device = json_object_get(record, "device");
    const bool known = real_of(device, "copy_bytes_per_second") > 0;
    for (int i = 0; i < c.speeds && e->speed && e->speed[i].function; i++) {
        const double seconds = real_of(c.test[i], "seconds");
        if (!is_judged(c.test[i]) || !known || !(seconds > 0)) continue;
        if (e->speed[i].flop <= 0 && e->speed[i].bytes <= 0) continue;
        if (!any) printf("\n  The ceilings of %s:\n", string_of(device, "name"));
        any = true;
        printf("  %c: %.3f ms\n", letter_of(&c, i), 1e3 * seconds);
        print_roof(&e->speed[i], seconds, device);
    }
    for (int i = c.speeds; i < c.count; i++) {
        const traffic_test *test = &e->traffic[i - c.speeds];
        const char *to = test->metric.relative_to;
        if (!is_judged(c.test[i]) || !to || strcmp(to, MINIMUM) != 0) continue;
        printf("%s  %c: 1.00 is the least that the task needs\n", any ? "" : "\n",
               letter_of(&c, i));
        any = true;
    }
    if (!any) printf("\n  No ceiling of this device is known for it.\n");
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Numbers of another device say nothing about this one. */
static json_t *on_device_of(const json_t *records, const json_t *newest)
{
    size_t i;
    json_t *record, *some = json_array();
    json_array_foreach((json_t *)records, i, record)
    {
        if (strcmp(string_of(record, "backend"), string_of(newest, "backend"))) continue;
        if (strcmp(string_of(json_object_get(record, "device"), "name"),
                   string_of(json_object_get(newest, "device"), "name"))) {
            continue;
        }
        json_array_append(some, record);
    }
    return some;
}

static json_t *newest_on_backend(const options *o, const json_t *records)
{
    const char *wanted = o->backend == BACKEND_CUDA ? "cuda" : "cpu";
    for (size_t i = json_array_size(records); i-- > 0;) {
        json_t *record = json_array_get(records, i);
        if (!strcmp(string_of(record, "backend"), wanted)) return record;
    }
    return NULL;
}

static void draw(const options *o, const exercise *e, const json_t *own, const json_t *reference,
                 const json_t *class)
{
    char picture[PATH_MAX];
    json_t *median = json_array();
    json_array_append_new(median,
                          class_record(class, json_array_get(own, json_array_size(own) - 1), 0.5));
    const char *slash = strrchr(o->history, '/');
    snprintf(picture, sizeof picture, "%.*scompare_%s.svg",
             slash ? (int)(slash + 1 - o->history) : 0, o->history, id_words(e->id));
    if (plot_history(e, own, reference, median, picture)) {
        printf("\n  %s shows them all.\n", picture);
    } else {
        printf("\n  No picture: it needs gnuplot (`apt-get install gnuplot-nox`).\n");
    }
    json_decref(median);
}

/* A handout has no solutions to grade; what was counted of them on softgpu is the same everywhere.
 */
static json_t *shipped_reference(const options *o, const exercise *e, const json_t *newest)
{
    size_t i;
    json_t *entry, *record = NULL;
    char folder[PATH_MAX + 64];
    if (exercise_place(e, o->backend) != ON_SOFTGPU) return NULL;
    snprintf(folder, sizeof folder, "%s/docs/results/softgpu", o->root);
    json_t *results = tables_load(folder);
    json_array_foreach(json_object_get(results, "exercises"), i, entry)
    {
        if (id_of(entry) != e->id) continue;
        const json_int_t cases = (json_int_t)json_array_size(json_object_get(entry, "cases"));
        record = json_pack("{s:s, s:O, s:O, s:I, s:I, s:O}", "time", string_of(results, "started"),
                           "backend", json_object_get(newest, "backend"), "device",
                           json_object_get(newest, "device"), "cases", cases, "cases_passed", cases,
                           "entry", entry);
    }
    json_decref(results);
    return record;
}

static int compare_records(const options *o, const exercise *e, const json_t *all,
                           const json_t *of_reference, const json_t *class)
{
    const json_t *newest = newest_on_backend(o, all);
    if (!newest) {
        fprintf(stderr, "grader: %s has not been graded here yet: make grade EX=%s\n",
                id_words(e->id), id_words(e->id));
        return 2;
    }
    json_t *own = on_device_of(all, newest), *reference = on_device_of(of_reference, newest);
    if (json_array_size(reference) == 0)
        json_array_append_new(reference, shipped_reference(o, e, newest));
    printf("  %s %s on %s: %zu grading%s\n\n", id_words(e->id), e->name,
           string_of(json_object_get(newest, "device"), "name"), json_array_size(own),
           json_array_size(own) == 1 ? "" : "s");
    print_table(own, reference, class);
    print_roofs(e, newest);
    draw(o, e, own, reference, class);
    json_decref(own);
    json_decref(reference);
    return 0;
}

int compare_runs(const options *o)
{
    char whole[PATH_MAX], solutions[PATH_MAX + 16];
    const exercise *e = the_exercise(o, "compare");
    if (!e) return 2;
    if (!o->history || !realpath(o->submission, whole)) {
        fprintf(stderr, "grader: there is no %s\n", o->history ? o->submission : "--history FILE");
        return 2;
    }
    json_t *class = o->class_results ? class_load(o->class_results) : NULL;
    if (o->class_results && !class) return 2;
    snprintf(solutions, sizeof solutions, "%s/solutions", o->root);
    json_t *own = history_of(o, whole, e->id), *reference = history_of(o, solutions, e->id);
    const int status = compare_records(o, e, own, reference, class);
    json_decref(class);
    json_decref(own);
    json_decref(reference);
    return status;
}
