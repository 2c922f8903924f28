/*
 * test_loop.c: what a student is told between gradings: the map of the course and what comes next
 * (student/progress.c), and all that was found, each thing once (student/findings.c). In a course
 * of its own, with an exercise in each state.
 */
#include "grader/tests.h"

#include "student/student.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], mine[PATH_MAX], history[PATH_MAX], results[PATH_MAX];

static void write_file(const char *name, const char *text)
{
    write_text(text, "%s/%s", folder, name);
}

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/tmp/loop.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(history, sizeof history, "%s/history.jsonl", folder);
    snprintf(results, sizeof results, "%s/results.json", folder);
    write_file("mine/notes.txt", "");
    snprintf(mine, sizeof mine, "%s/mine", folder);
}

static void tear_down(void)
{
    remove_tree(folder);
}

/* What a command prints. */
static char *said_by(int (*command)(const options *), const options *o, int status)
{
    char path[PATH_MAX], *text = calloc(1, 1 << 14);
    snprintf(path, sizeof path, "%s/said", folder);
    ck_assert_ptr_nonnull(freopen(path, "w", stdout));
    ck_assert_int_eq(command(o), status);
    fflush(stdout);
    FILE *file = fopen(path, "r");
    ck_assert_uint_lt(fread(text, 1, (1 << 14) - 1, file), (1 << 14) - 1);
    fclose(file);
    return text;
}

static void expect_words(const char *said, const char *words)
{
    ck_assert_msg(strstr(said, words) != NULL, "%s in\n%s", words, said);
}

/* ---- the map, and the next ------------------------------------------------------------------- */

static void write_own(int id, const char *text)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "mine/%s", catalog_find(id)->file);
    write_file(name, text);
}

static void enter_of(const char *submission, int id, const char *status, double points)
{
    char hash[HASH_HEX];
    exercise_hash(catalog_find(id), mine, hash);
    json_t *record = json_pack("{s:s, s:s, s:i, s:i, s:{s:i, s:s, s:s, s:f, s:f}}", "submission",
                               submission, "sha256", hash, "cases", 14, "cases_passed", 3, "entry",
                               "id", id, "status", status, "reason", "2x3x4: the sign is wrong",
                               "points", points, "max_points", 10.0);
    ck_assert(history_append(history, record));
    json_decref(record);
}

static void enter(int id, const char *status, double points)
{
    enter_of(mine, id, status, points);
}

static void begin_course(void)
{
    char hash[HASH_HEX];
    static const int begun[] = {103, 104, 105, 106, 109, 110, 112};
    for (size_t i = 0; i < sizeof begun / sizeof *begun; i++) write_own(begun[i], "begun");
    write_own(112, "as handed out");
    exercise_hash(catalog_find(112), mine, hash);
    write_file("solutions/skeletons.sha256", hash);
    enter(103, "failed", 0);
    enter(103, "passed", 10);
    enter(104, "passed", 7.5);
    enter(105, "failed", 0);
    enter(106, "build_failed", 0);
    enter(109, "passed", 10);
    write_own(109, "changed");
    enter_of("/another", 105, "passed", 10);
    enter_of("/another", 110, "passed", 10);
    enter(111, "passed", 10); /* and the file is gone */
}

static options course_of(const char *exercises)
{
    return (options){.root = folder,
                     .submission = mine,
                     .history = history,
                     .results = results,
                     .exercises = exercises,
                     .phase = 1};
}

START_TEST(the_map_has_every_state)
{
    static const char *const words[] = {
        "Phase 1: CPU               [#+xo.]",
        "Beside the path:           [xo?]",
        "# 103 matmul_cpu             done                                10.0 / 10.0",
        "+ 104 matmul_cpu_ikj         right, points to gain                7.5 / 10.0",
        "x 105 matmul_cpu_blocked     failed, 3 of 14 cases passed         0.0 / 10.0",
        "x 106 matmul_cpu_vectorized  does not build                       0.0 / 10.0",
        "o 109 softmax_cross_entropy  changed since it was graded         10.0 / 10.0",
        "o 110 conv2d_cpu             begun, not graded yet                0.0 /",
        "? 111 linear_backward        the file is gone                     0.0 / 10.0",
        ". 112 mlp_cpu                not started                          0.0 /",
        "2 of 5 exercises on the path. ",
        "2 of 8 exercises, 27.5 of "};
    begin_course();
    const options o = course_of("103 104 105 106 109 110 111 112");
    char *said = said_by(progress, &o, 0);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) expect_words(said, words[i]);
    ck_assert(strstr(said, ". 112 mlp_cpu") < strstr(said, "x 105 matmul_cpu_blocked"));
    free(said);
}
END_TEST

