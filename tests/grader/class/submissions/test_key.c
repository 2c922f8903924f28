/* test_key.c: what a grade depends on changes its key, what it does not depend on does not. */
#include "grader/class/tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[64], programs[96], hidden[96];
static class_options o;
static const char *words[] = {"grader", "grade", "--hidden", hidden, NULL};

static void write_in(const char *name, const char *text)
{
    write_text(text, "%s/%s", root, name);
}

static void set_up(void)
{
    snprintf(root, sizeof root, "/tmp/class.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(programs, sizeof programs, "%s/build", root);
    snprintf(hidden, sizeof hidden, "%s/hidden.json", root);
    setenv("COURSE_ROOT", root, 1);
    o = (class_options){.grader = words, .build = programs, .generation = 1};
}

static void tear_down(void)
{
    remove_tree(root);
}

static const struct {
    const char *file;
    bool counts;
} rows[] = {{"hidden.json", true},
            {"build/worker_cpu", true},
            {"build/libsoftgpu.so", true},
            {"build/softgpu_device", true},
            {"prebuilt/MANIFEST", true},
            {"common/random.h", true},
            {"common/mnist.c", true},
            {"phase2_cuda_basics/basics.h", true},
            {"solutions/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", true},
            {"solutions/skeletons.sha256", true},
            {"grader/exercises/206_matmul_naive/baseline.cu", true},
            {"emulator/cucc", true},
            {"emulator/include/cuda_runtime.h", true},
            {"emulator/frontends/clang.sh", true},
            {"phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", false},
            {"class.ini", false},
            {"docs/class.md", false}};

START_TEST(files_that_count)
{
    char before[HASH_HEX];
    write_in(rows[_i].file, "one");
    set_judge(&o);
    strcpy(before, o.judge);
    set_judge(&o);
    ck_assert_str_eq(o.judge, before);
    write_in(rows[_i].file, "two");
    set_judge(&o);
    ck_assert_int_eq(strcmp(o.judge, before) != 0, rows[_i].counts);
}
END_TEST

START_TEST(the_submission)
{
    submission s = {0};
    char first[HASH_HEX];
    snprintf(s.folder, sizeof s.folder, "%s/anna", root);
    write_in("anna/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", "one");
    set_key(&o, &s);
    strcpy(first, s.key);
    json_decref(s.files);
    write_in("anna/phase1_cpu/notes.txt", "nothing");
    set_key(&o, &s);
    ck_assert_str_eq(s.key, first);
    ck_assert_uint_eq(json_object_size(s.files), 1);
    json_decref(s.files);
    o.generation = 2;
    set_key(&o, &s);
    ck_assert_str_ne(s.key, first);
    json_decref(s.files);
    o.generation = 1;
    write_in("anna/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", "two");
    set_key(&o, &s);
    ck_assert_str_ne(s.key, first);
    json_decref(s.files);
}
END_TEST

Suite *suite_key(void)
{
    Suite *suite = suite_create("key");
    TCase *tcase = tcase_create("key");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, files_that_count, 0, sizeof rows / sizeof *rows);
    tcase_add_test(tcase, the_submission);
    suite_add_tcase(suite, tcase);
    return suite;
}
