/*
 * test_file.c: files that a call reads: larger than what a worker may write, with a beginning
 * beyond 4 GiB, with reads that return early or fail.
 */
#include "grader/tests.h"

#include "correctness/correctness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (1ull << 20)

static const char source[] =
    "#include <errno.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
    "#include <sys/mman.h>\n#include <sys/stat.h>\n#include <unistd.h>\n"
    "static unsigned long long sum(const char *path, int patient, int anew) {\n"
    "    static unsigned char block[1 << 16]; unsigned long long all = 0; ssize_t n;\n"
    "    const int f = open(path, O_RDONLY);\n"
    "    while ((n = read(f, block, sizeof block)) != 0) {\n"
    "        if (n < 0 && errno == EINTR && anew) continue;\n"
    "        if (n < 0) break;\n"
    "        for (ssize_t i = 0; i < n; i++) all = all * 31 + block[i];\n"
    "        if (n < (ssize_t)sizeof block && !patient) break; }\n"
    "    close(f); return all; }\n"
    "unsigned long long sum_of(const char *path) { return sum(path, 1, 1); }\n"
    "unsigned long long sum_until_short(const char *path) { return sum(path, 0, 1); }\n"
    "unsigned long long sum_until_signal(const char *path) { return sum(path, 1, 0); }\n"
    "unsigned long long bytes_of(const char *path) { struct stat s; stat(path, &s); return "
    "s.st_size; }\n"
    "unsigned long long at(const char *path, unsigned long long where) { unsigned char c = 0;\n"
    "    const int f = open(path, O_RDONLY);\n"
    "    while (pread(f, &c, 1, where) < 0 && errno == EINTR) { }\n"
    "    close(f); return c; }\n"
    "unsigned long long mapped(const char *path, unsigned long long where) {\n"
    "    const int f = open(path, O_RDONLY);\n"
    "    unsigned char *p = mmap(0, 4096, PROT_READ, MAP_SHARED, f, where / 4096 * 4096);\n"
    "    unsigned long long c = p == MAP_FAILED ? 1000 : p[where % 4096];\n"
    "    munmap(p, 4096); close(f); return c; }\n"
    "unsigned long long changed(const char *path) { char c = 7; int any = 0;\n"
    "    any |= open(path, O_RDWR) >= 0; any |= truncate(path, 3) == 0; any |= write(6, &c, 1) == "
    "1;\n"
    "    any |= ftruncate(6, 3) == 0; return any; }\n"
    "unsigned long long others(void) { char block[256]; ssize_t n, all = 0;\n"
    "    const int f = open(\"/proc/self/status\", O_RDONLY);\n"
    "    for (int i = 0; i < 50; i++) { lseek(f, 0, SEEK_SET);\n"
    "        n = read(f, block, sizeof block); all += n == sizeof block; }\n"
    "    close(f); return all; }\n";

static char folder[PATH_MAX], library[PATH_MAX + 16];
static const exercise nothing = {.name = "nothing"};
static options course;
static case_state state;

static void compile_library(void)
{
    char *arguments[] = {"unit_tests", "grade", NULL};
    ck_assert(options_parse(&course, 2, arguments) && sandbox_start(&course));
    snprintf(folder, sizeof folder, "%s/file test %d", course.build, (int)getpid());
    snprintf(library, sizeof library, "%s/made.so", folder);
    make_library(folder, source);
}

static void remove_library(void)
{
    remove_tree(folder);
}

static void start(void)
{
    state = case_begin(&course, &nothing, ON_HOST, library);
}

static void stop(void)
{
    case_drop_worker(&state);
}

static void expect_well(void (*run)(const char *, const long *), const char *function)
{
    char *message = run_guarded(&state, run, function, NULL);
    ck_assert_msg(!message, "%s: %s", function, message);
}

/* ---- the cases of an exercise ---------------------------------------------------------------- */

static unsigned long long reference_sum(const unsigned char *data, size_t count)
{
    unsigned long long all = 0;
    for (size_t i = 0; i < count; i++) all = all * 31 + data[i];
    return all;
}

