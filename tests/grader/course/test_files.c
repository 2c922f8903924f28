/*
 * test_files.c: the small readers of files: hashes (hash.c), where a verdict comes from (origin.c),
 * hints (hint.c), the device (device.c); and what of common/ has no test of its own.
 */
#include "grader/tests.h"

#include "course/course.h"
#include "not_implemented.h"
#include "progress.h"
#include "timer.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int hint(const options *); /* student.h has another progress than common/progress.h */

static char folder[64], path[96];

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/tmp/files.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
}

static void tear_down(void)
{
    remove_tree(folder);
}

static void put(const char *name, const char *text)
{
    write_text(text, "%s/%s", folder, name);
}

/* What was printed to standard output since it was sent to the file. */
static char *printed(void)
{
    char *text = calloc(1, 4096);
    fflush(stdout);
    FILE *from = fopen(path, "r");
    const size_t bytes = fread(text, 1, 4095, from);
    fclose(from);
    text[bytes] = '\0';
    return text;
}

/* ---- files.c --------------------------------------------------------------------------------- */

static char first_of(const char *top, const char *file)
{
    char first = 0;
    const int from = open_beneath(top, file);
    if (from >= 0 && read(from, &first, 1) < 0) first = 0;
    if (from >= 0) close(from);
    return first;
}

