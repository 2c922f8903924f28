/* test_options.c: what the command line asks for. */
#include "grader/tests.h"

#include "course/course.h"
#include <getopt.h>

static bool parse(options *o, const char *exercise, const char *backend)
{
    char *argv[] = {"grader", "grade", "--exercise", (char *)exercise, "--backend", (char *)backend,
                    "--seed", "0x10",  NULL};
    optind = 1;
    return options_parse(o, 8, argv);
}

START_TEST(exercises_and_seed)
{
    options o;
    ck_assert(parse(&o, "103 206", "cuda"));
    ck_assert_int_eq(o.backend, BACKEND_CUDA);
    ck_assert_uint_eq(o.seed, 16);
    ck_assert(options_want(&o, catalog_find(206)));
    ck_assert(!options_want(&o, catalog_find(203)));
    ck_assert(parse(&o, "matmul_naive, 103", "cpu"));
    ck_assert_str_eq(o.exercises, "206 103");
    o.case_name = "n=0";
    o.case_name = "n=0";
    ck_assert(!options_case_exists(&o));
    o.case_name = "whole_tiles";
    o.exercises = "106";
    ck_assert(options_case_exists(&o));
}
END_TEST

static bool phase_is_there(char *phase)
{
    options o;
    char *argv[] = {"grader", "grade", "--phase", phase, NULL};
    optind = 1;
    return options_parse(&o, 4, argv);
}

START_TEST(unknown_words_are_refused)
{
    options o;
    ck_assert(!parse(&o, "999", "cpu"));
    ck_assert(!parse(&o, "naive", "cpu"));
    ck_assert(!parse(&o, "206", "gpu"));
    ck_assert(!parse(&o, "naive matmul", "cpu"));
    ck_assert(!phase_is_there("9"));
    ck_assert(phase_is_there("5"));
}
END_TEST

START_TEST(phase)
{
    options o = {.phase = 2};
    ck_assert(options_want(&o, catalog_find(203)));
    ck_assert(!options_want(&o, catalog_find(103)));
}
END_TEST

Suite *suite_options(void)
{
    Suite *suite = suite_create("options");
    TCase *tcase = tcase_create("options");
    tcase_add_test(tcase, exercises_and_seed);
    tcase_add_test(tcase, unknown_words_are_refused);
    tcase_add_test(tcase, phase);
    suite_add_tcase(suite, tcase);
    return suite;
}
