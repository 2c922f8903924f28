/* test_noisy.c: a timing that is too noisy to be passed or failed, as each view shows it. */
#include "grader/tests.h"

#include "views/views.h"
#include <stdlib.h>
#include <string.h>

static char *view_of_stored(const char *format)
{
    size_t size;
    char *text = NULL, path[PATH_MAX];
    const options o = {0};
    const char *root = getenv("COURSE_ROOT");
    snprintf(path, sizeof path, "%s/tests/grader/views/results.json", root ? root : ".");
    json_t *results = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(results);
    FILE *memory = open_memstream(&text, &size);
    ck_assert(view_find(format)->write(&o, results, memory));
    fclose(memory);
    json_decref(results);
    return text;
}

static const struct shown {
    const char *format, *wanted;
} shown[] = {
    {"junit", "<skipped message=\"too noisy: 1.31, 95 % between 1.15 and 1.52 after 60 pairs"},
    {"gradescope", "passed, 1 of 1 cases, speed too noisy\\nspeed speedup over separate kernels"},
    {"gradescope", "the GPU was throttled: heat"},
    {"github", "::warning file=phase3_layers/305_cross_entropy/305_cross_entropy.cu,title=305 "
               "cross_entropy%2C speed "
               "speedup over separate kernels%2C 6000 rows of 4096 classes::too noisy: 1.31"},
    {"summary", "1.31 speedup over separate kernels, 6000 rows of 4096 classes (too noisy)"},
    {"summary",
     "- **speed** speedup over separate kernels, 6000 rows of 4096 classes: too noisy: 1.31"},
    {"markdown", "classes (too noisy) | 14.4 / 15.0"},
    {"csv", ",64.42,140.00,305,"},
    {"grades", "\tpassed\t1\t1\tskipped: needs softgpu\t14.42"},
    {"tests", "classes\tat least\t1.3\t1.31\t1.15\t1.52\t"},
    {"tests", "\ttoo_noisy\n"},
    {"html", "<span class=\"outcome noisy\">passed, 1 of 1 cases, speed too noisy</span>"},
    {"html", "<span class=\"noisy\">speed</span> speedup over separate kernels"},
};

START_TEST(each_view_shows_it)
{
    char *text = view_of_stored(shown[_i].format);
    ck_assert_msg(strstr(text, shown[_i].wanted) != NULL, "%s: no \"%s\" in\n%s", shown[_i].format,
                  shown[_i].wanted, text);
    free(text);
}
END_TEST

/* It leads nobody's leaderboard, and is no failure. */
START_TEST(it_is_neither_passed_nor_failed)
{
    const verdict v = {.part = "speed", .status = "too_noisy"};
    ck_assert(is_noisy(&v) && !is_passed(&v) && !is_failed(&v));
    char *text = view_of_stored("gradescope");
    ck_assert_ptr_null(strstr(text, "\"name\": \"305 softmax_cross_entropy: times"));
    free(text);
}
END_TEST

Suite *suite_noisy(void)
{
    Suite *suite = suite_create("noisy");
    TCase *tcase = tcase_create("noisy");
    tcase_add_loop_test(tcase, each_view_shows_it, 0, (int)(sizeof shown / sizeof *shown));
    tcase_add_test(tcase, it_is_neither_passed_nor_failed);
    suite_add_tcase(suite, tcase);
    return suite;
}
