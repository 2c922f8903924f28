/* test_process.c: programs that end well, badly, too late, or talk too much. */
#include "grader/tests.h"

#include "base/base.h"
#include "timer.h"
#include <stdlib.h>
#include <string.h>

START_TEST(output_and_status)
{
    const char *const argv[] = {"sh", "-c", "echo out; echo err >&2; exit 3", NULL};
    process_result r = process_run(argv, NULL, 10.0, 100);
    ck_assert_int_eq(r.status, 3);
    ck_assert(!r.timed_out);
    ck_assert_str_eq(r.output, "out\nerr\n");
    free(r.output);
}
END_TEST

START_TEST(missing_program)
{
    const char *const argv[] = {"no-such-program", NULL};
    process_result r = process_run(argv, NULL, 10.0, 200);
    ck_assert_int_eq(r.status, 127);
    ck_assert_ptr_nonnull(strstr(r.output, "no-such-program"));
    free(r.output);
}
END_TEST

START_TEST(deadline)
{
    const char *const argv[] = {"sh", "-c", "sleep 600 & sleep 600", NULL};
    const double began = seconds_now();
    process_result r = process_run(argv, NULL, 0.2, 100);
    ck_assert(r.timed_out);
    ck_assert(seconds_now() - began < 60.0);
    free(r.output);
}
END_TEST

START_TEST(flood)
{
    const char *const argv[] = {"sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x", NULL};
    process_result r = process_run(argv, NULL, 60.0, 1000);
    ck_assert_int_eq(r.status, 0);
    ck_assert_uint_eq(strlen(r.output), 1000);
    free(r.output);
}
END_TEST

Suite *suite_process(void)
{
    Suite *suite = suite_create("process");
    TCase *tcase = tcase_create("process");
    tcase_add_test(tcase, output_and_status);
    tcase_add_test(tcase, missing_program);
    tcase_add_test(tcase, deadline);
    tcase_add_test(tcase, flood);
    suite_add_tcase(suite, tcase);
    return suite;
}
