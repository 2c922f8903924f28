/* test_threads.c: what a process has running beside itself. */
#include "grader/tests.h"

#include "call/call.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void *doze(void *unused)
{
    prctl(PR_SET_NAME, "x) X 1 1 1 1 1"); /* would pass for one that is exiting */
    pause();
    return unused;
}

/* A child with so many threads and children of its own, ready when this returns. */
static pid_t start(int threads, int children)
{
    int ready[2];
    char byte;
    if (pipe(ready) != 0) abort();
    const pid_t child = fork();
    if (child > 0) {
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        close(ready[1]);
        return child;
    }
    pthread_t thread;
    setpgid(0, 0);
    for (int i = 0; i < threads; i++) pthread_create(&thread, NULL, doze, NULL);
    for (int i = 0; i < children; i++) {
        if (fork() == 0) pause();
    }
    if (write(ready[1], "r", 1) != 1) abort();
    pause();
    _exit(0);
}

static void stop(pid_t child)
{
    kill(-child, SIGKILL);
    waitpid(child, NULL, 0);
}

START_TEST(alone)
{
    const pid_t child = start(0, 0);
    ck_assert_int_eq(threads_beyond(child), 0);
    stop(child);
}
END_TEST

START_TEST(threads_count)
{
    const pid_t child = start(3, 0);
    ck_assert_int_eq(threads_beyond(child), 3);
    stop(child);
}
END_TEST

START_TEST(children_count)
{
    const pid_t child = start(1, 3);
    ck_assert_int_eq(threads_beyond(child), 4);
    stop(child);
}
END_TEST

START_TEST(who_is_gone_has_none)
{
    const pid_t child = start(2, 0);
    stop(child);
    ck_assert_int_eq(threads_beyond(child), 0);
}
END_TEST

Suite *suite_threads(void)
{
    Suite *suite = suite_create("threads");
    TCase *tcase = tcase_create("threads");
    tcase_add_test(tcase, alone);
    tcase_add_test(tcase, threads_count);
    tcase_add_test(tcase, children_count);
    tcase_add_test(tcase, who_is_gone_has_none);
    suite_add_tcase(suite, tcase);
    return suite;
}
