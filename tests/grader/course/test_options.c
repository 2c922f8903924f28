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
}
END_TEST

START_TEST(unknown_words_are_refused)
{
    options o;
    ck_assert(!parse(&o, "999", "cpu"));
    ck_assert(!parse(&o, "naive", "cpu"));
    ck_assert(!parse(&o, "206", "gpu"));
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