static unsigned char *draw_bytes(size_t count)
{
    unsigned *words = (unsigned *)i32_array(count / 4 + 1);
    for (size_t i = 0; i <= count / 4; i++) words[i] = (unsigned)random_u64(case_random());
    return (unsigned char *)words;
}

static void whole(const char *function, const long *shape)
{
    const size_t count = 70 * MIB + 5;
    const unsigned char *data = draw_bytes(count);
    (void)shape;
    const unsigned long long got =
        call_returning_u64(function, ARGS(path_of(count, 0, data, count)));
    expect(got == reference_sum(data, count), "%llx", got);
}

static void in_pieces(const char *function, const long *shape)
{
    const size_t count = 3 * MIB + 1;
    const unsigned char *data = draw_bytes(count);
    argument made = interrupted(path_of(count, 0, data, count), random_u64(case_random()));
    (void)shape;
    const unsigned long long got = call_returning_u64(function, ARGS(made));
    expect(got == reference_sum(data, count), "%s stopped early", function);
}

static void beyond_4_gib(const char *function, const long *shape)
{
    const unsigned long long where = 4096 * MIB + 3;
    (void)shape;
    argument made = interrupted(path_of(5000 * MIB, where, "*", 1), 9);
    const unsigned long long size = call_returning_u64("bytes_of", ARGS(made));
    expect(size == 5000 * MIB, "%llu bytes", size);
    for (int i = -1; i < 2; i++) {
        const unsigned long long got =
            call_returning_u64(function, ARGS(made, u64(where + (unsigned long long)i)));
        expect(got == (i == 0 ? '*' : 0), "%llu at %d", got, i);
    }
}

static void untouched(const char *function, const long *shape)
{
    (void)shape;
    argument made = path_of(10, 0, "0123456789", 10);
    expect(call_returning_u64(function, ARGS(made)) == 0, "it can be changed");
    expect(call_returning_u64("sum_of", ARGS(path_of(0, 0, "", 0))) == 0, "one that is empty");
}

static void unread(const char *function, const long *shape)
{
    (void)shape;
    argument made = with_read_errors(path_of(10, 0, "0123456789", 10));
    expect(call_returning_u64(function, ARGS(made)) == 0, "it was read");
}

/* Of files that are not the grader's nothing is kept back, even after one that was. */
static void of_others(const char *function, const long *shape)
{
    in_pieces("sum_of", shape);
    expect(call_returning_u64(function, NULL, 0) == 50, "reads of other files are cut short");
}

START_TEST(large_files_arrive)
{
    expect_well(whole, "sum_of");
    expect_well(beyond_4_gib, "at");
    expect_well(beyond_4_gib, "mapped");
}
END_TEST

START_TEST(reads_return_early)
{
    for (int i = 0; i < 5; i++) {
        state.random = random_seed((uint64_t)i);
        expect_well(in_pieces, "sum_of");
    }
    static const char *const wrong[] = {"sum_until_short", "sum_until_signal"};
    for (int i = 0; i < 2; i++) {
        char *message = run_guarded(&state, in_pieces, wrong[i], NULL);
        ck_assert_msg(message && strstr(message, "stopped early"), "%s", wrong[i]);
        free(message);
    }
    expect_well(of_others, "others");
}
END_TEST

START_TEST(reads_fail)
{
    expect_well(unread, "sum_of");
    expect_well(whole, "sum_of");
}
END_TEST

START_TEST(nobody_writes_it)
{
    expect_well(untouched, "changed");
}
END_TEST

Suite *suite_file(void)
{
    Suite *suite = suite_create("file");
    TCase *tcase = tcase_create("file");
    tcase_add_unchecked_fixture(tcase, compile_library, remove_library);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, large_files_arrive);
    tcase_add_test(tcase, reads_return_early);
    tcase_add_test(tcase, reads_fail);
    tcase_add_test(tcase, nobody_writes_it);
    suite_add_tcase(suite, tcase);
    return suite;
}
