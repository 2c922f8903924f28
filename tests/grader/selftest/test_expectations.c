/* test_expectations.c: first lines that claim something, nothing, and what there is not. */
#include "grader/tests.h"

#include "selftest/selftest.h"
#include "call/protocol.h"
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/claims.XXXXXX";

static void write_claim(const char *name, const char *line)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/grader/exercises/%s", root, name);
    make_folders_of(path);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s\n", line);
    fclose(file);
}

static void set_up(void)
{
    strcpy(root + strlen(root) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", root);
    ck_assert_int_eq(system(command), 0);
}

static claim *read_all(int *count, int *bad)
{
    const options o = {.root = root, .build = "/build"};
    return claims_read(&o, count, bad);
}

START_TEST(fields)
{
    int count, bad;
    write_claim("103_matmul_cpu/wrong/a.c", "// WRONG: 1x1x1 |  is , should | be  | race");
    claim *c = read_all(&count, &bad);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(bad, 0);
    ck_assert_int_eq(c->exercise->id, 103);
    ck_assert_int_eq(c->part, IN_CASE);
    ck_assert_str_eq(c->label, "103_matmul_cpu/wrong/a.c");
    ck_assert_str_eq(c->file, "grader/exercises/103_matmul_cpu/wrong/a.c");
    ck_assert_str_eq(c->name, "1x1x1");
    ck_assert_str_eq(c->text, "is , should");
    ck_assert_str_eq(c->condition, "be");
    claims_free(c, count);
}
END_TEST

START_TEST(a_folder_is_a_submission)
{
    int count, bad;
    write_claim("103_matmul_cpu/hostile/b/CLAIM", "// HOSTILE: build | link");
    claim *c = read_all(&count, &bad);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(c->part, IN_BUILD);
    ck_assert_str_eq(c->file, "phase1_cpu/103_matmul_cpu/103_matmul_cpu.c");
    ck_assert_ptr_nonnull(strstr(c->root, "grader/exercises/103_matmul_cpu/hostile/b"));
    claims_free(c, count);
}
END_TEST

START_TEST(a_patch_makes_a_submission)
{
    int count, bad;
    write_claim("103_matmul_cpu/wrong/a.patch",
                "// WRONG: 1x1x1 | is\n--- a/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c");
    write_claim("103_matmul_cpu/wrong/b.patch", "// WRONG: 1x1x1 | is\n--- a/right/halves.c");
    claim *c = read_all(&count, &bad);
    ck_assert_int_eq(count, 2);
    ck_assert_str_eq(c[0].root, "/build/patched/103_matmul_cpu/wrong/a.patch");
    ck_assert_str_eq(c[0].file, "phase1_cpu/103_matmul_cpu/103_matmul_cpu.c");
    ck_assert_str_eq(c[1].file, "right/halves.c");
    ck_assert_ptr_null(c[1].parts_root); /* they lie in its root */
    claims_free(c, count);
}
END_TEST

START_TEST(what_claims_nothing)
{
    int count, bad;
    write_claim("103_matmul_cpu/wrong/no_line.c", "#include <math.h>");
    write_claim("103_matmul_cpu/wrong/no_such_case.c", "// WRONG: 3x3x3x3 | is");
    write_claim("103_matmul_cpu/wrong/no_text.c", "// WRONG: 1x1x1");
    write_claim("999_none/wrong/no_exercise.c", "// WRONG: 1x1x1 | is");
    write_claim("103_matmul_cpu/wrong/build.c", "// WRONG: build | error");
    write_claim("104_matmul_cpu_ikj/slow/case.c", "// SLOW: 1x1x1 | is");
    claim *c = read_all(&count, &bad);
    ck_assert_int_eq(count, 0);
    ck_assert_int_eq(bad, 6);
    claims_free(c, count);
}
END_TEST

START_TEST(a_gpu_may_show_it_elsewhere)
{
    int count, bad;
    write_claim("407_graphs/wrong/a.cu", "// WRONG: graph_5_by_2 | is | hangs or launch_2_by_2");
    write_claim("407_graphs/wrong/b.cu", "// WRONG: graph_5_by_2 | is | softgpu");
    write_claim("407_graphs/wrong/c.cu", "// WRONG: graph_5_by_2 | is | or no_such_case");
    claim *c = read_all(&count, &bad);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(bad, 1);
    ck_assert_str_eq(c[0].name, "graph_5_by_2");
    ck_assert_str_eq(c[0].name_on_gpu, "launch_2_by_2");
    ck_assert_str_eq(c[1].name_on_gpu, "graph_5_by_2");
    claims_free(c, count);
}
END_TEST

#define WORDS_BEFORE_VALUE (offsetof(wire_argument, value) / 8 - 3)

/* Else they fail for another reason than the one they claim. */
START_TEST(forgers_know_the_protocol)
{
    static const struct {
        const char *file, *line;
        size_t number;
    } files[] = {{"104_matmul_cpu_ikj/hostile/forges_reply.c", "#define REPLY_BYTES %zu",
                  sizeof(wire_reply)},
                 {"106_matmul_cpu_vectorized/hostile/takes_over.c", "    char all[%zu];",
                  sizeof(wire_reply)},
                 {"106_matmul_cpu_vectorized/hostile/takes_over.c",
                  "    uint64_t kind, at, before, rest[%zu];", WORDS_BEFORE_VALUE}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_MAX], line[512];
        const char *course = getenv("COURSE_ROOT");
        size_t number = 0;
        snprintf(path, sizeof path, "%s/grader/exercises/%s", course ? course : ".", files[i].file);
        FILE *file = fopen(path, "r");
        ck_assert_ptr_nonnull(file);
        while (number == 0 && fgets(line, sizeof line, file)) {
            if (sscanf(line, files[i].line, &number) != 1) number = 0;
        }
        fclose(file);
        ck_assert_uint_eq(number, files[i].number);
    }
}
END_TEST

Suite *suite_claims(void)
{
    Suite *suite = suite_create("claims");
    TCase *tcase = tcase_create("claims");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, fields);
    tcase_add_test(tcase, a_folder_is_a_submission);
    tcase_add_test(tcase, a_patch_makes_a_submission);
    tcase_add_test(tcase, what_claims_nothing);
    tcase_add_test(tcase, a_gpu_may_show_it_elsewhere);
    tcase_add_test(tcase, forgers_know_the_protocol);
    suite_add_tcase(suite, tcase);
    return suite;
}