/* Of 501 and what it calls: a program runs 501 to try it, failed or not, once it is written. */
START_TEST(unsolved_layers_are_the_courses)
{
    write_own(301, "passed");
    enter(301, "passed", 15);
    write_own(302, "not graded yet");
    write_own(303, "failed");
    enter(303, "failed", 0);
    write_own(314, "changed");
    enter(314, "failed", 0);
    write_own(314, "changed since it failed");
    write_own(404, "not graded yet, and without a tile to include");
    options o = course_of("501");
    o.phase = 0;
    char *said = said_by(needs, &o, 0);
    expect_words(
        said,
        "\nphase3_layers/301_activations/301_activations.cu\nphase3_layers/302_bias/302_bias.cu\n"
        "solutions/phase3_layers/303_linear/303_linear.cu\n"
        "solutions/phase3_layers/305_cross_entropy/305_cross_entropy.cu\nphase3_layers/314_adam/"
        "314_adam.cu\n");
    expect_words(said, "\nsolutions/phase4_optimization/404_fusion/404_fusion.cu\n"
                       "solutions/phase5_full_network/501_mnist/501_mnist.cu\n");
    free(said);
    write_own(501, "failed");
    enter(501, "failed", 0);
    said = said_by(needs, &o, 0);
    expect_words(said, "\nsolutions/phase4_optimization/404_fusion/404_fusion.cu\n"
                       "phase5_full_network/501_mnist/501_mnist.cu\n");
    free(said);
}
END_TEST

static const struct {
    const char *exercises, *words[3];
} nexts[] = {
    {"103 104 105 106 109 110 111 112",
     {"105 matmul_cpu_blocked: failed", "said: 2x3x4: the sign is wrong", "hint EX=105"}},
    {"103", {"All points of 1 exercises are yours"}},
    {"103 104", {"104 matmul_cpu_ikj: right", "2.5 points are left", "make compare EX=104"}},
    {"104 106", {"106 matmul_cpu_vectorized: failed", "make hint EX=106", ""}},
    {"104 109", {"You worked on it: make grade EX=109", "Worth   10.0 points", ""}},
    {"110", {"phase1_cpu/110_conv2d_cpu/README.md", "make grade EX=110", "/110_conv2d_cpu.c\n"}},
    {"111 104", {"make reset EX=111 hands it out again", "", ""}},
    {"112", {"112 mlp_cpu: not started", "  About 40 lines.\n", "Fill in the file, then: "}},
};

START_TEST(the_next_is_the_first_that_is_not_right)
{
    begin_course();
    write_file("phase1_cpu/112_mlp_cpu/README.md",
               "# 112\n\nAn idea.\n\n## Line budget\n\nAbout 40 lines.\n\n## Hints\n\nNone.\n");
    const options o = course_of(nexts[_i].exercises);
    char *said = said_by(next, &o, 0);
    for (int i = 0; i < 3 && nexts[_i].words[i]; i++) expect_words(said, nexts[_i].words[i]);
    ck_assert_ptr_null(strstr(said, "An idea"));
    ck_assert_ptr_null(strstr(said, "None"));
    free(said);
}
END_TEST

/* ---- the path -------------------------------------------------------------------------------- */

/* What comes behind an exercise (NULL: behind none), when all of phase 1 but these were solved. */
static const exercise *behind(const exercise *e, bool all, const char *left)
{
    const options wanted = {.exercises = left};
    options o = course_of(NULL);
    o.all = all;
    for (const exercise *const *one = catalog(); *one; one++) {
        if (id_phase((*one)->id) != 1 || options_want(&wanted, *one)) continue;
        write_own((*one)->id, "solved");
        enter((*one)->id, "passed", 10);
    }
    ck_assert_int_eq(next_after(&o, &e), 0);
    return e;
}

static const struct {
    const char *left;
    int behind;
    bool all;
    int next;
} ways[] = {
    {"102 104 105", 0, false, 104},   {"102 104 105", 0, true, 102},
    {"105 106 107", 103, false, 106}, {"105 106 107", 103, true, 105},
    {"104 107 108", 105, false, 104}, {"104 107 108", 105, true, 107},
    {"102 105", 101, false, 101},     {"102 105", 102, true, 105},
};

START_TEST(the_next_is_on_the_path_unless_all_is_asked_for)
{
    const exercise *from = ways[_i].behind ? catalog_find(ways[_i].behind) : NULL;
    ck_assert_int_eq(behind(from, ways[_i].all, ways[_i].left)->id, ways[_i].next);
}
END_TEST

START_TEST(behind_the_path_comes_what_lies_beside_it)
{
    behind(NULL, false, "102 105");
    options o = course_of(NULL);
    char *said = said_by(next, &o, 0);
    expect_words(said,
                 "All points of the path are yours. For all other exercises: make next ALL=1");
    free(said);
    o.all = true;
    said = said_by(next, &o, 0);
    expect_words(said, "  102 stopwatch: ");
    free(said);
}
END_TEST

START_TEST(without_a_submission_there_is_no_map)
{
    options o = course_of(NULL);
    o.submission = "/no/such/folder";
    free(said_by(progress, &o, 2));
    free(said_by(next, &o, 2));
    o = course_of(NULL);
    o.history = NULL;
    free(said_by(progress, &o, 2));
}
END_TEST

