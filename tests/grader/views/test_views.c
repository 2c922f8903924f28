/*
 * test_views.c: every view of a stored results.json (views/results.json), which holds failures of
 * each kind and words that mean something to each format.
 */
#include "grader/tests.h"

#include "views/views.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *course_file(const char *name)
{
    static char path[PATH_MAX];
    const char *root = getenv("COURSE_ROOT");
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", name);
    return path;
}

static json_t *load(const char *name)
{
    json_error_t error;
    json_t *results = json_load_file(course_file(name), 0, &error);
    ck_assert_msg(results != NULL, "%s: %s", name, error.text);
    return results;
}

#define STORED "tests/grader/views/results.json"

/* What a view makes of results; the caller frees. */
static char *view_of(const json_t *results, const char *format, const options *o)
{
    size_t size;
    char *text = NULL;
    FILE *memory = open_memstream(&text, &size);
    const bool done = view_find(format)->write(o, results, memory);
    fclose(memory);
    if (done) return text;
    free(text);
    return NULL;
}

static char *stored_view(const char *format)
{
    const options o = {0};
    json_t *results = load(STORED);
    char *text = view_of(results, format, &o);
    json_decref(results);
    return text;
}

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (; (text = strstr(text, word)); text += strlen(word)) count++;
    return count;
}

static bool has_program(const char *name)
{
    const char *const argv[] = {name, "--version", NULL};
    process_result r = process_run(argv, NULL, 600.0, 256);
    free(r.output);
    return r.status == 0;
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

static void check_by_schema(const char *xml)
{
    char path[] = "/tmp/junit.XXXXXX";
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, xml, strlen(xml)), (ssize_t)strlen(xml));
    close(file);
    const char *const argv[] = {
        "xmllint", "--noout", "--schema", course_file("tests/grader/views/junit.xsd"), path, NULL};
    process_result r = process_run(argv, NULL, 600.0, 4096);
    unlink(path);
    ck_assert_msg(r.status == 0, "%s", r.output);
    free(r.output);
}

START_TEST(junit_keeps_its_schema)
{
    char *xml = stored_view("junit");
    ck_assert_int_eq(count_of(xml, "<testsuite "), 11);
    ck_assert_int_eq(count_of(xml, "<error "), 1);
    ck_assert_ptr_nonnull(
        strstr(xml, "file=\"phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c\" line=\"21\""));
    ck_assert_int_eq(count_of(xml, "<script"), 0);
    if (has_program("xmllint")) {
        check_by_schema(xml);
    } else {
        printf("skipped: JUnit's schema, which needs xmllint\n");
    }
    free(xml);
}
END_TEST

START_TEST(no_grading_is_an_error_in_every_view)
{
    const options o = {0};
    static const char *const formats[] = {"junit",   "gradescope", "github",
                                          "summary", "csv",        "html"};
    json_t *results =
        json_pack("{s:i, s:s, s:s, s:f, s:f, s:[]}", "schema", 1, "backend", "cpu", "error",
                  "no <worker>", "points", 0.0, "max_points", 0.0, "exercises");
    char *text = view_of(results, formats[_i], &o);
    ck_assert_msg(strstr(text, "worker") != NULL, "%s", text);
    if (_i == 0 && has_program("xmllint")) check_by_schema(text);
    free(text);
    json_decref(results);
}
END_TEST

/* ---- Gradescope ------------------------------------------------------------------------------ */

static void check_gradescope_test(const json_t *test)
{
    ck_assert(json_is_number(json_object_get(test, "score")));
    ck_assert(json_is_number(json_object_get(test, "max_score")));
    ck_assert_str_eq(string_of(test, "visibility"), "after_published");
    ck_assert_str_eq(string_of(test, "output_format"), "text");
    ck_assert(strcmp(string_of(test, "status"), "passed") == 0 ||
              strcmp(string_of(test, "status"), "failed") == 0);
    ck_assert_str_ne(string_of(test, "name"), "");
    ck_assert_str_ne(string_of(test, "number"), "");
    ck_assert_str_ne(string_of(test, "output"), "");
}

static void check_leaderboard(const json_t *board)
{
    size_t i, k;
    json_t *a, *b;
    json_array_foreach((json_t *)board, i, a)
    {
        const char *order = string_of(a, "order");
        ck_assert(json_is_number(json_object_get(a, "value")));
        ck_assert(strcmp(order, "asc") == 0 || strcmp(order, "desc") == 0);
        json_array_foreach((json_t *)board, k, b)
        {
            ck_assert(i == k || strcmp(string_of(a, "name"), string_of(b, "name")) != 0);
        }
    }
}

