/* test_usage.c: who had the cores and the memory, by the word of the kernel (usage.c). */
#include "grader/tests.h"

#include "timer.h"
#include "measure/measure.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 0x7ffffff0 /* no process has such a number */

static void work(double seconds)
{
    const clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    while (clock() < end) {
    }
}

START_TEST(work_is_told_from_waiting)
{
    const core_usage before = usage_of(getpid()), nobody = usage_of(NOBODY);
    volatile double x = 0.0;
    for (int i = 0; i < 30000000; i++) x += 1.0;
    const core_usage after = usage_of(getpid());
    usleep(50000); /* neither work nor waiting for a core */
    const core_usage rested = usage_of(getpid());
    ck_assert_double_gt(after.worked - before.worked, 0.003);
    ck_assert_double_lt(rested.worked - after.worked, 0.02);
    ck_assert_double_ge(after.waited, before.waited);
    ck_assert_double_eq(nobody.waited, 0);
    ck_assert_double_eq(nobody.worked, 0);
}
END_TEST

/* Other processes on the same core as this one. @return false when there cannot be */
static bool start_rivals(pid_t rivals[], int count)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) return false;
    for (int i = 0; i < count; i++) {
        rivals[i] = fork();
        if (rivals[i] != 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work(60.0);
        _exit(0);
    }
    return true;
}

START_TEST(a_shared_core_is_waited_for)
{
    enum { RIVALS = 3 };
    pid_t rivals[RIVALS];
    if (access("/proc/self/schedstat", R_OK) != 0 || !start_rivals(rivals, RIVALS)) {
        printf("skipped: waiting for a core, which this kernel does not tell\n");
        return;
    }
    const double began = seconds_now();
    const core_usage before = usage_of(getpid()), other = usage_of(rivals[0]);
    work(0.1);
    const core_usage after = usage_of(getpid()), then = usage_of(rivals[0]);
    const double wall = seconds_now() - began;
    for (int i = 0; i < RIVALS; i++) {
        kill(rivals[i], SIGKILL);
        waitpid(rivals[i], NULL, 0);
    }
    const double waited = after.waited - before.waited, worked = after.worked - before.worked;
    ck_assert_double_gt(worked, 0.05);
    ck_assert_double_gt(waited, 1.5 * worked); /* about 3 times: each gets its turn */
    ck_assert_double_lt(waited + worked, wall + 0.02);
    ck_assert_double_gt(then.worked - other.worked, 0.01);
}
END_TEST

START_TEST(work_that_is_put_off_counts)
{
    ck_assert_double_eq(work_hidden(0.0, 0.0), 0.0);
    ck_assert_double_eq(work_hidden(0.0121, 0.010), 0.0); /* copies are not all alike */
    ck_assert_double_eq(work_hidden(0.0001, -0.001), 0.0);
    ck_assert_double_eq_tol(work_hidden(0.110, 0.010), 0.0973, 1e-9);
}
END_TEST

/* Memory counts when it was touched, and when nobody else has it. */
START_TEST(memory_is_what_was_touched)
{
    enum { BYTES = 32 << 20, SLACK = 4 << 20 };
    const size_t before = bytes_held_by(getpid());
    char *own = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(own != MAP_FAILED && shared != MAP_FAILED);
    ck_assert_uint_lt(bytes_held_by(getpid()), before + SLACK);
    memset(own, 1, BYTES);
    memset(shared, 1, BYTES);
    const size_t after = bytes_held_by(getpid());
    ck_assert_uint_gt(after, before + BYTES - SLACK);
    ck_assert_uint_lt(after, before + BYTES + SLACK);
    ck_assert_uint_eq(bytes_held_by(NOBODY), 0);
    munmap(own, BYTES);
    munmap(shared, BYTES);
}
END_TEST

START_TEST(ticks_of_all_cores_are_counted)
{
    double stolen[2], all[2];
    if (access("/proc/stat", R_OK) != 0) return;
    read_stolen(&stolen[0], &all[0]);
    usleep(200000); /* idle ticks are ticks, too */
    read_stolen(&stolen[1], &all[1]);
    const double ticks = 0.2 * (double)(sysconf(_SC_CLK_TCK) * sysconf(_SC_NPROCESSORS_ONLN));
    ck_assert_double_gt(all[1] - all[0], 0.5 * ticks);
    ck_assert_double_ge(stolen[0], 0);
    ck_assert_double_le(stolen[1] - stolen[0], all[1] - all[0]);
    ck_assert_double_lt(stolen[1], all[1]);
}
END_TEST

Suite *suite_usage(void)
{
    Suite *suite = suite_create("usage");
    TCase *tcase = tcase_create("usage");
    tcase_add_test(tcase, work_is_told_from_waiting);
    tcase_add_test(tcase, a_shared_core_is_waited_for);
    tcase_add_test(tcase, work_that_is_put_off_counts);
    tcase_add_test(tcase, memory_is_what_was_touched);
    tcase_add_test(tcase, ticks_of_all_cores_are_counted);
    suite_add_tcase(suite, tcase);
    return suite;
}
