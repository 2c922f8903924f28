/* test_history.c: the history survives writers that are killed, torn lines and several writers. */
#include "grader/tests.h"

#include "student/student.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[96];

static void create_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/history.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/new/history.jsonl", folder);
}

static void remove_folder(void)
{
    char sub[80];
    unlink(path);
    snprintf(sub, sizeof sub, "%s/new", folder);
    rmdir(sub);
    rmdir(folder);
}

/* A record of about `bytes` bytes, so that some are longer than a page. */
static json_t *record(int writer, int number, size_t bytes)
{
    char *text = calloc(1, bytes + 1);
    memset(text, 'x', bytes);
    json_t *r = json_pack("{s:i, s:i, s:s}", "writer", writer, "number", number, "text", text);
    free(text);
    return r;
}

static void append(int writer, int number, size_t bytes)
{
    json_t *r = record(writer, number, bytes);
    ck_assert(history_append(path, r));
    json_decref(r);
}

static size_t count(int *skipped)
{
    json_t *all = history_load(path, skipped);
    const size_t n = json_array_size(all);
    json_decref(all);
    return n;
}

static void append_text(const char *text, size_t bytes)
{
    const int file = open(path, O_WRONLY | O_APPEND);
    ck_assert_int_eq(write(file, text, bytes), (ssize_t)bytes);
    close(file);
}

START_TEST(what_was_written_is_read)
{
    int skipped;
    append(1, 7, 10);
    append(1, 8, 100000);
    json_t *all = history_load(path, &skipped), *want = record(1, 8, 100000);
    ck_assert_uint_eq(json_array_size(all), 2);
    ck_assert_int_eq(skipped, 0);
    ck_assert(json_equal(json_array_get(all, 1), want));
    json_decref(want);
    json_decref(all);
}
END_TEST

START_TEST(no_file_is_an_empty_history)
{
    int skipped;
    ck_assert_uint_eq(count(&skipped), 0);
    ck_assert_int_eq(skipped, 0);
}
END_TEST

/* Wherever a line is cut short, all others are read, and the next one stands by itself. */
START_TEST(torn_lines_are_skipped)
{
    struct stat whole;
    int skipped;
    append(1, 1, 30);
    append(1, 2, 30);
    ck_assert_int_eq(stat(path, &whole), 0);
    const off_t half = whole.st_size / 2;
    for (off_t cut = half + 1; cut < whole.st_size - 1; cut++) {
        ck_assert_int_eq(truncate(path, cut), 0);
        append(1, 3, 30);
        json_t *all = history_load(path, &skipped);
        ck_assert_uint_eq(json_array_size(all), 2);
        ck_assert_int_eq(skipped, 1);
        ck_assert_int_eq(integer_of(json_array_get(all, 1), "number"), 3);
        json_decref(all);
        ck_assert_int_eq(truncate(path, half), 0);
        append(1, 2, 30);
    }
}
END_TEST

START_TEST(a_lost_newline_loses_no_record)
{
    struct stat whole;
    int skipped;
    append(1, 1, 30);
    ck_assert_int_eq(stat(path, &whole), 0);
    ck_assert_int_eq(truncate(path, whole.st_size - 1), 0);
    ck_assert_uint_eq(count(&skipped), 1);
    append(1, 2, 30);
    ck_assert_uint_eq(count(&skipped), 2);
    ck_assert_int_eq(skipped, 0);
}
END_TEST

START_TEST(altered_and_foreign_lines_are_skipped)
{
    static const char foreign[] =
        "{\"points\": 20.0}\nnonsense\n\0\0\0\n\n{\"a\":1,\"crc32\":\"0\"}\n";
    int skipped;
    append(1, 1, 30);
    append_text(foreign, sizeof foreign - 1);
    append(1, 2, 30);
    const int file = open(path, O_WRONLY);
    ck_assert_int_eq(pwrite(file, "9", 1, (off_t)strlen("{\"writer\":")), 1);
    close(file);
    ck_assert_uint_eq(count(&skipped), 1);
    ck_assert_int_eq(skipped, 5);
}
END_TEST

START_TEST(what_is_not_written_whole_is_taken_back)
{
    int skipped;
    append(1, 1, 30);
    const struct rlimit little = {4096, 4096};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
    json_t *r = record(1, 2, 10000);
    ck_assert(!history_append(path, r));
    json_decref(r);
    append(1, 3, 30);
    ck_assert_uint_eq(count(&skipped), 2);
    ck_assert_int_eq(skipped, 0);
}
END_TEST

