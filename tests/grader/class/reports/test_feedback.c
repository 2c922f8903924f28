/* test_feedback.c: what a student is handed back, and that it is nobody else's. */
#include "grader/class/tests.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static submission class[3];
static settings with;

static void set_up(void)
{
    char path[PATH_MAX];
    class_set_up();
    snprintf(path, sizeof path, "%s/feedback/x", out);
    make_folders_of(path);
    strcpy(class[0].student, "anna");
    strcpy(class[1].student, "b e <n>");
    strcpy(class[2].student, "eve");
    strcpy(class[2].refused, "the archive is refused: a link: x");
    class[0].results = json_pack(
        "{s:i, s:s, s:f, s:f, s:[{s:i, s:s, s:s, s:s, s:f, s:f, s:s, s:[{s:s, s:s, s:s, s:i}]},"
        " {s:i, s:s, s:s, s:s, s:f, s:f, s:s, s:i},"
        " {s:i, s:s, s:s, s:s, s:f, s:f, s:s}]}",
        "schema", 1, "submission", "/scratch/work/0", "points", 10.0, "max_points", 50.0,
        "exercises",
        /* one that failed */
        "id", 203, "name", "vector_add", "file", "p/203.cu", "status", "failed", "points", 0.0,
        "max_points", 10.0, "reason", "", "cases", "name", "n=33", "status", "failed", "message",
        "c[0] is 1, should be 2; 3 of 33 wrong", "seed", 4711,
        /* one that is late, one that was not begun */
        "id", 103, "name", "matmul_cpu", "file", "p/103.c", "status", "passed", "points", 10.0,
        "max_points", 10.0, "reason", "", "days_late", 2, /**/
        "id", 211, "name", "matmul_tiled", "file", "p/211.cu", "status", "not_started", "points",
        0.0, "max_points", 30.0, "reason", "");
    ck_assert_ptr_nonnull(class[0].results);
    class[1].results = json_pack("{s:[]}", "exercises");
}

START_TEST(a_text_and_a_page)
{
    ck_assert(write_feedback(&run, class, 3, &with));
    ck_assert(report_has("feedback/anna.txt", "anna: 10.00 of 50.00 points"));
    ck_assert(
        report_has("feedback/anna.txt",
                   "203 vector_add                0.0 of  10.0   failed, 1 of 1 cases wrong"));
    ck_assert(report_has("feedback/anna.txt", "      c[0] is 1, should be 2; 3 of 33 wrong"));
    ck_assert(report_has("feedback/anna.txt", "again: make check EX=203 CASE='n=33' SEED=4711"));
    ck_assert(report_has("feedback/anna.txt", "passed, 2 days late"));
    ck_assert(report_has("feedback/anna.txt", "not started: 211\n"));
    ck_assert(report_has("feedback/anna.html", "submission anna"));
    ck_assert(report_has("feedback/anna.html", "10.0 of 50.0 points"));
    ck_assert(report_has("feedback/anna.html", "passed, 2 days late"));
    ck_assert(!report_has("feedback/anna.html", "scratch"));
    ck_assert(report_has("feedback/b e <n>.html", "submission b e &lt;n&gt;"));
}
END_TEST

START_TEST(the_refused_read_why)
{
    ck_assert(write_feedback(&run, class, 3, &with));
    ck_assert(report_has("feedback/eve.txt", "Not graded: the archive is refused: a link: x"));
    ck_assert(report_has("feedback/eve.html", "the archive is refused: a link: x"));
}
END_TEST

/* A page is drawn once, and again when there is something new to say. */
START_TEST(what_is_there_stays)
{
    char path[PATH_MAX];
    struct stat before, after;
    ck_assert(write_feedback(&run, class, 3, &with));
    snprintf(path, sizeof path, "%s/feedback/anna.html", out);
    ck_assert_int_eq(stat(path, &before), 0);
    ck_assert(write_feedback(&run, class, 3, &with));
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert_int_eq(before.st_ino, after.st_ino);
    json_object_set_new(json_array_get(json_object_get(class[0].results, "exercises"), 1), "points",
                        json_real(9));
    ck_assert(write_feedback(&run, class, 3, &with));
    ck_assert(report_has("feedback/anna.html", "9.0 / 10.0"));
    remove(path);
    ck_assert(write_feedback(&run, class, 3, &with));
    ck_assert(report_has("feedback/anna.html", "9.0 / 10.0"));
}
END_TEST

Suite *suite_feedback(void)
{
    Suite *suite = suite_create("feedback");
    TCase *tcase = tcase_create("feedback");
    tcase_add_checked_fixture(tcase, set_up, class_tear_down);
    tcase_add_test(tcase, a_text_and_a_page);
    tcase_add_test(tcase, the_refused_read_why);
    tcase_add_test(tcase, what_is_there_stays);
    suite_add_tcase(suite, tcase);
    return suite;
}
