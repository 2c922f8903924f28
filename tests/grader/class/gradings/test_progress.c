/* test_progress.c: the time left, where it can be worked out by hand, and where nobody knows. */
#include "grader/class/tests.h"

static progress after(size_t done, double seconds, double spread, size_t all, size_t at_once)
{
    const double k = (double)done;
    progress p = {.all = all, .done = done, .at_once = at_once, .seconds = k * seconds};
    p.squares = k * seconds * seconds + (k - 1) * spread * spread;
    return p;
}

START_TEST(equal_ones)
{
    char text[64];
    time_left(&(progress){.all = 9}, text);
    ck_assert_str_eq(text, "too early to say how long");
    progress p = after(4, 10, 0, 9, 1);
    time_left(&p, text);
    ck_assert_str_eq(text, "50 s left");
    p = after(4, 10, 0, 10, 2);
    time_left(&p, text);
    ck_assert_str_eq(text, "30 s left");
    p = after(100, 60, 0, 300, 2);
    time_left(&p, text);
    ck_assert_str_eq(text, "100 min left");
}
END_TEST

/* 16 done, 16 left, 10 s each give or take 2: 160 s, give or take 2 x 2 x sqrt(16 + 16). */
/* One done in 10 s, 8 left: 80 s, give or take 2 x 10 x sqrt(8 + 64). */
START_TEST(from_the_first_on)
{
    char text[64];
    progress p = after(1, 10, 0, 9, 1);
    time_left(&p, text);
    ck_assert_str_eq(text, "80 ± 170 s left");
}
END_TEST

START_TEST(give_or_take)
{
    char text[64];
    progress p = after(16, 10, 2, 32, 4);
    time_left(&p, text);
    ck_assert_str_eq(text, "40 ± 6 s left");
}
END_TEST

/* Those at work are half done; and no more than are left can be at work. */
START_TEST(the_last_ones)
{
    char text[64];
    progress p = after(8, 10, 0, 10, 4);
    p.at_work = 2;
    time_left(&p, text);
    ck_assert_str_eq(text, "5 s left");
    p.at_work = 4; /* what Slurm said a moment ago */
    time_left(&p, text);
    ck_assert_str_eq(text, "5 s left");
}
END_TEST

Suite *suite_progress(void)
{
    Suite *suite = suite_create("progress");
    TCase *tcase = tcase_create("progress");
    tcase_add_test(tcase, equal_ones);
    tcase_add_test(tcase, from_the_first_on);
    tcase_add_test(tcase, give_or_take);
    tcase_add_test(tcase, the_last_ones);
    suite_add_tcase(suite, tcase);
    return suite;
}