START_TEST(gradescope_has_its_fields)
{
    size_t i;
    json_t *test;
    double sum = 0.0;
    const options o = {.visibility = "after_published"};
    json_t *results = load(STORED);
    char *text = view_of(results, "gradescope", &o);
    json_t *root = json_loads(text, 0, NULL), *tests = json_object_get(root, "tests");
    ck_assert_uint_eq(json_array_size(tests), 11);
    json_array_foreach(tests, i, test)
    {
        check_gradescope_test(test);
        sum += real_of(test, "score");
    }
    ck_assert_double_eq_tol(sum, real_of(root, "score"), 1e-6);
    ck_assert_double_eq_tol(sum, real_of(results, "points"), 1e-6);
    ck_assert_str_eq(string_of(root, "stdout_visibility"), "hidden");
    ck_assert(json_is_number(json_object_get(root, "execution_time")));
    ck_assert_uint_eq(json_array_size(json_object_get(root, "leaderboard")), 5); /* passed ones */
    check_leaderboard(json_object_get(root, "leaderboard"));
    ck_assert(json_equal(json_object_get(json_object_get(root, "extra_data"), "signature"),
                         json_object_get(results, "signature")));
    json_decref(root);
    json_decref(results);
    free(text);
}
END_TEST

START_TEST(gradescope_refuses_another_visibility)
{
    const options o = {.visibility = "sometimes"};
    json_t *results = load(STORED);
    ck_assert_ptr_null(view_of(results, "gradescope", &o));
    json_decref(results);
}
END_TEST

/* ---- GitHub ---------------------------------------------------------------------------------- */

START_TEST(annotations_stand_at_the_line)
{
    char *text = stored_view("github");
    static const char *const wanted[] = {
        "::error file=phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c,line=25,title=104 "
        "matmul_cpu_ikj%2C "
        "compiler::",
        "::error file=phase2_cuda_basics/203_vector_add/203_vector_add.cu,line=17,",
        "::error file=phase2_cuda_basics/206_matmul_naive/206_matmul_naive.cu,title=206",
        "::error file=phase2_cuda_basics/211_matmul_tiled/211_matmul_tiled.cu,line=39,",
        "::warning file=phase2_cuda_basics/211_matmul_tiled/211_matmul_tiled.cu,line=38,",
        "::error file=phase2_cuda_basics/209_evil.cu,title=209", /* what it says is no place */
        "(and 2 more here)"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        ck_assert_msg(strstr(text, wanted[i]) != NULL, "%s in\n%s", wanted[i], text);
    }
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        ck_assert_msg(strncmp(line, "::error file=", 13) == 0 ||
                          strncmp(line, "::warning file=", 15) == 0,
                      "%s", line);
    }
    free(text);
}
END_TEST

START_TEST(paths_count_from_the_repository)
{
    const options o = {0};
    json_t *results = load(STORED);
    setenv("GITHUB_WORKSPACE", "/home/runner/work/repo", 1);
    json_object_set_new(results, "submission", json_string("/home/runner/work/repo/mine"));
    char *text = view_of(results, "github", &o);
    ck_assert_ptr_nonnull(
        strstr(text, "::error file=mine/phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c,"));
    free(text);
    json_decref(results);
}
END_TEST

START_TEST(summary_is_a_table_and_the_failures)
{
    char *text = stored_view("summary");
    ck_assert_ptr_nonnull(strstr(text, "| 203 vector_add | failed"));
    ck_assert_ptr_nonnull(strstr(text, "| 209 =evil,\"&lt;x&gt;'<br> | failed, 1 cases |"));
    ck_assert_ptr_nonnull(strstr(text, "traffic: not counted (exactly 0.00) copies"));
    ck_assert_ptr_nonnull(strstr(text, "### 211 matmul\\_tiled"));
    ck_assert_ptr_nonnull(strstr(text, "make check EX=203"));
    ck_assert_int_eq(count_of(text, "<script"), 0);
    ck_assert_int_eq(count_of(text, "\n::"), 0);
    free(text);
}
END_TEST

/* ---- CSV ------------------------------------------------------------------------------------- */

/* The cells of one line; a quoted line break does not end it. @return the next line */
static const char *count_cells(const char *at, int *cells)
{
    bool quoted = false;
    *cells = 1;
    for (; *at && (quoted || *at != '\n'); at++) {
        if (*at == '"') quoted = !quoted;
        *cells += !quoted && *at == ',';
    }
    return at + (*at == '\n');
}

