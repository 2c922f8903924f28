/* test_gradebook.c: stored results of two students, and one who was refused, in both reports. */
#include "tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static submission class[3];
static settings with;

static const char *stored(const char *name)
{
    static char path[PATH_MAX];
    const char *root = getenv("COURSE_ROOT");
    snprintf(path, sizeof path, "%s/tests/grader/class/%s", root ? root : ".", name);
    return path;
}

static void set_up(void)
{
    memset(class, 0, sizeof class);
    strcpy(class[0].student, "anna");
    strcpy(class[1].student, "ben");
    strcpy(class[2].student, "=SUM(A1), \"eve\"");
    strcpy(class[2].refused, "the archive is refused: a link: x");
    class[0].results = json_load_file(stored("anna.json"), 0, NULL);
    class[1].results = json_load_file(stored("ben.json"), 0, NULL);
    ck_assert_ptr_nonnull(class[0].results);
    ck_assert_ptr_nonnull(class[1].results);
    ck_assert(settings_read(&with, stored("class.ini")));
}

static char *text_of(void (*write)(FILE *, const submission *, size_t, const settings *))
{
    size_t size;
    char *text = NULL;
    FILE *memory = open_memstream(&text, &size);
    write(memory, class, 3, &with);
    fclose(memory);
    return text;
}

/* anna: 10 + 2 x 15 of 10 + 2 x 20. ben: 10, two days late, 20 percent less. */
START_TEST(gradebook)
{
    char *text = text_of(write_gradebook);
    ck_assert_str_eq(text, "student,status,points,max_points,days_late,total,103 matmul_cpu,"
                           "211 matmul_tiled,remark\n"
                           "anna,graded,40.00,50.00,0,40.00,10.00,15.00,\n"
                           "ben,graded,10.00,50.00,2,8.00,10.00,0.00,\n"
                           "\"'=SUM(A1), \"\"eve\"\"\",refused,0.00,0.00,0,0.00,,,"
                           "the archive is refused: a link: x\n");
    free(text);
}
END_TEST

START_TEST(what_was_too_noisy_is_remarked)
{
    json_t *exercise = json_array_get(json_object_get(class[1].results, "exercises"), 1);
    json_object_set_new(exercise, "speeds", json_pack("[{s:s}]", "verdict", "too_noisy"));
    char *text = text_of(write_gradebook);
    ck_assert_ptr_nonnull(
        strstr(text, "ben,graded,10.00,50.00,2,8.00,10.00,0.00,too noisy: 211\n"));
    free(text);
}
END_TEST

START_TEST(page)
{
    char *text = text_of(write_page);
    ck_assert_ptr_nonnull(strstr(text, "3 submissions: 2 graded, 1 refused, 0 that"));
    ck_assert_ptr_nonnull(
        strstr(text, "<td>211 matmul_tiled: 17x33x65<td class=\"n\">1<td class=\"n\">2\n"));
    ck_assert_ptr_null(strstr(text, "103 matmul_cpu: 17x33x65"));
    ck_assert_ptr_null(strstr(text, "anna"));
    ck_assert_ptr_null(strstr(text, "http"));
    free(text);
}
END_TEST

START_TEST(penalties)
{
    const time_t due = 1795219140; /* 2026-11-20T23:59:00Z */
    ck_assert_int_eq(settings_days_late(&with, due), 0);
    ck_assert_int_eq(settings_days_late(&with, due + 1), 1);
    ck_assert_int_eq(settings_days_late(&with, due + 86400), 1);
    ck_assert_int_eq(settings_days_late(&with, due + 86401), 2);
    ck_assert_double_eq_tol(settings_late_factor(&with, 2), 0.8, 1e-12);
    ck_assert_double_eq_tol(settings_late_factor(&with, 9), 0.75, 1e-12);
    ck_assert_int_eq(settings_submitted(&with, "anna", 5), due - 14340);
    ck_assert_int_eq(settings_submitted(&with, "carla", 5), 5);
}
END_TEST

static const char *const wrong[] = {
    "[weights]\n999 = 1\n",    "[weights]\n211 = much\n",     "[late]\ndue = tomorrow\n",
    "[late]\nper_day = 200\n", "[late]\nper_week = 5\n",      "[late]\nper_day\n",
    "[slurm]\nlimit = 0\n",    "[slurm]\nlimit = 2x\n",       "[slurm]\npoll = 0\n",
    "[slurm]\nwrap = rm\n",    "[slurm]\nmem = $(rm)\n",      "[slurm]\nqos = a b\n",
    "[weights]\n211 = -1\n",   "due = 2026-11-20T23:59:00Z\n"};

START_TEST(wrong_settings_are_refused)
{
    char path[] = "/tmp/class.ini.XXXXXX";
    settings s = {0};
    const int file = mkstemp(path);
    ck_assert_int_gt(write(file, wrong[_i], strlen(wrong[_i])), 0);
    close(file);
    const bool read = settings_read(&s, path);
    unlink(path);
    ck_assert(!read);
}
END_TEST

Suite *suite_gradebook(void)
{
    Suite *suite = suite_create("gradebook");
    TCase *tcase = tcase_create("gradebook");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, gradebook);
    tcase_add_test(tcase, what_was_too_noisy_is_remarked);
    tcase_add_test(tcase, page);
    tcase_add_test(tcase, penalties);
    tcase_add_loop_test(tcase, wrong_settings_are_refused, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(suite, tcase);
    return suite;
}
