/*
 * test_sandbox.c: what holds a hostile library and a hostile source. Every attempt of
 * sandbox/attempts.c is made by a library in a worker, behind all layers that this machine has, and
 * again without namespaces. A row names the layers of which each alone holds it; where none of them
 * is there, it is skipped, and said so.
 */
#include "grader/tests.h"

#include "sandbox/sandbox.h"
#include "build/compiling.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAMESPACES = 1,
    USER = 2,
    LIMITS = 4,
    SECCOMP = 8,
    ENVIRONMENT = 16,
    FILES = 32,
    NOBODY = 0
};

#define PATIENCE 120.0 /* seconds, of which a loaded machine may need some; what hangs needs more  \
                        */

static const struct {
    const char *attempt;
    int layers; /* NOBODY: every exercise may do it */
} rows[] = {
    {"secret", FILES | USER},
    {"solution", FILES},
    {"grader_memory", FILES | USER},
    {"other_library", FILES},
    {"overwrite", FILES | USER},
    {"disk", LIMITS},
    {"memory", LIMITS},
    {"file_in_memory", SECCOMP},
    {"shared_memory", SECCOMP},
    {"last_to_go", FILES | USER},
    {"variable", ENVIRONMENT},
    {"children", SECCOMP},
    {"program", SECCOMP},
    {"outlive", SECCOMP},
    {"trace", NAMESPACES | USER | SECCOMP},
    {"read_grader", NAMESPACES | USER | SECCOMP},
    {"signal_grader", NAMESPACES | USER | SECCOMP},
    {"signal_group", SECCOMP},
    {"signal_by_file", NAMESPACES | SECCOMP},
    {"slow_grader", NAMESPACES | USER | SECCOMP},
    {"limit_grader", NAMESPACES | USER | SECCOMP},
    {"open_secret", NAMESPACES | USER | SECCOMP},
    {"open_secret_anew", NAMESPACES | USER | SECCOMP},
    {"loopback", NAMESPACES | SECCOMP},
    {"namespace", SECCOMP},
    {"threads", NOBODY},
};

static options course;
static char fake[PATH_MAX]; /* the folder of a bubblewrap that does not work */
static char folder[PATH_MAX], library[PATH_MAX + 32], secret[PATH_MAX + 32];
static int listener, port;
static const long mine = 42; /* what read_grader reads */

static void listen_on_loopback(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof at;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    listen(listener, 64);
    getsockname(listener, (struct sockaddr *)&at, &bytes);
    port = ntohs(at.sin_port);
}

static void write_secret(void)
{
    FILE *file = fopen(secret, "w");
    ck_assert_ptr_nonnull(file);
    fputs("the seed is 1\n", file);
    fclose(file);
    chmod(secret, 0600);
}

static void start(void)
{
    char *arguments[] = {"unit_tests", "grade", NULL};
    ck_assert(options_parse(&course, 2, arguments));
    snprintf(folder, sizeof folder, "%s/sandbox test %d", course.build, (int)getpid());
    snprintf(library, sizeof library, "%s/hostile.so", folder);
    snprintf(secret, sizeof secret, "%s/secret", folder);
    mkdir(folder, 0755);
    write_secret();
    setenv("COURSE_SECRET", "1", 1);
    ck_assert(sandbox_start(&course));
}

/* The same machine, as if its kernel forbade namespaces. */
static void start_without_bubblewrap(void)
{
    char program[PATH_MAX + 16], path[2 * PATH_MAX];
    const char *build = getenv("COURSE_BUILD");
    char *whole = realpath(build ? build : "build", NULL); /* it is looked for from anywhere */
    snprintf(fake, sizeof fake, "%s/without bubblewrap", whole ? whole : "");
    free(whole);
    mkdir(fake, 0755);
    snprintf(path, sizeof path, "%s:%s", fake, getenv("PATH"));
    setenv("PATH", path, 1);
    snprintf(program, sizeof program, "%s/bwrap", fake);
    FILE *file = fopen(program, "w");
    ck_assert_ptr_nonnull(file);
    fputs("#!/bin/sh\nexit 1\n", file);
    fclose(file);
    chmod(program, 0755);
    start();
}

