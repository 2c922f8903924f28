/*
 * test_prebuilt.c: the compiled libraries of a handout: which one is taken, and that none is used
 * that is damaged, missing, or made for another machine.
 */
#include "grader/tests.h"

#include "build/build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LIBRARY "not really a library"

static char root[64];

static void write_file(const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    make_folders_of(path);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void hash_of_library(char hex[HASH_HEX])
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/prebuilt/softgpu/302.so", root);
    hash *h = hash_begin();
    hash_file(h, path);
    hash_end(h, hex);
}

/* A handout of two libraries for softgpu, and what its manifest says besides. */
static void hand_out(const char *more)
{
    char text[1024], hex[HASH_HEX];
    write_file("prebuilt/softgpu/302.so", LIBRARY);
    write_file("prebuilt/softgpu/302_baseline.so", LIBRARY);
    hash_of_library(hex);
    snprintf(text, sizeof text,
             "# cc: of 2026: the best\n%s  softgpu/302.so\n%s  softgpu/302_baseline.so\n%s", hex,
             hex, more);
    write_file("prebuilt/MANIFEST", text);
}

static void set_up(void)
{
    snprintf(root, sizeof root, "/tmp/prebuilt.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void tear_down(void)
{
    remove_tree(root);
}

static options course(backend b)
{
    return (options){.root = root, .backend = b};
}

START_TEST(the_whole_course_has_none)
{
    char why[PREBUILT_WHY] = "";
    const options o = course(BACKEND_CPU);
    ck_assert(!prebuilt_exists(&o));
    ck_assert(prebuilt_check(&o, why));
    hand_out("");
    ck_assert(prebuilt_exists(&o));
}
END_TEST

/* ---- which one ------------------------------------------------------------------------------- */

static const struct {
    int id;
    bool baseline;
    place place;
    const char *library; /* or NULL: there is none, and the log says */
    const char *log;
} taken[] = {
    {302, false, ON_SOFTGPU, "softgpu/302.so", ""},
    {302, true, ON_SOFTGPU, "softgpu/302_baseline.so", ""},
    {303, false, ON_SOFTGPU, NULL, "this handout was made without prebuilt/softgpu/303.so"},
    {302, false, ON_GPU, NULL, "this handout was made without prebuilt/cuda/302.so"},
    {104, true, ON_HOST, NULL, "104_baseline.so"},
};

START_TEST(a_library_is_taken_by_its_name)
{
    char path[PATH_MAX], hex[HASH_HEX];
    const options o = course(BACKEND_CPU);
    hand_out("");
    hash_of_library(hex);
    const exercise *e = catalog_find(taken[_i].id);
    build b = {.exercise = e,
               .file = e->file,
               .place = taken[_i].place,
               .baseline = taken[_i].baseline,
               .prebuilt = true};
    prebuilt_take(&o, &b);
    ck_assert_int_eq(b.ok, taken[_i].library != NULL);
    ck_assert_msg(strstr(b.log, taken[_i].log) != NULL, "%s", b.log);
    if (taken[_i].library) {
        snprintf(path, sizeof path, "%s/prebuilt/%s", root, taken[_i].library);
        ck_assert_str_eq(b.library, path);
        ck_assert_str_eq(b.key, hex); /* of what is remembered of an exercise that calls it */
        ck_assert_str_eq(b.log, "");
    }
    free(b.log);
}
END_TEST

/* ---- can they be used? ----------------------------------------------------------------------- */

static void expect_good(backend b)
{
    char why[PREBUILT_WHY] = "";
    const options o = course(b);
    ck_assert_msg(prebuilt_check(&o, why), "%s", why);
}

static void expect_flaw(backend b, const char *words)
{
    char why[PREBUILT_WHY] = "";
    const options o = course(b);
    ck_assert(!prebuilt_check(&o, why));
    ck_assert_msg(strstr(why, words) != NULL, "%s", why);
}

START_TEST(each_must_be_whole)
{
    char path[PATH_MAX];
    hand_out("");
    expect_good(BACKEND_CPU);
    write_file("prebuilt/softgpu/302_baseline.so", LIBRARY ".");
    expect_flaw(BACKEND_CPU, "prebuilt/softgpu/302_baseline.so is damaged or missing");
    write_file("prebuilt/softgpu/302_baseline.so", LIBRARY);
    expect_good(BACKEND_CPU);
    snprintf(path, sizeof path, "%s/prebuilt/softgpu/302.so", root);
    ck_assert_int_eq(unlink(path), 0);
    expect_flaw(BACKEND_CPU, "prebuilt/softgpu/302.so is damaged or missing");
}
END_TEST

START_TEST(only_what_is_used_here_must_be)
{
    hand_out("0123  cuda/302.so\n0123  x86-64-v9/104_baseline.so\n0123  softgpu2/302.so\n");
    expect_good(BACKEND_CPU);
    expect_flaw(BACKEND_CUDA, "prebuilt/cuda/302.so is damaged or missing");
}
END_TEST

START_TEST(it_must_be_this_kind_of_machine)
{
    struct utsname here;
    char line[128];
    uname(&here);
    snprintf(line, sizeof line, "# machine: %s\n", here.machine);
    hand_out(line);
    expect_good(BACKEND_CPU);
    hand_out("# machine: vax\n");
    expect_flaw(BACKEND_CPU, "this handout is for vax, and this machine is ");
}
END_TEST

START_TEST(a_gpu_needs_the_runtime_of_then)
{
    char folder[PATH_MAX];
    hand_out("# cudart: libcudart.so.13\n");
    expect_good(BACKEND_CPU);
    unsetenv("CUDA_LIB");
    expect_flaw(BACKEND_CUDA, "made with libcudart.so.13, which is not in CUDA_LIB");
    snprintf(folder, sizeof folder, "%s/lib", root);
    setenv("CUDA_LIB", folder, 1);
    write_file("lib/libcudart.so.12", "");
    expect_flaw(BACKEND_CUDA, "made with libcudart.so.13");
    write_file("lib/libcudart.so.13", "");
    expect_good(BACKEND_CUDA);
}
END_TEST

START_TEST(to_make_them_one_says_where)
{
    const options o = course(BACKEND_CPU);
    ck_assert_int_eq(prebuild(&o), 2);
}
END_TEST

Suite *suite_prebuilt(void)
{
    Suite *suite = suite_create("prebuilt");
    TCase *tcase = tcase_create("prebuilt");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_whole_course_has_none);
    tcase_add_test(tcase, to_make_them_one_says_where);
#ifdef __x86_64__ /* handouts are for nothing else */
    tcase_add_loop_test(tcase, a_library_is_taken_by_its_name, 0, sizeof taken / sizeof *taken);
    tcase_add_test(tcase, each_must_be_whole);
    tcase_add_test(tcase, only_what_is_used_here_must_be);
    tcase_add_test(tcase, it_must_be_this_kind_of_machine);
    tcase_add_test(tcase, a_gpu_needs_the_runtime_of_then);
#endif
    suite_add_tcase(suite, tcase);
    return suite;
}