START_TEST(one_exercise_is_asked_for)
{
    options o = {.exercises = "211"};
    ck_assert_int_eq(the_exercise(&o, "profile")->id, 211);
    o.exercises = "206 211";
    ck_assert_ptr_null(the_exercise(&o, "profile"));
    o.exercises = "";
    ck_assert_ptr_null(the_exercise(&o, "profile"));
    o.exercises = NULL;
    ck_assert_ptr_null(the_exercise(&o, "profile"));
}
END_TEST

/* ---- findings -------------------------------------------------------------------------------- */

#define RACE(thread, times)                                                                        \
    "race: x.cu:3, kernel k, block (0,0,0), thread " thread ", " times " times"

static json_t *a_race(const char *text, int line)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:i}", "text", text, "function",
                     strchr(text, ' '), "kind", "race", "cause", text, "file", "x.cu", "line", line,
                     "kernel", "k", "count", 2);
}

static json_t *a_case(const char *name, const char *message, bool mismatch, json_t *findings)
{
    return json_pack("{s:s, s:s, s:s, s:b, s:o, s:i}", "name", name, "status",
                     *message ? "failed" : "passed", "message", message, "mismatch", mismatch,
                     "findings", findings, "seed", 5);
}

/* One mistake in two cases, another one in the second; a case that fails of a finding; a crash; a
 * wrong result. */
static json_t *made_results(void)
{
    json_t *cases = json_pack(
        "[o, o, o, o]",
        a_case("1x1", "c[0] is 1, should be 2", true,
               json_pack("[o]", a_race(RACE("(1,0,0)", "12"), 3))),
        a_case("3x3", "", false,
               json_pack("[o, o, o]", a_race(RACE("(31,2,0)", "7"), 3),
                         a_race(RACE("(30,2,0)", "7"), 3), a_race("race: x.cu:9", 9))),
        a_case("5x5", "it crashed", false, json_array()),
        a_case("7x7", "race: x.cu:11", false, json_pack("[o]", a_race("race: x.cu:11", 11))));
    return json_pack("{s:s, s:[{s:i, s:s, s:s, s:s, s:o}, {s:i, s:s, s:s, s:s, s:[]}]}",
                     "submission", "/mine", "exercises", "id", 206, "name", "matmul", "status",
                     "failed", "reason", "", "cases", cases, "id", 103, "name", "matmul_cpu",
                     "status", "build_failed", "reason", "no semicolon", "cases");
}

START_TEST(each_thing_is_found_once)
{
    static const char *const words[] = {
        "206 matmul                 4 cases, 3 of them failed; 4 findings\n",
        "    " RACE("(1,0,0)",
                    "12") "\n      in 2 cases, 6 times in all; again: make check EX=206 CASE='1x1' "
                          "SEED=5 SUBMISSION='/mine'\n",
        "    race: x.cu:9\n      in 1 case, 2 times in all; again: make check EX=206 CASE='3x3'",
        "    it crashed\n      in 1 case; again: make check EX=206 CASE='5x5' SEED=5",
        "    race: x.cu:11\n      in 1 case, 2 times in all; again: make check EX=206 CASE='7x7' "
        "SEED=5",
        "103 matmul_cpu             build_failed no semicolon\n",
        "\n  5 findings\n"};
    json_t *made = made_results();
    ck_assert_int_eq(json_dump_file(made, results, 0), 0);
    json_decref(made);
    options o = {.results = results};
    free(said_by(findings, &o, 0));
    o.strict = true;
    char *said = said_by(findings, &o, 1);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) expect_words(said, words[i]);
    ck_assert_ptr_null(strstr(said, "(31,2,0)"));
    ck_assert_ptr_null(strstr(said, "should be"));
    free(said);
}
END_TEST

START_TEST(nothing_found_is_told_too)
{
    const options o = {.results = results};
    free(said_by(findings, &o, 2));
    write_file("results.json", "{\"exercises\": [{\"id\": 206, \"cases\": [{\"name\": \"1x1\", "
                               "\"status\": \"passed\", \"finding\": \"\"}]}]}");
    char *said = said_by(findings, &o, 0);
    expect_words(said, "1 cases, 0 of them failed; 0 findings");
    expect_words(said, "\n  0 findings");
    free(said);
}
END_TEST

Suite *suite_loop(void)
{
    Suite *suite = suite_create("loop");
    TCase *tcase = tcase_create("loop");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, unsolved_layers_are_the_courses);
    tcase_add_test(tcase, the_map_has_every_state);
    tcase_add_loop_test(tcase, the_next_is_the_first_that_is_not_right, 0,
                        sizeof nexts / sizeof *nexts);
    tcase_add_loop_test(tcase, the_next_is_on_the_path_unless_all_is_asked_for, 0,
                        sizeof ways / sizeof *ways);
    tcase_add_test(tcase, behind_the_path_comes_what_lies_beside_it);
    tcase_add_test(tcase, without_a_submission_there_is_no_map);
    tcase_add_test(tcase, one_exercise_is_asked_for);
    tcase_add_test(tcase, each_thing_is_found_once);
    tcase_add_test(tcase, nothing_found_is_told_too);
    suite_add_tcase(suite, tcase);
    return suite;
}
