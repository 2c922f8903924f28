/*
 * test_submission.c: submissions as they come at midnight. Whatever 103 is, it gets a clear failure
 * and no points, and 104 beside it is graded as if nothing had happened. The folder's name has
 * spaces and quotes.
 */
#include "grader/tests.h"

#include "verdict/verdict.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BODY "void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)\n{\n"
#define END  "    (void)c, (void)a, (void)b, (void)m, (void)n, (void)k;\n}\n"

static const struct {
    const char *name, *source, *status, *reason;
} rows[] = {
    {"no file", NULL, "build_failed", "has no file"},
    {"no C", "\x01\x02\xff\xfe rubbish {{{", "build_failed", "error"},
    {"syntax error", BODY "    return 1 +;\n}\n", "build_failed", "103_matmul_cpu.c:3"},
    {"other function", "int other(void)\n{\n    return 1;\n}\n", "failed", "does not define"},
    {"does nothing", BODY END, "failed", "never written"},
    {"undefined", "void missing(void);\n" BODY "    missing();\n" END, "build_failed", "missing"},
    {"crash", BODY "    *(volatile int *)8 = 1;\n" END, "failed", "segmentation fault"},
    {"past the end", BODY "    for (int i = 0; i <= m * n; i++) c[i] = 0;\n" END, "failed",
     "past the end of `c`"},
    {"writes input", BODY "    ((float *)a)[0] += 1;\n" END, "failed", "const"},
    {"exit", "#include <stdlib.h>\n" BODY "    exit(0);\n" END, "failed", "exited with status 0"},
    {"exit at load",
     "#include <unistd.h>\n__attribute__((constructor)) static void f(void)\n{\n    "
     "_exit(0);\n}\n" BODY END,
     "failed", "exited with status 0"},
    {"hang", BODY "    for (volatile int i = 0;; i = 0) {\n    }\n" END, "failed",
     "did not return within"},
    {"flood",
     "#include <stdio.h>\n" BODY
     "    for (;;) puts(\"a line that is printed again and again\");\n" END,
     "failed", "printed more than"},
    {"closes its channel",
     "#include <unistd.h>\n" BODY "    for (int i = 0; i < 64; i++) close(i);\n" END, "failed",
     "did not return"},
    {"forged reply",
     "#include <string.h>\n#include <unistd.h>\n" BODY
     "    char reply[64 << 10];\n    memset(reply, 0, sizeof reply);\n"
     "    for (int size = 64; size < 8192; size += 8) if (write(3, reply, size) < 0) break;\n" END,
     "failed", ""},
};

static char folder[PATH_MAX], results[PATH_MAX + 16];

static void remove_folder(void)
{
    const char *const argv[] = {"rm", "-rf", folder, NULL};
    free(process_run(argv, NULL, 600.0, 100).output);
}

static void make_folder(void)
{
    char path[PATH_MAX + 64];
    const char *build = getenv("COURSE_BUILD"), *root = getenv("COURSE_ROOT");
    snprintf(folder, sizeof folder, "%s/it's a \"sub mission\" %d", build ? build : "build",
             (int)getpid());
    snprintf(results, sizeof results, "%s/results.json", folder);
    remove_folder();
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c", folder);
    make_folders_of(path);
    char original[PATH_MAX];
    snprintf(original, sizeof original,
             "%s/solutions/phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c", root ? root : ".");
    const char *const argv[] = {"cp", original, path, NULL};
    free(process_run(argv, NULL, 600.0, 100).output);
}

static json_t *grade_folder(const char *exercises, int *status)
{
    char grader[PATH_MAX];
    const char *build = getenv("COURSE_BUILD");
    snprintf(grader, sizeof grader, "%s/grader", build ? build : "build");
    const char *const argv[] = {grader,    "grade",     "--submission", folder, "--exercise",
                                exercises, "--results", results,        NULL};
    process_result r = process_run(argv, NULL, 600.0, 10000);
    *status = r.status;
    free(r.output);
    return json_load_file(results, 0, NULL);
}

static const char *field(json_t *root, size_t index, const char *name)
{
    json_t *entry = json_array_get(json_object_get(root, "exercises"), index);
    const char *value = json_string_value(json_object_get(entry, name));
    return value ? value : "";
}

static void put_103(const char *source)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", folder);
    if (source) write_text(source, "%s", path);
}

