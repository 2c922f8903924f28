/*
 * test_answers.c: an exercise whose second file says numbers and words: what a case reads of it,
 * what is told of one that is wrong, and numbers that each student has others of.
 */
#include "grader/tests.h"

#include "verdict/verdict.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "phase2_cuda_basics/215_made.answers"

/* As an exercise would: half of the threads that are drawn, what bounds it, and a share. */
static void check_all(const long *shape)
{
    (void)shape;
    const long threads = drawn_i64("threads");
    expect(answer_i64("half") == threads / 2, "half of %ld is not %lld", threads,
           answer_i64("half"));
    expect_near("share", answer_f64("share"), 0.25, 1e-3);
    expect(strcmp(answer_text("bound"), "memory") == 0, "`bound` is not %s", answer_text("bound"));
}

static const grading_case cases[] = {{.name = "all", .run = check_all}, {0}};
static const drawn_number numbers[] = {
    {"threads", 100, 999, 1}, {"seven", 7, 7, 1}, {"even", 2, 9, 2}, {0}};
static const exercise made = {.id = 215,
                              .name = "made",
                              .file = "phase2_cuda_basics/215_made.cu",
                              .parts = {"phase2_cuda_basics/215_made.h", FILE_NAME},
                              .answers = {"half", "share", "bound"},
                              .drawn = numbers,
                              .points = 10,
                              .cases = cases};

static char folder[] = "/tmp/answers.XXXXXX", path[64];

static void make_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
    make_folders_of(path);
}

static void remove_folder(void)
{
    remove_tree(folder);
    memset(folder + strlen(folder) - 6, 'X', 6);
}

static void write_answers(const char *text)
{
    write_text(text, "%s", path);
}

/* @return why it failed, "" if it passed; the caller frees */
static char *verdict_reason(void)
{
    const options o = {.build = "/no/such/build", .submission = "/no/such/folder"};
    const build b = {.exercise = &made, .root = folder, .place = ON_SOFTGPU, .ok = true, .log = ""};
    exercise_result r = judge(&o, &b, NULL, &(device_facts){.name = "none"});
    char *reason = strdup(r.reason);
    ck_assert_int_eq(*reason == '\0', r.status == PASSED);
    exercise_result_free(&r);
    return reason;
}

static long number_of(const char *student, const char *name)
{
    long number = -1;
    ck_assert(draw_number(&made, name, student, &number));
    return number;
}

static char *right_answers(const char *student)
{
    char *text = NULL;
    ck_assert_int_gt(asprintf(&text,
                              "# of block sizes\nstudent = %s\nhalf = %ld\nshare=0.25\n\n"
                              "bound = memory ; not arithmetic\n",
                              student, number_of(student, "threads") / 2),
                     0);
    return text;
}

START_TEST(right_answers_pass)
{
    static const char *const students[] = {"anna", "ben with a blank"};
    for (int i = 0; i < 2; i++) {
        char *text = right_answers(students[i]);
        write_answers(text);
        char *reason = verdict_reason();
        ck_assert_str_eq(reason, "");
        free(reason);
        free(text);
    }
}
END_TEST

START_TEST(numbers_differ_and_stay)
{
    ck_assert_int_eq(number_of("anna", "threads"), number_of("anna", "threads"));
    ck_assert_int_eq(number_of("anna", "seven"), 7);
    int same = 0;
    for (char name[] = "a"; *name <= 'z'; ++*name) {
        const long number = number_of(name, "threads");
        ck_assert(number >= 100 && number <= 999);
        same += number == number_of("anna", "threads");
        const long even = number_of(name, "even");
        ck_assert(even % 2 == 0 && even >= 2 && even <= 8);
    }
    ck_assert_int_le(same, 2);
    long unused;
    ck_assert(!draw_number(&made, "blocks", "anna", &unused));
}
END_TEST

static const struct {
    const char *text, *reason;
} wrong[] = {
    {NULL, "there is no " FILE_NAME},
    {"half = 3\n", FILE_NAME ": nothing stands behind `student`"},
    {"student =\nhalf = 3\n", FILE_NAME ": nothing stands behind `student`"},
    {"student = anna\n", FILE_NAME ": nothing stands behind `half`"},
    {"student = anna\nhalf = a few\n", "`half = a few` is not a whole number"},
    {"student = anna\nhalf = 12.5\n", "`half = 12.5` is not a whole number"},
    {"student = anna\nhalf = 99999999999999999999\n", "is not a whole number"},
    {"student = anna\nhalf = 1\nhlaf = 2\n",
     FILE_NAME ":3: there is no key `hlaf`; there are student, half, share, bound"},
    {"student = anna\nhalf = 1\nhalf = 2\n", FILE_NAME ":3: `half` is there already"},
    {"[half]\n", FILE_NAME ":1: a section has no place here"},
    {"student = anna\nhalf 1\n", FILE_NAME ":2: neither [section] nor name = value"},
    {"student = anna\nhalf = 1\n", "is not 1"},
};

START_TEST(wrong_answers_are_told)
{
    if (wrong[_i].text) write_answers(wrong[_i].text);
    char *reason = verdict_reason();
    ck_assert_msg(strstr(reason, wrong[_i].reason) != NULL, "%s: %s", wrong[_i].reason, reason);
    free(reason);
}
END_TEST

START_TEST(no_number_is_told)
{
    char *text = right_answers("anna"), *share = strstr(text, "0.25");
    memcpy(share, "1/4 ", 4);
    write_answers(text);
    char *reason = verdict_reason();
    ck_assert_str_eq(reason, "all: `share = 1/4` is not a number");
    free(reason);
    free(text);
}
END_TEST

Suite *suite_answers(void)
{
    Suite *suite = suite_create("answers");
    TCase *tcase = tcase_create("answers");
    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, right_answers_pass);
    tcase_add_test(tcase, numbers_differ_and_stay);
    tcase_add_loop_test(tcase, wrong_answers_are_told, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(tcase, no_number_is_told);
    suite_add_tcase(suite, tcase);
    return suite;
}
