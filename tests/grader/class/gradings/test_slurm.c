/* test_slurm.c: a class through a fake Slurm; tests/scripts/slurm.sh takes the real one. */
#include "grader/class/tests.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STUDENTS 10

static char settings_file[96];

static void set_up(void)
{
    static const char *const commands[] = {"sbatch", "squeue", "scontrol"};
    char to[PATH_MAX], link[128], path[PATH_MAX];
    const char *root = getenv("COURSE_ROOT");
    class_set_up();
    snprintf(to, sizeof to, "%s/tests/grader/class/fake_slurm", root ? root : ".");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        snprintf(link, sizeof link, "%s/bin/%s", fake_folder, commands[i]);
        make_folders_of(link);
        ck_assert_int_eq(symlink(to, link), 0);
    }
    snprintf(path, sizeof path, "%s/bin:%s", fake_folder, getenv("PATH"));
    setenv("PATH", path, 1);
    snprintf(settings_file, sizeof settings_file, "%s/class.ini", fake_folder);
    behave("class.ini", "[slurm]\npoll = 0.1\npartition = teaching\nlimit = 2\n");
    run.settings = settings_file;
    run.slurm = true;
}

static bool told(const char *words)
{
    char command[256];
    snprintf(command, sizeof command, "grep -q -e '%s' '%s'/sbatch.*", words, fake_folder);
    return system(command) == 0;
}

/* In jobs of at most four tasks, because this Slurm says so. */
START_TEST(all_by_tasks)
{
    hand_in_all(STUDENTS);
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(lines("begin"), STUDENTS);
    ck_assert_int_eq(results(), STUDENTS);
    ck_assert(report_has("gradebook.csv", "student09,graded,1.00"));
    ck_assert(told("--array=0-3%2 .*--partition=teaching .*class_task.sh 4 "));
    ck_assert(told("--array=0-1%2 .*class_task.sh 8 "));
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(lines("begin"), STUDENTS);
}
END_TEST

START_TEST(killed_while_tasks_go_on)
{
    hand_in_all(STUDENTS);
    const pid_t child = start_run();
    while (results() < 2 || !told("class_task.sh 8 ")) usleep(5000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ck_assert_int_lt(results(), STUDENTS);
    run.slurm = _i == 0; /* a run without Slurm waits for the tasks as well */
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(results(), STUDENTS);
    ck_assert_int_eq(lines("begin"), STUDENTS);
}
END_TEST

START_TEST(a_task_that_fails)
{
    hand_in("anna", "broken");
    hand_in("ben", "fine");
    ck_assert_int_eq(class_run(&run), 1);
    ck_assert(report_has("gradebook.csv", "anna,error"));
    ck_assert(report_has("gradebook.csv", "ben,graded"));
    hand_in("anna", "mended");
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(lines("begin"), 3);
}
END_TEST

/* What is there is reported, and the next run submits. */
START_TEST(slurm_refuses)
{
    char path[PATH_MAX];
    hand_in_all(2);
    behave("refuse", "");
    ck_assert_int_eq(class_run(&run), 2);
    ck_assert(report_has("gradebook.csv", "student00,error"));
    snprintf(path, sizeof path, "%s/refuse", fake_folder);
    unlink(path);
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(lines("begin"), 2);
}
END_TEST

START_TEST(no_slurm_at_all)
{
    hand_in_all(2);
    setenv("PATH", "/nowhere", 1);
    ck_assert_int_eq(class_run(&run), 2);
    ck_assert_int_eq(lines("begin"), 0);
}
END_TEST

START_TEST(a_line_that_is_not_there)
{
    ck_assert_int_eq(slurm_task(&run, settings_file, 99), 1);
    ck_assert_int_eq(slurm_task(&run, "/nowhere", 0), 1);
}
END_TEST

Suite *suite_slurm(void)
{
    Suite *suite = suite_create("slurm");
    TCase *tcase = tcase_create("slurm");
    tcase_add_checked_fixture(tcase, set_up, class_tear_down);
    tcase_add_test(tcase, all_by_tasks);
    tcase_add_loop_test(tcase, killed_while_tasks_go_on, 0, 2);
    tcase_add_test(tcase, a_task_that_fails);
    tcase_add_test(tcase, slurm_refuses);
    tcase_add_test(tcase, no_slurm_at_all);
    tcase_add_test(tcase, a_line_that_is_not_there);
    suite_add_tcase(suite, tcase);
    return suite;
}
