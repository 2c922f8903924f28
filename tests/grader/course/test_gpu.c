/* test_gpu.c: one grader at a time on a GPU, several on several, and none that waits for the dead.
 */
#include "grader/tests.h"

#include "course/course.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/tmp/gpu.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void tear_down(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* A process that takes the GPU, writes a letter, and keeps it until it is killed. */
static pid_t holder(const char *uuid, int to)
{
    const pid_t child = fork();
    if (child != 0) return child;
    const int lock = gpu_lock(folder, uuid);
    if (lock < 0 || write(to, "x", 1) != 1) _exit(1);
    for (;;) pause();
}

static bool hears(int from, int milliseconds)
{
    char letter;
    struct pollfd one = {.fd = from, .events = POLLIN};
    return poll(&one, 1, milliseconds) == 1 && read(from, &letter, 1) == 1;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

START_TEST(one_at_a_time)
{
    int channel[2];
    ck_assert_int_eq(pipe(channel), 0);
    const pid_t first = holder("aa", channel[1]);
    ck_assert(hears(channel[0], 60000));
    const pid_t second = holder("aa", channel[1]);
    ck_assert(!hears(channel[0], 200));
    end(first);
    ck_assert(hears(channel[0], 60000));
    end(second);
}
END_TEST

START_TEST(two_gpus)
{
    int channel[2];
    ck_assert_int_eq(pipe(channel), 0);
    const pid_t first = holder("aa", channel[1]), second = holder("bb", channel[1]);
    ck_assert(hears(channel[0], 60000));
    ck_assert(hears(channel[0], 60000));
    end(first);
    end(second);
}
END_TEST

START_TEST(let_go_by_closing)
{
    const int first = gpu_lock(folder, "aa");
    ck_assert_int_ge(first, 0);
    close(first);
    alarm(60);
    ck_assert_int_ge(gpu_lock(folder, "aa"), 0);
    alarm(0);
}
END_TEST

START_TEST(no_place_for_a_lock)
{
    char path[96];
    snprintf(path, sizeof path, "%s/course-gpu-aa", folder);
    ck_assert_int_eq(symlink("/tmp/elsewhere", path), 0);
    ck_assert_int_eq(gpu_lock(folder, "aa"), -1);
    ck_assert_int_eq(gpu_lock("/nowhere", "aa"), -1);
}
END_TEST

static const struct {
    const char *printed, *uuid;
} rows[] = {{"0123abcd\n", "0123abcd"}, {"../../etc\n", ""}, {"", ""}};

START_TEST(found_by_its_worker)
{
    char path[96], uuid[64];
    const options o = {.backend = BACKEND_CUDA, .build = folder};
    snprintf(path, sizeof path, "%s/worker_cuda", folder);
    ck_assert(!gpu_find(&o, uuid));
    FILE *file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\n[ $1 = --uuid ] && printf '%s'\n", rows[_i].printed);
    fclose(file);
    chmod(path, 0755);
    ck_assert_int_eq(gpu_find(&o, uuid), *rows[_i].uuid != '\0');
    ck_assert_str_eq(uuid, rows[_i].uuid);
}
END_TEST

Suite *suite_gpu(void)
{
    Suite *suite = suite_create("gpu");
    TCase *tcase = tcase_create("gpu");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, one_at_a_time);
    tcase_add_test(tcase, two_gpus);
    tcase_add_test(tcase, let_go_by_closing);
    tcase_add_test(tcase, no_place_for_a_lock);
    tcase_add_loop_test(tcase, found_by_its_worker, 0, sizeof rows / sizeof *rows);
    suite_add_tcase(suite, tcase);
    return suite;
}
