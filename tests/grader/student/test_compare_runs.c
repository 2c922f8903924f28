/* test_compare_runs.c: an exercise against the ceilings of a GPU and against a class. The numbers
 * are those that were measured on a GPU: docs/results/h200. Its ceilings are made up. */
#include "grader/tests.h"

#include "student/student.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], history[128], said[128], published[128], submission[PATH_MAX];
static json_t *measured;
static options o;

static void set_up(void)
{
    const char *root = getenv("COURSE_ROOT");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/docs/results/h200", root ? root : ".");
    measured = tables_load(path);
    ck_assert_ptr_nonnull(measured);
    json_t *device = json_object_get(measured, "device");
    json_object_set_new(device, "copy_bytes_per_second", json_real(4.2e12));
    json_object_set_new(device, "flop_per_second", json_real(66.9e12));
    snprintf(folder, sizeof folder, "/tmp/compare_runs.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_ptr_nonnull(realpath(folder, submission));
    snprintf(history, sizeof history, "%s/history.jsonl", folder);
    snprintf(said, sizeof said, "%s/said", folder);
    snprintf(published, sizeof published, "%s/class.json", folder);
    o = (options){.root = root ? root : ".", .submission = folder, .history = history};
    o.backend = BACKEND_CUDA;
}

static void tear_down(void)
{
    json_decref(measured);
    remove_tree(folder);
}

static json_t *entry_of(int id)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(measured, "exercises"), i, entry)
    {
        if (id_of(entry) == id) return entry;
    }
    ck_abort_msg("no %d was measured", id);
    return NULL;
}

static const json_t *timing_of(int id)
{
    return json_array_get(json_object_get(entry_of(id), "speeds"), 0);
}

static void note_verdict(int id)
{
    json_t *record =
        json_pack("{s:s, s:s, s:O, s:s, s:i, s:i, s:O}", "time", "2026-11-21T06:13:55Z", "backend",
                  "cuda", "device", json_object_get(measured, "device"), "submission", submission,
                  "cases", 19, "cases_passed", 19, "entry", entry_of(id));
    ck_assert(history_append(history, record));
    json_decref(record);
}

/* @return what `make compare` says, or would say: a test has no terminal */
static char *comparison(const char *id, int status)
{
    static char text[16384];
    o.exercises = id;
    ck_assert_ptr_nonnull(freopen(said, "w", stdout));
    ck_assert_int_eq(compare_runs(&o), status);
    fflush(stdout);
    FILE *file = fopen(said, "r");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void expect_words(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "no \"%s\" in\n%s", words, text);
}

static double ceiling(const char *of)
{
    return real_of(json_object_get(measured, "device"), of);
}

START_TEST(bandwidth_of_the_device)
{
    char words[256];
    const double rate = 12.0 * (1 << 25) / real_of(timing_of(203), "seconds");
    const double copy = ceiling("copy_bytes_per_second");
    snprintf(words, sizeof words, "memory: %.1f GB/s, %.1f %% of the %.1f that this device copies",
             rate / 1e9, 100 * rate / copy, copy / 1e9);
    note_verdict(203);
    char *text = comparison("203", 0);
    expect_words(text, words);
    expect_words(text, "The ceilings of NVIDIA H200:");
}
END_TEST

START_TEST(arithmetic_of_the_device)
{
    char words[256];
    const double rate = 2.0 * 2048 * 2048 * 2048 / real_of(timing_of(206), "seconds");
    const double peak = ceiling("flop_per_second");
    snprintf(words, sizeof words, "arithmetic: %.1f TFLOP/s, %.1f %% of the %.1f", rate / 1e12,
             100 * rate / peak, peak / 1e12);
    note_verdict(206);
    expect_words(comparison("206", 0), words);
}
END_TEST

/* Five classmates: of 206's threshold they have ratios 2 to 10. */
static void publish(const char *device)
{
    json_t *class =
        json_pack("{s:i, s:i, s:s, s:[{s:i, s:[f,f,f,f,f], s:[{s:O, s:[f,f,f,f,f]}]}]}", "schema",
                  1, "students", 5, "device", device, "exercises", "id", 206, "points", 5.0, 10.0,
                  12.5, 15.0, 15.0, "tests", "metric", json_object_get(timing_of(206), "metric"),
                  "numbers", 2.0, 4.0, 6.0, 8.0, 1000.0);
    ck_assert_int_eq(json_dump_file(class, published, 0), 0);
    json_decref(class);
    o.class_results = published;
}

START_TEST(place_in_the_class)
{
    note_verdict(206);
    publish("NVIDIA H200");
    char *text = comparison("206", 0);
    expect_words(text, "points: better than 60 % of the class (5), level with 40 %");
    expect_words(text, "A: better than 80 % of the class (5), level with 0 %");
    expect_words(text,
                 "  median                                                        12.5      6.00");
    expect_words(text,
                 "  class best                                                    15.0   1000.00");
}
END_TEST

START_TEST(timings_of_another_device_are_not_compared)
{
    note_verdict(206);
    publish("a laptop");
    char *text = comparison("206", 0);
    expect_words(text, "points: better than 60 % of the class");
    expect_words(text,
                 "  median                                                        12.5         -");
    ck_assert_ptr_null(strstr(text, "A: better than"));
}
END_TEST

START_TEST(too_few_are_no_class)
{
    note_verdict(203);
    publish("NVIDIA H200");
    expect_words(comparison("203", 0), "The class: fewer than five handed it in.");
}
END_TEST

START_TEST(what_is_no_class_is_refused)
{
    note_verdict(206);
    o.class_results = history;
    comparison("206", 2);
    o.class_results = "/nowhere/class.json";
    comparison("206", 2);
}
END_TEST

START_TEST(the_median_is_drawn)
{
    char path[PATH_MAX], *picture = NULL;
    size_t bytes = 0;
    if (system("command -v gnuplot >/dev/null") != 0) return; /* compare says so */
    note_verdict(206);
    publish("NVIDIA H200");
    comparison("206", 0);
    snprintf(path, sizeof path, "%s/compare_206.svg", folder);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_gt(getdelim(&picture, &bytes, '\0', file), 0);
    fclose(file);
    expect_words(picture, "the median of the class");
    expect_words(picture, string_of(timing_of(206), "metric"));
    free(picture);
}
END_TEST

Suite *suite_compare_runs(void)
{
    Suite *suite = suite_create("compare_runs");
    TCase *tcase = tcase_create("compare_runs");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, bandwidth_of_the_device);
    tcase_add_test(tcase, arithmetic_of_the_device);
    tcase_add_test(tcase, place_in_the_class);
    tcase_add_test(tcase, timings_of_another_device_are_not_compared);
    tcase_add_test(tcase, too_few_are_no_class);
    tcase_add_test(tcase, what_is_no_class_is_refused);
    tcase_add_test(tcase, the_median_is_drawn);
    suite_add_tcase(suite, tcase);
    return suite;
}