static void finish(void)
{
    remove_tree(folder);
}

static void finish_without_bubblewrap(void)
{
    char *usual = strdup(getenv("PATH") + strlen(fake) + 1);
    setenv("PATH", usual, 1);
    free(usual);
    remove_tree(fake);
    finish();
}

static int layers_here(void)
{
    const layers on = sandbox_layers();
    return (on.namespaces ? NAMESPACES : 0) | (on.user ? USER : 0) | (on.limits ? LIMITS : 0) |
           (on.seccomp ? SECCOMP : 0) | (on.environment ? ENVIRONMENT : 0) | (on.files ? FILES : 0);
}

static bool skip(const char *what, int layers)
{
    static const char *const names[] = {"namespaces", "user",        "limits",
                                        "seccomp",    "environment", "files"};
    if (layers == NOBODY || layers & layers_here()) return false;
    printf("skipped sandbox %s: needs", what);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (layers & 1 << i) printf(" %s", names[i]);
    }
    putchar('\n');
    return true;
}

static void compile_attempt(const char *name)
{
    char source[PATH_MAX + 64];
    char defines[6][PATH_MAX + 64];
    snprintf(source, sizeof source, "%s/tests/grader/sandbox/attempts.c", course.root);
    snprintf(defines[0], sizeof *defines, "-DATTEMPT=%s", name);
    snprintf(defines[1], sizeof *defines, "-DSECRET=\"%s\"", secret);
    snprintf(defines[2], sizeof *defines, "-DROOT=\"%s\"", course.root);
    snprintf(defines[3], sizeof *defines, "-DLIBRARY=\"%s\"", library);
    snprintf(defines[4], sizeof *defines, "-DGRADER=%d", (int)getpid());
    snprintf(defines[5], sizeof *defines, "-DPORT=%d", port);
    char address[64];
    snprintf(address, sizeof address, "-DADDRESS=%p", (void *)&mine);
    const char *compiler = getenv("CC");
    const char *const argv[] = {compiler && *compiler ? compiler : "/usr/bin/cc",
                                "-shared",
                                "-fPIC",
                                "-pthread",
                                defines[0],
                                defines[1],
                                defines[2],
                                defines[3],
                                defines[4],
                                defines[5],
                                address,
                                source,
                                "-o",
                                library,
                                NULL};
    process_result r = process_run(argv, NULL, PATIENCE, 4096);
    ck_assert_msg(r.status == 0, "%s", r.output);
    free(r.output);
}

/* A worker with that library, without a grader to talk to. */
static process_result run_attempt(void)
{
    char worker[PATH_MAX], course_library[PATH_MAX];
    snprintf(worker, sizeof worker, "%s/worker_cpu", course.build);
    snprintf(course_library, sizeof course_library, "%s/libcourse.so", course.build);
    const char *const read[] = {worker, course_library, library, NULL};
    const char *const argv[] = {worker, library, "guarded", NULL};
    return jail_run(&(plan){.read = read, .program = worker}, argv, PATIENCE, 4096);
}

START_TEST(attempt)
{
    const char *name = rows[_i].attempt;
    if (skip(name, rows[_i].layers)) return;
    listen_on_loopback();
    compile_attempt(name);
    process_result r = run_attempt();
    const char *wanted = rows[_i].layers == NOBODY ? "reached" : "held";
    ck_assert_msg(strstr(r.output, wanted) != NULL, "%s: %s", name, r.output);
    if (strcmp(name, "outlive") == 0) ck_assert(!r.timed_out);
    free(r.output);
    close(listener);
}
END_TEST

/* In a namespace a process cannot outlive what started it, whatever it may call. */
START_TEST(nothing_outlives)
{
    if (skip("nothing_outlives", NAMESPACES)) return;
    const char *const argv[] = {"/bin/sh", "-c", "setsid sleep 600 & echo started", NULL};
    process_result r = jail_run(&(plan){0}, argv, PATIENCE, 4096);
    ck_assert_str_eq(r.output, "started\n");
    ck_assert(!r.timed_out);
    free(r.output);
}
END_TEST

