/*
 * tables.c: two tables that together hold a grading's numbers, with tabs between the columns:
 * grades has a row for each exercise, tests one for each timing and count. They are what
 * docs/results keeps, what `make repeat` reads, and what load_tables.c makes results of again.
 */
#include "views.h"

#include <stdlib.h>
#include <string.h>

const char *const metric_fields[METRIC_FIELDS] = {"quantity", "per", "relative_to", "over",
                                                  "shape"};

/* A metric has no tabs; what somebody else wrote into the file may. */
static void put_text(FILE *to, const char *text)
{
    for (; *text; text++) fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
}

static void put_cell_of(FILE *to, const json_t *object, const char *key)
{
    fputc('\t', to);
    put_text(to, string_of(object, key));
}

/* In as few digits as are read as the same number. Nothing where there is none. */
static void put_number(FILE *to, const json_t *number)
{
    char text[40] = "";
    const double x = json_number_value(number);
    for (int digits = 15; json_is_number(number) && digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    fprintf(to, "\t%s", text);
}

static void put_machine(FILE *to, const json_t *results)
{
    const json_t *device = json_object_get(results, "device");
    fputs("# device ", to);
    put_text(to, string_of(device, "name"));
    if (*string_of(device, "driver")) {
        fprintf(to, ", driver for CUDA %s, runtime %s", string_of(device, "driver"),
                string_of(device, "runtime"));
    }
    fputs(", commit ", to);
    put_text(to, string_of(results, "commit"));
    fputs(", started ", to);
    put_text(to, string_of(results, "started"));
    fputc('\n', to);
}

/* ---- a row for each exercise ----------------------------------------------------------------- */

static void put_grade(FILE *to, const json_t *exercise)
{
    int right, all;
    cases_of(exercise, &right, &all);
    fputs(id_words(id_of(exercise)), to);
    put_cell_of(to, exercise, "name");
    put_cell_of(to, exercise, "status");
    fprintf(to, "\t%d\t%d", right, all);
    put_cell_of(to, json_object_get(exercise, "checks"), "verdict");
    put_number(to, json_object_get(exercise, "points"));
    put_number(to, json_object_get(exercise, "max_points"));
    put_cell_of(to, exercise, "reason");
    put_cell_of(to, exercise, "file");
    fputc('\n', to);
}

bool grades_view(const options *o, const json_t *results, FILE *to)
{
    (void)o;
    size_t i;
    json_t *one;
    put_machine(to, results);
    fputs("exercise\tname\tstatus\tright\tcases\tchecks\tpoints\tof\treason\tfile\n", to);
    json_array_foreach(json_object_get(results, "exercises"), i, one) put_grade(to, one);
    return true;
}

/* ---- a row for each test --------------------------------------------------------------------- */

/* A test that was not judged here has no numbers but the wanted one. */
static bool is_measured(const json_t *test)
{
    const char *verdict = string_of(test, "verdict");
    return !strcmp(verdict, "passed") || !strcmp(verdict, "failed") ||
           !strcmp(verdict, "too_noisy");
}

static void put_measured(FILE *to, const json_t *test, const char *key)
{
    put_number(to, is_measured(test) ? json_object_get(test, key) : NULL);
}

static void put_test(FILE *to, const json_t *exercise, const json_t *test, bool timed)
{
    fprintf(to, "%s\t%s", id_words(id_of(exercise)), timed ? "speed" : "traffic");
    put_cell_of(to, test, "function");
    put_cell_of(to, test, "metric");
    for (size_t i = 0; i < METRIC_FIELDS; i++) put_cell_of(to, test, metric_fields[i]);
    fputc('\t', to);
    put_text(to, timed ? "at least" : string_of(test, "bound"));
    put_number(to, json_object_get(test, timed ? "threshold" : "wanted"));
    put_measured(to, test, timed ? "ratio" : "counted");
    put_measured(to, test, "low");
    put_measured(to, test, "high");
    put_measured(to, test, "seconds");
    put_measured(to, test, "baseline_seconds");
    put_cell_of(to, test, "verdict");
    fputc('\n', to);
}

bool tests_view(const options *o, const json_t *results, FILE *to)
{
    (void)o;
    size_t i, j;
    json_t *one, *test;
    put_machine(to, results);
    fputs(
        "exercise\tkind\tfunction\tmetric\tquantity\tper\trelative_to\tover\tshape\tbound\twanted\t"
        "number\tlow\thigh\tseconds\tbaseline_seconds\tverdict\n",
        to);
    json_array_foreach(json_object_get(results, "exercises"), i, one)
    {
        json_array_foreach(json_object_get(one, "speeds"), j, test) put_test(to, one, test, true);
        json_array_foreach(json_object_get(one, "traffic"), j, test) put_test(to, one, test, false);
    }
    return true;
}
