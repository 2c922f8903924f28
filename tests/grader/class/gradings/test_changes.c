/* test_changes.c: graded again, for each reason that there is: what is said to have changed. */
#include "grader/class/tests.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void grade_again(void)
{
    run.rerun = true;
    ck_assert_int_eq(class_run(&run), 0);
    run.rerun = false;
}

START_TEST(nothing_changed)
{
    hand_in("anna", "fine");
    ck_assert_int_eq(class_run(&run), 0);
    grade_again();
    ck_assert_int_eq(lines("begin"), 2);
    ck_assert_int_eq(lines("begin fine gpu=none --fresh"), 1);
    ck_assert(report_has("changed.csv", "student,exercise,was,is,why,when"));
    ck_assert(!report_has("changed.csv", "anna"));
    ck_assert(!report_has("index.html", "Verdicts that changed"));
}
END_TEST

/* What an instructor must see: in the list with the name, on the page without. */
START_TEST(an_accident)
{
    hand_in("anna", "fine");
    hand_in("ben", "also fine");
    ck_assert_int_eq(class_run(&run), 0);
    behave("verdict", "failed");
    grade_again();
    ck_assert(
        report_has("changed.csv", "anna,103 matmul_cpu,passed,failed,nothing else changed,20"));
    ck_assert(
        report_has("changed.csv", "ben,103 matmul_cpu,passed,failed,nothing else changed,20"));
    ck_assert(report_has("index.html", "Verdicts that changed"));
    ck_assert(report_has("index.html", "<td>nothing else changed<td class=\"n\">2"));
    ck_assert(!report_has("index.html", "anna"));
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(
        report_has("changed.csv", "anna,103 matmul_cpu,passed,failed,nothing else changed,20"));
    ck_assert_int_eq(lines("begin"), 4);
}
END_TEST

START_TEST(new_files)
{
    hand_in("anna", "wrong");
    behave("verdict", "failed");
    ck_assert_int_eq(class_run(&run), 0);
    hand_in("anna", "mended");
    behave("verdict", "passed");
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("changed.csv", "anna,103 matmul_cpu,failed,passed,new files,20"));
    hand_in("anna", "wrong");
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("changed.csv", "anna,103 matmul_cpu,passed,failed,new files,20"));
    ck_assert_int_eq(lines("begin"), 2);
}
END_TEST

START_TEST(another_machine)
{
    hand_in("anna", "fine");
    ck_assert_int_eq(class_run(&run), 0);
    behave("machine", "a slower one");
    behave("verdict", "failed");
    grade_again();
    ck_assert(report_has("changed.csv", "anna,103 matmul_cpu,passed,failed,another machine,20"));
}
END_TEST

START_TEST(another_grader)
{
    hand_in("anna", "fine");
    ck_assert_int_eq(class_run(&run), 0);
    behave("worker_new", "a program that judges");
    behave("verdict", "failed");
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("changed.csv", "anna,103 matmul_cpu,passed,failed,another grader,20"));
}
END_TEST

/* A second grading of all that is killed goes on where it was, and is not begun a third time. */
START_TEST(a_killed_rerun_goes_on)
{
    hand_in_all(8);
    ck_assert_int_eq(class_run(&run), 0);
    run.rerun = true;
    const pid_t child = start_run();
    while (results() < 10) usleep(5000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    usleep(50000);
    const int kept = results(), begun = lines("begin");
    ck_assert_int_lt(kept, 16);
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(lines("begin") - begun, 16 - kept);
    ck_assert_int_eq(results(), 16);
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(results(), 24);
}
END_TEST

/* A crash may leave half a line: it is skipped, and nothing is appended to it. */
START_TEST(a_torn_history)
{
    char path[PATH_MAX];
    hand_in("anna", "fine");
    ck_assert_int_eq(class_run(&run), 0);
    snprintf(path, sizeof path, "%s/history.jsonl", out);
    FILE *file = fopen(path, "a");
    fputs("{\"student\": \"anna\", \"ke", file);
    fclose(file);
    behave("verdict", "failed");
    grade_again();
    ck_assert(
        report_has("changed.csv", "anna,103 matmul_cpu,passed,failed,nothing else changed,20"));
    behave("verdict", "passed");
    grade_again();
    ck_assert(
        report_has("changed.csv", "anna,103 matmul_cpu,failed,passed,nothing else changed,20"));
}
END_TEST

Suite *suite_changes(void)
{
    Suite *suite = suite_create("changes");
    TCase *tcase = tcase_create("changes");
    tcase_add_checked_fixture(tcase, class_set_up, class_tear_down);
    tcase_add_test(tcase, nothing_changed);
    tcase_add_test(tcase, an_accident);
    tcase_add_test(tcase, new_files);
    tcase_add_test(tcase, another_machine);
    tcase_add_test(tcase, another_grader);
    tcase_add_test(tcase, a_killed_rerun_goes_on);
    tcase_add_test(tcase, a_torn_history);
    suite_add_tcase(suite, tcase);
    return suite;
}