START_TEST(seconds_are_counted)
{
    if (skip("seconds_are_counted", LIMITS)) return;
    const char *const argv[] = {"/bin/sh", "-c", "while :; do :; done", NULL};
    process_result r = jail_run(&(plan){.cpu_seconds = 1}, argv, PATIENCE, 4096);
    ck_assert(!r.timed_out);
    ck_assert_int_ne(r.status, 0);
    free(r.output);
}
END_TEST

START_TEST(scratch_is_wiped)
{
    const char *const argv[] = {"/bin/sh", "-c", "echo here >left; echo *", NULL};
    for (int i = 0; i < 2; i++) {
        process_result r = jail_run(&(plan){0}, argv, PATIENCE, 4096);
        ck_assert_str_eq(r.output, "left\n");
        free(r.output);
    }
}
END_TEST

/* The device of softgpu starts without namespaces, which cost time: Landlock alone holds it. */
START_TEST(our_own_code_reaches_no_files)
{
    const char *const argv[] = {"/bin/cat", secret, NULL};
    if (sandbox_layers().namespaces || skip("our_own_code_reaches_no_files", FILES)) return;
    process_result r = jail_run(&(plan){.light = true}, argv, PATIENCE, 4096);
    ck_assert_msg(r.status != 0 && !strstr(r.output, "seed"), "%s", r.output);
    free(r.output);
}
END_TEST

/* ---- sources --------------------------------------------------------------------------------- */

static const struct {
    const char *name, *source;
    int layers; /* NOBODY: it compiles */
} sources[] = {
    {"honest", "#include \"cpu.h\"\n#include <math.h>\nfloat f(float x) { return sinf(x); }",
     NOBODY},
    {"solution", "#include \"../../solutions/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c\"\n",
     FILES},
    {"neighbour", "#include \"../../phase1_cpu/104_matmul_cpu_ikj/104_matmul_cpu_ikj.c\"\n", FILES},
    {"secret", "__asm__(\".incbin \\\"%s\\\"\");\n", FILES | USER},
    {"300 MB", "char a[300 << 20] = {1};\n", LIMITS},
};

START_TEST(source)
{
    char path[PATH_MAX + 64], work[PATH_MAX + 32];
    if (skip(sources[_i].name, sources[_i].layers)) return;
    snprintf(work, sizeof work, "%s/work %d", folder, _i);
    snprintf(path, sizeof path, "%s/x.c", work);
    mkdir(work, 0755);
    FILE *file = fopen(path, "w");
    fprintf(file, sources[_i].source, secret);
    fclose(file);
    const exercise none = {.file = "phase1_cpu/x/x.c"};
    const int headers = contracts_hold(&course);
    contracts_link(&course, work);
    const build b = {.exercise = &none, .place = ON_HOST};
    process_result r = compiler_compile(&course, &b, "x.c", work);
    if (headers >= 0) close(headers);
    ck_assert_msg((r.status == 0) == (sources[_i].layers == NOBODY), "%s: %s", sources[_i].name,
                  r.output);
    free(r.output);
}
END_TEST

static TCase *attempts(const char *name, void (*setup)(void), void (*teardown)(void))
{
    TCase *tcase = tcase_create(name);
    tcase_add_unchecked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, attempt, 0, sizeof rows / sizeof *rows);
    if (setup == start) tcase_add_test(tcase, nothing_outlives); /* by its namespace alone */
    tcase_add_test(tcase, seconds_are_counted);
    tcase_add_test(tcase, scratch_is_wiped);
    tcase_add_test(tcase, our_own_code_reaches_no_files);
    tcase_add_loop_test(tcase, source, 0, sizeof sources / sizeof *sources);
    return tcase;
}

Suite *suite_sandbox(void)
{
    Suite *suite = suite_create("sandbox");
    suite_add_tcase(suite, attempts("all layers", start, finish));
    suite_add_tcase(
        suite, attempts("without bubblewrap", start_without_bubblewrap, finish_without_bubblewrap));
    return suite;
}