START_TEST(gradebook_has_a_column_an_exercise)
{
    char *text = stored_view("csv");
    int names, values;
    const char *second = count_cells(text, &names), *end = count_cells(second, &values);
    ck_assert_int_eq(names, 8 + 11);
    ck_assert_int_eq(values, names);
    ck_assert_str_eq(end, "");
    ck_assert_ptr_eq(
        strstr(text, "submission,started,commit,backend,error,points,max_points,too_noisy,103 "),
        text);
    free(text);
}
END_TEST

/* ---- tables ---------------------------------------------------------------------------------- */

static void write_table(const char *folder, const char *format, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.tsv", folder, format);
    FILE *to = fopen(path, "w");
    ck_assert_ptr_nonnull(to);
    fputs(text, to);
    fclose(to);
}

static void expect_the_same(const json_t *a, const json_t *b, const char *format)
{
    const options o = {0};
    char *of_a = view_of(a, format, &o), *of_b = view_of(b, format, &o);
    ck_assert_str_eq(of_a, of_b);
    free(of_a);
    free(of_b);
}

/* Results of the tables of results are valid, and make the same tables. */
START_TEST(tables_are_read_as_written)
{
    char folder[] = "/tmp/tables.XXXXXX", why[256] = "";
    static const char *const formats[] = {"grades", "tests"};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_ptr_null(tables_load(folder));
    json_t *results = load(STORED);
    for (int i = 0; i < 2; i++) {
        char *text = stored_view(formats[i]);
        write_table(folder, formats[i], text);
        free(text);
    }
    json_t *loaded = tables_load(folder);
    ck_assert_ptr_nonnull(loaded);
    ck_assert_msg(results_are_valid(loaded, why), "%s", why);
    for (int i = 0; i < 2; i++) expect_the_same(results, loaded, formats[i]);
    json_decref(loaded);
    json_decref(results);
    remove_tree(folder);
}
END_TEST

/* Whatever order they have, and whichever are there besides. */
START_TEST(columns_are_found_by_name)
{
    char folder[] = "/tmp/tables.XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    write_table(folder, "grades",
                "# device NVIDIA X, driver for CUDA 13.0\n"
                "of\tnew\tpoints\texercise\n15\t?\t7.5\t206\n9\t?\t8\t4b\n");
    write_table(folder, "tests", "number\tkind\texercise\n2.5\tspeed\t206\n\ttraffic\t206\n");
    json_t *loaded = tables_load(folder);
    const json_t *entry = json_array_get(json_object_get(loaded, "exercises"), 0);
    const json_t *timing = json_array_get(json_object_get(entry, "speeds"), 0);
    const json_t *count = json_array_get(json_object_get(entry, "traffic"), 0);
    ck_assert_str_eq(string_of(json_object_get(loaded, "device"), "name"), "NVIDIA X");
    ck_assert_str_eq(string_of(loaded, "backend"), "cuda");
    ck_assert(real_of(loaded, "points") == 7.5 && real_of(loaded, "max_points") == 15.0);
    ck_assert(real_of(loaded, "bonus") == 8.0 && real_of(timing, "ratio") == 2.5);
    ck_assert(json_is_null(json_object_get(count, "counted")));
    json_decref(loaded);
    remove_tree(folder);
}
END_TEST

/* ---- the page -------------------------------------------------------------------------------- */