static pid_t start_writer(int writer, int lines)
{
    const pid_t child = fork();
    if (child != 0) return child;
    for (int i = 0; i < lines; i++) {
        json_t *r = record(writer, i, (size_t)(i % 7) * 3000);
        if (!history_append(path, r)) _exit(1);
        json_decref(r);
    }
    _exit(0);
}

START_TEST(writers_at_once_lose_nothing)
{
    enum { WRITERS = 4, LINES = 60 };
    pid_t children[WRITERS];
    int skipped, next_number[WRITERS] = {0}, status;
    for (int i = 0; i < WRITERS; i++) children[i] = start_writer(i, LINES);
    for (int i = 0; i < WRITERS; i++) {
        waitpid(children[i], &status, 0);
        ck_assert_int_eq(status, 0);
    }
    json_t *all = history_load(path, &skipped);
    ck_assert_uint_eq(json_array_size(all), WRITERS * LINES);
    ck_assert_int_eq(skipped, 0);
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *r = json_array_get(all, i);
        ck_assert_int_eq(integer_of(r, "number"), next_number[integer_of(r, "writer")]++);
    }
    json_decref(all);
}
END_TEST

/* Killed at any moment, a writer leaves what it had written before, and the lock to the others. */
START_TEST(killed_writers_damage_nothing)
{
    enum { ROUNDS = 40 };
    int skipped;
    append(9, 0, 10);
    for (int i = 0; i < ROUNDS; i++) {
        const pid_t victim = start_writer(1, 1000000), other = start_writer(2, 3);
        usleep(200 + 137 * (useconds_t)i);
        kill(victim, SIGKILL);
        waitpid(victim, NULL, 0);
        int status;
        waitpid(other, &status, 0);
        ck_assert_int_eq(status, 0);
    }
    json_t *all = history_load(path, &skipped);
    int kept = 0, expected = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *r = json_array_get(all, i);
        const long number = integer_of(r, "number");
        if (integer_of(r, "writer") == 2) kept++;
        if (integer_of(r, "writer") != 1) continue;
        ck_assert(number == 0 || number == expected); /* of one victim: without a gap */
        expected = (int)number + 1;
    }
    ck_assert_int_eq(kept, 3 * ROUNDS);
    ck_assert_int_le(skipped, ROUNDS); /* at most the line that each was writing */
    json_decref(all);
}
END_TEST

START_TEST(margins)
{
    static const struct {
        const char *json;
        double want; /* -1: none */
    } rows[] = {
        {"{'ratio':3.0,'threshold':2.0,'verdict':'passed'}", 1.5},
        {"{'ratio':0.0,'threshold':2.0,'verdict':'failed'}", -1},
        {"{'ratio':3.0,'threshold':2.0,'verdict':'not_run'}", -1},
        {"{'counted':16.0,'wanted':8.0,'bound':'at least','verdict':'passed'}", 2},
        {"{'counted':2.2,'wanted':1.1,'bound':'at most','verdict':'failed'}", 0.5},
        {"{'counted':0.0,'wanted':0.1,'bound':'at most','verdict':'passed'}", 100},
        {"{'counted':3,'wanted':3,'bound':'exactly','verdict':'passed'}", 1},
        {"{'counted':4,'wanted':3,'bound':'exactly','verdict':'failed'}", -1},
        {"{'counted':null,'wanted':3,'bound':'at most','verdict':'failed'}", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s", rows[i].json);
        for (char *c = text; *c; c++) *c = *c == '\'' ? '"' : *c;
        json_t *test = json_loads(text, 0, NULL);
        const double margin = margin_of(test);
        ck_assert_msg(rows[i].want < 0
                          ? margin != margin
                          : margin > rows[i].want - 1e-9 && margin < rows[i].want + 1e-9,
                      "%s: %g", text, margin);
        json_decref(test);
    }
}
END_TEST

Suite *suite_history(void)
{
    Suite *suite = suite_create("history");
    TCase *tcase = tcase_create("history");
    tcase_add_checked_fixture(tcase, create_folder, remove_folder);
    tcase_add_test(tcase, what_was_written_is_read);
    tcase_add_test(tcase, no_file_is_an_empty_history);
    tcase_add_test(tcase, torn_lines_are_skipped);
    tcase_add_test(tcase, a_lost_newline_loses_no_record);
    tcase_add_test(tcase, altered_and_foreign_lines_are_skipped);
    tcase_add_test(tcase, what_is_not_written_whole_is_taken_back);
    tcase_add_test(tcase, writers_at_once_lose_nothing);
    tcase_add_test(tcase, killed_writers_damage_nothing);
    tcase_add_test(tcase, margins);
    suite_add_tcase(suite, tcase);
    return suite;
}
