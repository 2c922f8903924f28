/* test_distribution.c: what a class publishes is sorted, nameless, and of five or more. */
#include "grader/class/tests.h"

#include <stdlib.h>
#include <string.h>

#define STUDENTS 6

static submission class[STUDENTS + 1];

/* The first four have handed in 211 as well; the last one's submission was refused. */
static void set_up(void)
{
    memset(class, 0, sizeof class);
    for (int i = 0; i < STUDENTS; i++) {
        snprintf(class[i].student, sizeof class[i].student, "student-%d", i);
        json_t *timing =
            json_pack("{s:s, s:f, s:s}", "metric", "times", "ratio", 9.0 - i, "verdict",
                      i == 5   ? "not_run"
                      : i == 0 ? "failed"
                               : "passed");
        json_t *results = json_pack("{s:{s:s}, s:[{s:i, s:f, s:[o], s:[]}]}", "device", "name",
                                    "a GPU", "exercises", "id", 206, "points", (i * 7 % 5) * 1.5,
                                    "speeds", timing, "traffic");
        if (i < 4) {
            json_array_append_new(json_object_get(results, "exercises"),
                                  json_pack("{s:i, s:f}", "id", 211, "points", 20.0));
        }
        class[i].results = results;
    }
    snprintf(class[STUDENTS].student, sizeof class->student, "student-7");
}

static void tear_down(void)
{
    for (int i = 0; i < STUDENTS; i++) json_decref(class[i].results);
}

static json_t *written(char **text)
{
    size_t size;
    FILE *memory = open_memstream(text, &size);
    write_distribution(memory, class, STUDENTS + 1, NULL);
    fclose(memory);
    json_t *whole = json_loads(*text, 0, NULL);
    ck_assert_ptr_nonnull(whole);
    return whole;
}

START_TEST(sorted_and_nameless)
{
    char *text = NULL;
    json_t *whole = written(&text);
    json_t *wanted = json_pack("{s:i, s:i, s:s, s:[{s:i, s:[f,f,f,f,f,f], s:[{s:s, "
                               "s:[f,f,f,f,f]}]}]}",
                               "schema", 1, "students", STUDENTS, "device", "a GPU", "exercises",
                               "id", 206, "points", 0.0, 0.0, 1.5, 3.0, 4.5, 6.0, "tests", "metric",
                               "times", "numbers", 5.0, 6.0, 7.0, 8.0, 9.0);
    ck_assert_msg(json_equal(whole, wanted), "written:\n%s", text);
    ck_assert_ptr_null(strstr(text, "student-"));
    json_decref(whole);
    json_decref(wanted);
    free(text);
}
END_TEST

START_TEST(several_devices_have_no_name)
{
    char *text = NULL;
    json_object_set_new(json_object_get(class[3].results, "device"), "name", json_string("other"));
    json_t *whole = written(&text);
    ck_assert_str_eq(json_string_value(json_object_get(whole, "device")), "");
    json_decref(whole);
    free(text);
}
END_TEST

Suite *suite_distribution(void)
{
    Suite *suite = suite_create("distribution");
    TCase *tcase = tcase_create("distribution");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, sorted_and_nameless);
    tcase_add_test(tcase, several_devices_have_no_name);
    suite_add_tcase(suite, tcase);
    return suite;
}