START_TEST(a_line_is_quoted_as_it_is)
{
    static const char own[] = "views/quoted.c";
    char text[QUOTE_MAX], folder[PATH_MAX], path[PATH_MAX];
    snprintf(folder, sizeof folder, "/tmp/quote.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/views", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s", folder, own);
    FILE *to = fopen(path, "w");
    fputs("first\n\t  c[i] = \033[31m1;\nlast", to);
    fclose(to);
    ck_assert(quote_line(folder, own, "/elsewhere/quoted.c", 2, text));
    ck_assert_str_eq(text, "c[i] = ?[31m1;");
    ck_assert(quote_line(folder, own, "quoted.c", 3, text));
    ck_assert_str_eq(text, "last");
    ck_assert(!quote_line(folder, own, "quoted.c", 4, text));
    ck_assert(!quote_line(folder, own, "another.c", 1, text));
    remove_tree(folder);
}
END_TEST

START_TEST(page_needs_nothing_else)
{
    char *text = stored_view("html");
    ck_assert_ptr_nonnull(strstr(text, "default-src 'none'"));
    ck_assert_ptr_nonnull(strstr(text, "name=\"viewport\""));
    ck_assert_ptr_nonnull(strstr(text, "signed with key 9138a4d2"));
    ck_assert_int_eq(count_of(text, "<script"), 0);
    ck_assert_int_eq(count_of(text, "://"), 0);
    ck_assert_ptr_nonnull(strstr(text, "isolated by namespaces, files, user"));
    ck_assert_int_eq(count_of(text, "<details>"), 11);
    ck_assert_ptr_nonnull(strstr(text, "&lt;script&gt;alert(&#39;1&#39;)"));
    if (chart_can_draw()) {
        ck_assert_int_eq(count_of(text, "data:image/svg+xml;base64,"), 3);
    } else {
        ck_assert_ptr_nonnull(strstr(text, "No charts"));
    }
    free(text);
}
END_TEST

/* 304 is right and lacks points; where the submission lies is not for others. */
START_TEST(page_is_green_where_all_points_are_there)
{
    const options o = {0};
    json_t *results = load(STORED);
    json_t *one = json_array_get(json_object_get(results, "exercises"), 9);
    ck_assert_int_eq(id_of(one), 304);
    json_object_set_new(one, "points", json_real(12.5));
    json_object_set_new(results, "submission", json_string("/home/anna/course"));
    char *text = view_of(results, "html", &o);
    ck_assert_ptr_nonnull(strstr(text, "12.5 / 15.0</span><span class=\"outcome short\">passed"));
    ck_assert_ptr_nonnull(strstr(text, "15.0 / 15.0</span><span class=\"outcome passed\">passed"));
    ck_assert_ptr_nonnull(strstr(text, "submission course"));
    ck_assert_ptr_null(strstr(text, "/home/anna"));
    free(text);
    json_decref(results);
}
END_TEST

/* Of 210 the last one counts; 305 was graded this time; 212's line is of another submission. */
START_TEST(page_has_the_last_verdicts)
{
    static const char line[] =
        "{\"submission\":\"%s\",\"entry\":{\"id\":%d,\"name\":\"last\","
        "\"file\":\"x.cu\",\"status\":\"%s\",\"reason\":\"n=3: no\",\"points\":%d,"
        "\"max_points\":20,\"speeds\":[],\"traffic\":[]}}\n";
    const options o = {0};
    char path[] = "/tmp/history.XXXXXX";
    FILE *history = fdopen(mkstemp(path), "w");
    fprintf(history, line, "/elsewhere", 212, "passed", 20);
    fprintf(history, line, "/home/anna", 210, "passed", 20);
    fprintf(history, line, "/home/anna", 210, "failed", 0);
    fprintf(history, line, "/home/anna", 213, "passed", 20);
    fprintf(history, line, "/home/anna", 305, "failed", 0);
    fclose(history);
    json_t *results = load(STORED);
    json_object_set_new(results, "submission", json_string("/home/anna"));
    const double before = real_of(results, "points"), most = real_of(results, "max_points");
    add_last_verdicts(results, path);
    unlink(path);
    ck_assert_double_eq(real_of(results, "points"), before + 20);
    ck_assert_double_eq(real_of(results, "max_points"), most + 40);
    char *text = view_of(results, "html", &o);
    ck_assert_int_eq(count_of(text, "<details>"), 13);
    ck_assert_ptr_nonnull(strstr(text, "<p>n=3: no</p>"));
    ck_assert_ptr_nonnull(strstr(strstr(text, "209 "), "210 last"));
    ck_assert_ptr_nonnull(strstr(text, "14.4 / 15.0"));
    ck_assert_ptr_null(strstr(text, "signed with"));
    free(text);
    json_decref(results);
}
END_TEST

/* An exercise of the stored results' kind that has only a status. */
static json_t *bare(const char *id, const char *file, const char *status)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:n, s:f, s:f, s:[], s:[], s:[]}", "id", id, "name",
                     "bare", "file", file, "status", status, "sha256", "points", 0.0, "max_points",
                     5.0, "cases", "speeds", "traffic");
}

/* What has nothing to say is a line; names lead to the pages, from where the report lies. */
START_TEST(page_folds_what_was_not_written)
{
    const options o = {.root = ".", .build = "/no/such/folder", .output = "docs/results/r.html"};
    json_t *results = load(STORED), *exercises = json_object_get(results, "exercises");
    json_array_append_new(
        exercises, bare("309", "phase3_layers/309_batchnorm/309_batchnorm.cu", "not_started"));
    json_array_append_new(exercises,
                          bare("310", "phase3_layers/310_none/310_none.cu", "not_started"));
    json_array_append_new(exercises,
                          bare("311", "phase3_layers/311_none/311_none.cu", "build_failed"));
    char *text = view_of(results, "html", &o);
    ck_assert_int_eq(count_of(text, "<details>"), 11);
    ck_assert_ptr_nonnull(
        strstr(text, "Not started: <a href=\"../../phase3_layers/309_batchnorm/README.md\">"
                     "309 bare</a>, 310 bare</p>"));
    ck_assert_ptr_nonnull(strstr(text, "Not handed in: 311 bare</p>"));
    free(text);
    json_decref(results);
}
END_TEST