/* A folder and a link to a secret take each other's place all the time. */
START_TEST(nothing_is_opened_through_a_link)
{
    char mine[96], other[96], theirs[96];
    snprintf(mine, sizeof mine, "%s/mine", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(theirs, sizeof theirs, "%s/theirs", folder);
    put("mine/file", "m");
    put("theirs/file", "t");
    ck_assert_int_eq(symlink(theirs, other), 0);
    ck_assert_int_eq(first_of(folder, "mine/file"), 'm');
    ck_assert_int_eq(first_of(other, "file"), 't');
    ck_assert(first_of(folder, "other/file") == 0 && errno == ENOTDIR);
    ck_assert(first_of(folder, "other") == 0 && errno == ELOOP);
    ck_assert(first_of(folder, "none/file") == 0 && errno == ENOENT);
    const pid_t child = fork();
    while (child == 0) renameat2(AT_FDCWD, mine, AT_FDCWD, other, RENAME_EXCHANGE);
    int well = 0;
    for (int i = 0; i < 20000; i++) {
        const char first = first_of(folder, "mine/file");
        ck_assert_int_ne(first, 't');
        well += first == 'm';
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ck_assert_int_gt(well, 0);
}
END_TEST

/* ---- hash.c ---------------------------------------------------------------------------------- */

static bool hash_of(const char *file, char hex[HASH_HEX])
{
    hash *h = hash_begin();
    const bool there = hash_file(h, file);
    hash_end(h, hex);
    return there;
}

START_TEST(hashes_are_sha256)
{
    char hex[HASH_HEX], none[HASH_HEX];
    put("file", "abc");
    ck_assert(hash_of(path, hex));
    ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_end(hash_begin(), none);
    ck_assert_str_eq(none, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    ck_assert(!hash_of("/no/such/file", hex));
    ck_assert_str_eq(hex, none);
}
END_TEST

START_TEST(what_is_no_file_has_no_hash)
{
    char hex[HASH_HEX];
    ck_assert(!hash_of(folder, hex));
    ck_assert(!hash_of("/dev/zero", hex));
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert(!hash_of(path, hex)); /* and nobody waits for its writer */
}
END_TEST

START_TEST(two_texts_are_not_one)
{
    char apart[HASH_HEX], together[HASH_HEX];
    hash *h = hash_begin();
    hash_text(h, "a");
    hash_text(h, "b");
    hash_end(h, apart);
    h = hash_begin();
    hash_text(h, "ab");
    hash_end(h, together);
    ck_assert_str_ne(apart, together);
}
END_TEST

/* ---- origin.c -------------------------------------------------------------------------------- */

static char *hash_of_cases(void)
{
    const options o = {.root = folder};
    json_t *all = origin_hashes(&o);
    const char *hex = json_string_value(json_object_get(all, "cases"));
    char *copy = hex ? strdup(hex) : NULL;
    json_decref(all);
    return copy;
}

START_TEST(a_hash_of_sources_counts_names_and_bytes)
{
    ck_assert_ptr_null(hash_of_cases()); /* there are none */
    put("grader/exercises/103_a/cases.c", "int a;");
    char *first = hash_of_cases(), *same = hash_of_cases();
    put("grader/exercises/103_a/cases.c", "int b;");
    char *other_bytes = hash_of_cases();
    put("grader/exercises/103_a/cases.c", "int a;");
    put("grader/exercises/104_b/cases.c", "");
    char *one_more = hash_of_cases();
    char from[128], to[128];
    snprintf(from, sizeof from, "%s/grader/exercises/104_b/cases.c", folder);
    snprintf(to, sizeof to, "%s/grader/exercises/105_c", folder);
    ck_assert_int_eq(rename(from, to), 0);
    char *other_name = hash_of_cases();
    ck_assert_str_eq(first, same);
    ck_assert_str_ne(first, other_bytes);
    ck_assert_str_ne(first, one_more);
    ck_assert_str_ne(one_more, other_name);
    free(first), free(same), free(other_bytes), free(one_more), free(other_name);
}
END_TEST

START_TEST(a_commit_may_be_told)
{
    char commit[64];
    const options o = {.root = folder};
    setenv("COURSE_COMMIT", "told", 1);
    origin_commit(&o, commit);
    ck_assert_str_eq(commit, "told");
    unsetenv("COURSE_COMMIT");
    origin_commit(&o, commit); /* the folder is no repository */
    ck_assert_str_eq(commit, "unknown");
    json_t *modified = origin_modified(&o);
    ck_assert(json_is_null(modified));
    json_decref(modified);
}
END_TEST

START_TEST(what_is_not_committed_is_told)
{
    const options o = {.root = folder};
    const char *const argv[] = {"sh", "-c",
                                "git init -q && git add . && git -c user.name=n -c user.email=e "
                                "commit -qm first",
                                NULL};
    put("grader/a.c", "int a;");
    put("phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", "int a;");
    process_result r = process_run(argv, folder, 600.0, 1000);
    ck_assert_msg(r.status == 0, "%s", r.output);
    free(r.output);
    put("phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", "int b;"); /* is the student's */
    ck_assert(json_is_false(origin_modified(&o)));
    put("grader/a.c", "int b;");
    ck_assert(json_is_true(origin_modified(&o)));
}
END_TEST

/* ---- hint.c ---------------------------------------------------------------------------------- */

#define PAGE                                                                                       \
    "# 103\n\n### Hint 1\n\n<details>\n\nthe first\n\n</details>\n\n### Hint 2\nthe second\n### "  \
    "Hint 3\nthe third\n## End\n"

static void expect_hint(const options *o, const char *words, const char *not_these)
{
    ck_assert_ptr_nonnull(freopen(path, "w", stdout));
    ck_assert_int_eq(hint(o), 0);
    char *text = printed();
    ck_assert_msg(strstr(text, words) && !strstr(text, not_these), "%s", text);
    free(text);
}

START_TEST(hints_come_one_after_the_other)
{
    const options o = {.root = folder, .build = folder, .exercises = "103"};
    put("phase1_cpu/103_matmul_cpu/README.md", PAGE);
    expect_hint(&o, "Hint 1\n\nthe first\n\n(1 of 3", "the second");
    expect_hint(&o, "the second", "the first");
    expect_hint(&o, "the third\n(3 of 3; from the first again", "End");
    expect_hint(&o, "the first", "the third"); /* from the start */
}
END_TEST

START_TEST(no_page_no_hint)
{
    const options o = {.root = folder, .build = folder, .exercises = "103"};
    const options none = {.root = folder, .build = folder, .exercises = NULL};
    const options unknown = {.root = folder, .build = folder, .exercises = "999"};
    ck_assert_int_eq(hint(&o), 2);
    ck_assert_int_eq(hint(&none), 2);
    ck_assert_int_eq(hint(&unknown), 2);
}
END_TEST

/* ---- device.c -------------------------------------------------------------------------------- */

START_TEST(a_place_needs_its_worker)
{
    const options o = {.build = folder};
    unsetenv("NVCC");
    ck_assert_ptr_null(place_needs(&o, ON_HOST));
    ck_assert_str_eq(place_needs(&o, ON_SOFTGPU), "nvcc or clang");
    ck_assert_str_eq(place_needs(&o, ON_GPU), "nvcc");
    put("worker_softgpu", "");
    char file[128];
    snprintf(file, sizeof file, "%s/worker_softgpu", folder);
    chmod(file, 0700);
    ck_assert_ptr_null(place_needs(&o, ON_SOFTGPU));
    setenv("NVCC", "nvcc", 1);
    ck_assert_str_eq(place_needs(&o, ON_GPU), "the CUDA runtime");
    device_facts facts = device_facts_read(&o);
    ck_assert_int_eq(strncmp(facts.name, "softgpu on ", 11), 0);
}
END_TEST

START_TEST(tensor_cores_of_an_architecture)
{
    /* An H200: 132 SMs at 1.98 GHz, 989 TFLOP/s at the 1.83 GHz of its data sheet. */
    ck_assert_double_eq_tol(132 * 1.83e9 * tensor_operations(90, IN_HALF), 989.5e12, 0.5e12);
    ck_assert_double_eq_tol(108 * 1.41e9 * tensor_operations(80, IN_TF32), 156e12, 0.5e12);
    ck_assert_double_eq(tensor_operations(90, IN_INT8), 2 * tensor_operations(90, IN_HALF));
    ck_assert_double_eq(tensor_operations(75, IN_TF32), 0);
    ck_assert_double_eq(tensor_operations(121, IN_HALF), 0); /* not known: no ceiling */
}
END_TEST

/* ---- common ---------------------------------------------------------------------------------- */

START_TEST(the_first_stub_is_named_once)
{
    ck_assert_ptr_null(not_implemented_take());
    not_implemented("first");
    not_implemented("second");
    ck_assert_str_eq(not_implemented_take(), "first");
    ck_assert_ptr_null(not_implemented_take());
}
END_TEST

START_TEST(progress_in_a_file_is_one_line_at_the_end)
{
    ck_assert_ptr_nonnull(freopen(path, "w", stdout));
    progress bar = progress_begin("work", 10);
    for (int i = 1; i <= 10; i++) progress_step(&bar, i, "step %d", i);
    progress_end(&bar, "%d done", 10);
    char *text = printed();
    double seconds = -1;
    ck_assert_msg(sscanf(text, "work: 10 done (%lf s)", &seconds) == 1 && seconds >= 0 &&
                      seconds < 60,
                  "%s", text);
    ck_assert_ptr_eq(strchr(text, '\n'), strrchr(text, '\n'));
    free(text);
}
END_TEST

START_TEST(the_clock_goes_forward)
{
    const double before = seconds_now();
    usleep(20000);
    const double passed = seconds_now() - before;
    ck_assert(passed >= 0.02 && passed < 20);
}
END_TEST

static const struct {
    int id;
    const char *name; /* that the file has */
    bool seen;
} misnamed[] = {{209, "209_Transpose.cu", true},
                {207, "207_shared_memory (1).cu", true},
                {101, "101_compare.cpp", true},
                {209, "phase2_cuda_basics/209_transpose/209 transpose.cu", true},
                {209, "phase2_cuda_basics/209_transpose.CU", true},
                {209, "209_transpose.cu", false},
                {209, "2091_transpose.cu", false},
                {209, "209_times.csv", false},
                {209, "210_scan.cu", false}};

START_TEST(a_name_that_is_nearly_right)
{
    char words[MISNAMED_WORDS];
    put(misnamed[_i].name, "");
    ck_assert_int_eq(misnamed_file(catalog_find(misnamed[_i].id), folder, words),
                     misnamed[_i].seen);
    ck_assert_int_eq(strstr(words, ": not graded") != NULL, misnamed[_i].seen);
}
END_TEST

Suite *suite_files(void)
{
    Suite *suite = suite_create("files");
    TCase *tcase = tcase_create("files");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, nothing_is_opened_through_a_link);
    tcase_add_test(tcase, hashes_are_sha256);
    tcase_add_test(tcase, what_is_no_file_has_no_hash);
    tcase_add_test(tcase, two_texts_are_not_one);
    tcase_add_test(tcase, a_hash_of_sources_counts_names_and_bytes);
    tcase_add_test(tcase, a_commit_may_be_told);
    tcase_add_test(tcase, what_is_not_committed_is_told);
    tcase_add_test(tcase, hints_come_one_after_the_other);
    tcase_add_test(tcase, no_page_no_hint);
    tcase_add_test(tcase, a_place_needs_its_worker);
    tcase_add_test(tcase, tensor_cores_of_an_architecture);
    tcase_add_test(tcase, the_first_stub_is_named_once);
    tcase_add_test(tcase, progress_in_a_file_is_one_line_at_the_end);
    tcase_add_test(tcase, the_clock_goes_forward);
    tcase_add_loop_test(tcase, a_name_that_is_nearly_right, 0, sizeof misnamed / sizeof *misnamed);
    suite_add_tcase(suite, tcase);
    return suite;
}
