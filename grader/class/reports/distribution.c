/*
 * distribution.c: class.json, how a class did, for `make compare CLASS_RESULTS=FILE` of its
 * students. It holds sorted numbers and does not say whose they are: no name, no order of handing
 * in, and no numbers of fewer than five students, among whom one could be recognised.
 *
 *   {"schema": 1, "students", "device", "exercises": [{"id", "points": [...],
 *    "tests": [{"metric", "numbers": [...]}]}]}
 */
#include "reports.h"

#include <stdlib.h>
#include <string.h>

#define STUDENTS_LEAST 5

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* @return the array in ascending order; the old one is given up */
static json_t *sorted(json_t *numbers)
{
    const size_t count = json_array_size(numbers);
    double *values = calloc(count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        values[i] = json_number_value(json_array_get(numbers, i));
    }
    qsort(values, count, sizeof *values, by_size);
    json_array_clear(numbers);
    for (size_t i = 0; i < count; i++) json_array_append_new(numbers, json_real(values[i]));
    free(values);
    return numbers;
}

/* The object of the list whose member has this value, made when there is none. */
static json_t *member_of(json_t *list, const char *key, const json_t *value, const char *numbers)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
    {
        if (json_equal(json_object_get(one, key), value)) return one;
    }
    one = json_pack("{s:O, s:[]}", key, value, numbers);
    json_array_append_new(list, one);
    return one;
}

static void add_tests(json_t *to, const json_t *tests, const char *number)
{
    size_t i;
    json_t *test;
    json_array_foreach(tests, i, test)
    {
        const char *verdict = string_of(test, "verdict");
        json_t *value = json_object_get(test, number), *metric = json_object_get(test, "metric");
        if (strcmp(verdict, "passed") != 0 && strcmp(verdict, "failed") != 0) continue;
        if (!json_is_number(value) || !json_is_string(metric)) continue;
        json_array_append(json_object_get(member_of(to, "metric", metric, "numbers"), "numbers"),
                          value);
    }
}

static void add_exercises(json_t *to, const json_t *results)
{
    size_t i;
    json_t *exercise;
    json_array_foreach(json_object_get(results, "exercises"), i, exercise)
    {
        json_t *one = member_of(to, "id", json_object_get(exercise, "id"), "points");
        json_t *tests = json_object_get(one, "tests");
        if (!tests) json_object_set_new(one, "tests", tests = json_array());
        json_array_append(json_object_get(one, "points"), json_object_get(exercise, "points"));
        add_tests(tests, json_object_get(exercise, "speeds"), "ratio");
        add_tests(tests, json_object_get(exercise, "traffic"), "counted");
    }
}

/* Sort all lists of numbers, and take out those of a few. */
static void make_anonymous(json_t *list, const char *numbers)
{
    for (size_t i = json_array_size(list); i-- > 0;) {
        json_t *one = json_array_get(list, i);
        sorted(json_object_get(one, numbers));
        make_anonymous(json_object_get(one, "tests"), "numbers");
        if (json_array_size(json_object_get(one, numbers)) < STUDENTS_LEAST) {
            json_array_remove(list, i);
        }
    }
}

/* Timings are compared on one device only: "" where there were several. */
static const char *device_of(const submission *all, size_t count)
{
    const char *device = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!all[i].results) continue;
        const char *name = string_of(json_object_get(all[i].results, "device"), "name");
        if (device && strcmp(device, name) != 0) return "";
        device = name;
    }
    return device ? device : "";
}

void write_distribution(FILE *to, const submission *all, size_t count, const settings *settings)
{
    (void)settings; /* a student compares points as they were given */
    int students = 0;
    json_t *exercises = json_array();
    for (size_t i = 0; i < count; i++) {
        if (!all[i].results) continue;
        add_exercises(exercises, all[i].results);
        students++;
    }
    make_anonymous(exercises, "points");
    json_t *whole = json_pack("{s:i, s:i, s:s, s:o}", "schema", 1, "students", students, "device",
                              device_of(all, count), "exercises", exercises);
    json_dumpf(whole, to, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    fputc('\n', to);
    json_decref(whole);
}