#define VERDICT(time, who, points)                                                                 \
    "{\"time\": \"" time "\", \"submission\": \"" who                                              \
    "\", \"entry\": {\"id\": 103, \"points\": " points ", \"max_points\": 10}}\n"

/* The picture of a history, or NULL. */
static char *picture_of(const char *lines)
{
    char path[] = "/tmp/history.XXXXXX";
    const int file = mkstemp(path);
    ck_assert_int_eq(write(file, lines, strlen(lines)), (ssize_t)strlen(lines));
    close(file);
    char *picture = chart_history(path, "/no/such/submission");
    unlink(path);
    return picture;
}

START_TEST(charts_name_what_was_counted)
{
    static const char *const labels[] = {">302 bias_backward: DRAM bytes<",
                                         ">302 bias_backward: reduction in instructions<"};
    if (!chart_can_draw()) return;
    json_t *results = tables_load(course_file("docs/results/softgpu"));
    char *picture = chart_traffic(results);
    for (int i = 0; i < 2; i++) ck_assert_msg(strstr(picture, labels[i]) != NULL, "%s", labels[i]);
    free(picture);
    json_decref(results);
}
END_TEST

START_TEST(history_passes_over_what_is_not_its_own)
{
    if (!chart_can_draw()) return;
    char *picture = picture_of(VERDICT("1", "/no/such/submission", "3") "no JSON\n" VERDICT(
        "2", "/no/such/submission", "7") "{\"time\": \"3");
    ck_assert_ptr_nonnull(picture);
    ck_assert_ptr_eq(strstr(picture, "<svg"), picture);
    free(picture);
    ck_assert_ptr_null(
        picture_of(VERDICT("1", "/no/such/submission", "3") VERDICT("2", "/another", "3")));
    ck_assert_ptr_null(chart_history("/no/such/file", "."));
}
END_TEST

/* Behind the total, in which they have no part. */
START_TEST(challenges_stand_apart)
{
    const options o = {0};
    json_t *results = load(STORED);
    json_array_append_new(json_object_get(results, "exercises"),
                          json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:[], s:[], s:[]}", "id", "4b",
                                    "name", "wgmma", "file", "4b_wgmma.cu", "status", "passed",
                                    "points", 7.0, "max_points", 9.0, "cases", "speeds",
                                    "traffic"));
    json_object_set_new(results, "bonus", json_real(7.0));
    char *markdown = view_of(results, "markdown", &o), *html = view_of(results, "html", &o);
    const char *total = strstr(markdown, "**total**");
    ck_assert_ptr_nonnull(strstr(total, "| 4b wgmma"));
    ck_assert_ptr_nonnull(strstr(total, "| **bonus** | | | **7.0** |"));
    ck_assert_ptr_nonnull(strstr(strstr(html, "a bonus of 7.0 points"), "4b wgmma"));
    free(markdown);
    free(html);
    json_decref(results);
}
END_TEST

Suite *suite_views(void)
{
    Suite *suite = suite_create("views");
    TCase *tcase = tcase_create("views");
    tcase_add_test(tcase, junit_keeps_its_schema);
    tcase_add_loop_test(tcase, no_grading_is_an_error_in_every_view, 0, 6);
    tcase_add_test(tcase, gradescope_has_its_fields);
    tcase_add_test(tcase, gradescope_refuses_another_visibility);
    tcase_add_test(tcase, annotations_stand_at_the_line);
    tcase_add_test(tcase, paths_count_from_the_repository);
    tcase_add_test(tcase, summary_is_a_table_and_the_failures);
    tcase_add_test(tcase, gradebook_has_a_column_an_exercise);
    tcase_add_test(tcase, tables_are_read_as_written);
    tcase_add_test(tcase, columns_are_found_by_name);
    tcase_add_test(tcase, a_line_is_quoted_as_it_is);
    tcase_add_test(tcase, page_needs_nothing_else);
    tcase_add_test(tcase, page_is_green_where_all_points_are_there);
    tcase_add_test(tcase, page_has_the_last_verdicts);
    tcase_add_test(tcase, page_folds_what_was_not_written);
    tcase_add_test(tcase, charts_name_what_was_counted);
    tcase_add_test(tcase, challenges_stand_apart);
    tcase_add_test(tcase, history_passes_over_what_is_not_its_own);
    suite_add_tcase(suite, tcase);
    return suite;
}
