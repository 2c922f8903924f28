/* classmates.c: where a student stands in the class, by the numbers that the instructor published
 * (class/reports/distribution.c). They are turned into records as the history has them, so that
 * they are shown like any other grading. */
#include "student.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

json_t *class_load(const char *path)
{
    json_error_t error;
    json_t *class = json_load_file(path, 0, &error);
    if (json_integer_value(json_object_get(class, "schema")) == 1 &&
        json_is_array(json_object_get(class, "exercises"))) {
        return class;
    }
    fprintf(stderr, "grader: %s is no class.json: %s\n", path,
            class ? "it has other fields" : error.text);
    json_decref(class);
    return NULL;
}

static json_t *find(const json_t *list, const char *key, const json_t *value)
{
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)list, i, one)
    {
        if (json_equal(json_object_get(one, key), value)) return one;
    }
    return NULL;
}

static json_t *exercise_in(const json_t *class, const json_t *record)
{
    const json_t *id = json_object_get(json_object_get(record, "entry"), "id");
    return find(json_object_get(class, "exercises"), "id", id);
}

/* A timing of another device is another number; what softgpu counts is the same everywhere. */
static json_t *numbers_of(const json_t *class, const json_t *record, const json_t *test)
{
    const json_t *exercise = exercise_in(class, record);
    const char *device = string_of(json_object_get(record, "device"), "name");
    const bool timed = json_object_get(test, "threshold") != NULL;
    if (timed && strcmp(string_of(class, "device"), device) != 0) return NULL;
    return json_object_get(
        find(json_object_get(exercise, "tests"), "metric", json_object_get(test, "metric")),
        "numbers");
}

static bool less_is_better(const json_t *test)
{
    return strcmp(string_of(test, "bound"), "at most") == 0;
}

static const char *number_key(const json_t *test)
{
    return json_object_get(test, "threshold") ? "ratio" : "counted";
}

/* share: 0.5 is the median, 1 the best; numbers ascend. */
static double number_at(const json_t *numbers, double share, bool less)
{
    const double last = (double)json_array_size(numbers) - 1;
    return json_number_value(
        json_array_get(numbers, (size_t)lround(last * (less ? 1 - share : share))));
}

static json_t *test_at_share(const json_t *class, const json_t *record, const json_t *test,
                             double share)
{
    json_t *copy = json_copy((json_t *)test);
    const json_t *numbers = numbers_of(class, record, test);
    const bool skipped = !test_is_shown(test);
    if (!skipped) json_object_set_new(copy, "verdict", json_string(numbers ? "passed" : "not_run"));
    if (numbers) {
        const double number = number_at(numbers, share, less_is_better(test));
        json_object_set_new(copy, number_key(test), json_real(number));
    }
    return copy;
}

static json_t *tests_at_share(const json_t *class, const json_t *record, const char *list,
                              double share)
{
    size_t i;
    json_t *test, *all = json_array();
    json_array_foreach(json_object_get(json_object_get(record, "entry"), list), i, test)
    {
        json_array_append_new(all, test_at_share(class, record, test, share));
    }
    return all;
}

json_t *class_record(const json_t *class, const json_t *record, double share)
{
    const json_t *points = json_object_get(exercise_in(class, record), "points");
    if (json_array_size(points) == 0) return NULL;
    return json_pack("{s:{s:f, s:o, s:o}}", "entry", "points", number_at(points, share, false),
                     "speeds", tests_at_share(class, record, "speeds", share), "traffic",
                     tests_at_share(class, record, "traffic", share));
}

/* Percent of the numbers that mine is better than, and that it equals. */
static void print_place(const char *what, const json_t *numbers, double mine, bool less)
{
    size_t i, worse = 0, equal = 0;
    json_t *one;
    const size_t count = json_array_size(numbers);
    json_array_foreach((json_t *)numbers, i, one)
    {
        const double theirs = json_number_value(one), slack = 1e-5 * fabs(mine);
        if (fabs(theirs - mine) <= slack)
            equal++;
        else
            worse += less ? theirs > mine : theirs < mine;
    }
    printf("  %s: better than %.0f %% of the class (%zu), level with %.0f %%\n", what,
           100.0 * (double)worse / (double)count, count, 100.0 * (double)equal / (double)count);
}

static void print_test_places(const json_t *class, const json_t *record, const char *list,
                              char *letter)
{
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(json_object_get(record, "entry"), list), i, test)
    {
        if (!test_is_shown(test)) continue;
        const char name[2] = {(*letter)++, '\0'};
        const json_t *numbers = numbers_of(class, record, test);
        const json_t *mine = json_object_get(test, number_key(test));
        if (!numbers || isnan(margin_of(test)) || !json_is_number(mine)) continue;
        print_place(name, numbers, json_number_value(mine), less_is_better(test));
    }
}

void class_print_places(const json_t *class, const json_t *record)
{
    char letter = 'A';
    const json_t *entry = json_object_get(record, "entry");
    const json_t *points = json_object_get(exercise_in(class, record), "points");
    printf("\n");
    if (json_array_size(points) == 0) {
        printf("  The class: fewer than five handed it in.\n");
        return;
    }
    print_place("points", points, real_of(entry, "points"), false);
    print_test_places(class, record, "speeds", &letter);
    print_test_places(class, record, "traffic", &letter);
}
