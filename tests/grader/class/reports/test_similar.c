/*
 * test_similar.c: a copy with other names and comments is found; the skeleton, the page's hints and
 * two honest solutions by different hands are not.
 */
#include "grader/class/tests.h"

#include <stdlib.h>
#include <string.h>

static submission class[3];

static const char *root(void)
{
    const char *given = getenv("COURSE_ROOT");
    return given ? given : ".";
}

/* The file, as a shell command turns it. */
static void submit(int i, const char *from, const char *file, const char *sed)
{
    char command[3 * PATH_MAX], to[PATH_MAX];
    snprintf(class[i].folder, sizeof class[i].folder, "%s/%d", fake_folder, i);
    snprintf(class[i].student, sizeof class[i].student, "student%d", i);
    snprintf(to, sizeof to, "%s/%s", class[i].folder, file);
    make_folders_of(to);
    snprintf(command, sizeof command, "sed '%s' '%s/%s' >'%s'", sed, root(), from, to);
    ck_assert_int_eq(system(command), 0);
}

static char *pairs(size_t count)
{
    size_t size;
    char *text = NULL;
    FILE *memory = open_memstream(&text, &size);
    write_similar(memory, class, count, NULL);
    fclose(memory);
    return text;
}

#define TILED    "phase2_cuda_basics/211_matmul_tiled/211_matmul_tiled.cu"
#define SOLUTION "solutions/" TILED

START_TEST(a_copy_is_found)
{
    submit(0, SOLUTION, TILED, "");
    submit(1, SOLUTION, TILED, "s/\\<tile[a-z_]*/block_&/g;s/\\<row\\>/zeile/g;1i/* mine */");
    submit(2, TILED, TILED, "");
    char *text = pairs(3);
    ck_assert_msg(strstr(text, "211 matmul_tiled,1.00,student0,student1\n") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "student2") == NULL, "%s", text);
    free(text);
}
END_TEST

START_TEST(skeletons_are_nobodys)
{
    for (int i = 0; i < 3; i++) submit(i, TILED, TILED, "");
    char *text = pairs(3);
    ck_assert_str_eq(text, "exercise,share,student,student\n");
    free(text);
}
END_TEST

/* The corpus has solutions by another hand: the first of each exercise is 1's. */
START_TEST(honest_ones_are_not)
{
    char command[3 * PATH_MAX];
    for (int i = 0; i < 2; i++)
        snprintf(class[i].folder, sizeof class[i].folder, "%s/%d", fake_folder, i);
    snprintf(command, sizeof command,
             "cd '%s' && cp -r solutions '%s/0' && cd solutions && "
             "for file in phase*/*/[0-9]*.c*; do "
             "  exercise=${file##*/} to='%s'/1/$file; "
             "  for right in ../grader/exercises/${exercise%%%%.*}/right/*.c*; do "
             "    [ ! -f \"$right\" ] || { mkdir -p \"${to%%/*}\" && cp \"$right\" \"$to\"; }; "
             "    break; "
             "  done; "
             "done",
             root(), fake_folder, fake_folder);
    ck_assert_int_eq(system(command), 0);
    char *text = pairs(2);
    ck_assert_str_eq(text, "exercise,share,student,student\n");
    free(text);
    snprintf(command, sizeof command, "ls '%s'/1/phase*/*/* | wc -l | grep -q '[6-9][0-9]'",
             fake_folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(the_refused_are_left_out)
{
    submit(0, SOLUTION, TILED, "");
    submit(1, SOLUTION, TILED, "");
    strcpy(class[1].refused, "twice");
    char *text = pairs(2);
    ck_assert_str_eq(text, "exercise,share,student,student\n");
    free(text);
}
END_TEST

/* A course whose page gives the solution line by line, in the middle of sentences. */
START_TEST(lines_of_the_hints_are_nobodys)
{
    char command[4 * PATH_MAX], before[PATH_MAX];
    snprintf(before, sizeof before, "%s", root());
    submit(0, SOLUTION, TILED, "");
    submit(1, SOLUTION, TILED, "s/\\<row\\>/zeile/g");
    snprintf(command, sizeof command,
             "cd '%s' && mkdir -p course/phase2_cuda_basics/211_matmul_tiled && "
             "sed 's,/[*].*[*]/,,; s/^/Then comes `/; s/$/`, which is needed./' 0/%s "
             ">course/phase2_cuda_basics/211_matmul_tiled/README.md",
             fake_folder, TILED);
    ck_assert_int_eq(system(command), 0);
    snprintf(command, sizeof command, "%s/course", fake_folder);
    setenv("COURSE_ROOT", command, 1);
    char *text = pairs(2);
    setenv("COURSE_ROOT", before, 1);
    ck_assert_str_eq(text, "exercise,share,student,student\n");
    free(text);
}
END_TEST

Suite *suite_similar(void)
{
    Suite *suite = suite_create("similar");
    TCase *tcase = tcase_create("similar");
    tcase_add_checked_fixture(tcase, class_set_up, class_tear_down);
    tcase_add_test(tcase, a_copy_is_found);
    tcase_add_test(tcase, skeletons_are_nobodys);
    tcase_add_test(tcase, honest_ones_are_not);
    tcase_add_test(tcase, lines_of_the_hints_are_nobodys);
    tcase_add_test(tcase, the_refused_are_left_out);
    suite_add_tcase(suite, tcase);
    return suite;
}