START_TEST(bad_input)
{
    int status;
    put_103(rows[_i].source);
    json_t *root = grade_folder("103", &status);
    ck_assert_int_eq(status, 0);
    ck_assert_msg(strcmp(field(root, 0, "status"), rows[_i].status) == 0, "%s: %s, %s",
                  rows[_i].name, field(root, 0, "status"), field(root, 0, "reason"));
    ck_assert_msg(strstr(field(root, 0, "reason"), rows[_i].reason) != NULL, "%s: %s",
                  rows[_i].name, field(root, 0, "reason"));
    ck_assert_double_eq(json_number_value(json_object_get(root, "points")), 0);
    json_decref(root);
}
END_TEST

/* Names are unique: files may lie beside the folders of the phases, or without any. */
START_TEST(flat_files_are_graded)
{
    int status;
    char from[PATH_MAX + 64], to[PATH_MAX + 64];
    snprintf(from, sizeof from, "%s/phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c", folder);
    snprintf(to, sizeof to, "%s/104_matmul_cpu_ikj.c", folder);
    ck_assert_int_eq(rename(from, to), 0);
    json_t *root = grade_folder("104", &status);
    ck_assert_int_eq(status, 0);
    ck_assert_str_eq(field(root, 0, "status"), "passed");
    ck_assert_int_eq(strlen(field(root, 0, "sha256")), 64);
    json_decref(root);
}
END_TEST

/* A file in the folder of its phase, where exercises lay once, is not passed over. */
START_TEST(a_misplaced_file_is_told_its_place)
{
    char path[PATH_MAX + 64], grader[PATH_MAX];
    const char *build = getenv("COURSE_BUILD");
    snprintf(path, sizeof path, "%s/phase1_cpu/103_matmul_cpu.c", folder);
    write_text(BODY END, "%s", path);
    snprintf(grader, sizeof grader, "%s/grader", build ? build : "build");
    const char *const argv[] = {grader,  "grade", "--submission", folder, "--results",
                                results, NULL};
    process_result r = process_run(argv, NULL, 600.0, 10000);
    ck_assert_int_eq(r.status, 2);
    ck_assert_msg(strstr(r.output, "move phase1_cpu/103_matmul_cpu.c") != NULL, "%s", r.output);
    ck_assert_msg(strstr(r.output, "to phase1_cpu/103_matmul_cpu/103_matmul_cpu.c") != NULL, "%s",
                  r.output);
    free(r.output);
}
END_TEST

START_TEST(the_others_are_graded)
{
    int status;
    put_103(BODY "    *(volatile int *)8 = 1;\n" END);
    json_t *root = grade_folder("103 104", &status);
    ck_assert_int_eq(status, 0);
    ck_assert_str_eq(field(root, 0, "status"), "failed");
    ck_assert_str_eq(field(root, 1, "status"), "passed");
    json_decref(root);
}
END_TEST

START_TEST(a_source_of_100_MB)
{
    int status;
    char path[PATH_MAX + 64];
    put_103(" ");
    snprintf(path, sizeof path, "%s/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", folder);
    ck_assert_int_eq(truncate(path, 100 << 20), 0);
    json_t *root = grade_folder("103", &status);
    ck_assert_str_eq(field(root, 0, "status"), "build_failed");
    ck_assert_ptr_nonnull(strstr(field(root, 0, "reason"), "1 MiB"));
    json_decref(root);
}
END_TEST

START_TEST(no_folder)
{
    int status;
    const size_t length = strlen(folder);
    snprintf(folder + length, sizeof folder - length, "/no such folder");
    json_t *root = grade_folder("103", &status);
    folder[length] = '\0';
    ck_assert_int_eq(status, 2);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(root, "error")), "no folder"));
    json_decref(root);
}
END_TEST

Suite *suite_submission(void)
{
    Suite *suite = suite_create("submission");
    TCase *tcase = tcase_create("submission");
    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_loop_test(tcase, bad_input, 0, sizeof rows / sizeof *rows);
    tcase_add_test(tcase, the_others_are_graded);
    tcase_add_test(tcase, flat_files_are_graded);
    tcase_add_test(tcase, a_misplaced_file_is_told_its_place);
    tcase_add_test(tcase, a_source_of_100_MB);
    tcase_add_test(tcase, no_folder);
    suite_add_tcase(suite, tcase);
    return suite;
}
