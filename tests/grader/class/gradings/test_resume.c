/*
 * test_resume.c: whole runs with a fake grader: killed on the way and taken up again, two at once,
 * twins, and a grader that fails.
 */
#include "grader/class/tests.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STUDENTS 12

/* Killed three times. A result that was there is never made again: what begins after a kill is what
 * had no result at that time. */
START_TEST(killed_and_resumed)
{
    hand_in_all(STUDENTS);
    for (int kills = 1; kills <= 3; kills++) {
        const pid_t child = start_run();
        while (results() < kills * 2) usleep(5000);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        usleep(50000);
        const int kept = results(), begun = lines("begin");
        if (kills < 3) continue;
        ck_assert_int_eq(class_run(&run), 0);
        ck_assert_int_eq(results(), STUDENTS);
        ck_assert_int_eq(lines("begin") - begun, STUDENTS - kept);
    }
    const int begun = lines("begin");
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(lines("begin"), begun);
}
END_TEST

/* It is stopped as soon as it has begun: else it may end while the other one waits for its lock. */
START_TEST(only_one_at_a_time)
{
    hand_in_all(STUDENTS);
    const pid_t child = start_run();
    while (lines("begin") == 0) usleep(5000);
    kill(child, SIGSTOP);
    ck_assert_int_eq(class_run(&run), 2);
    kill(child, SIGCONT);
    int status;
    waitpid(child, &status, 0);
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_int_eq(lines("begin"), STUDENTS);
}
END_TEST

START_TEST(equal_files_are_graded_once)
{
    hand_in("anna", "the same");
    hand_in("ben", "the same");
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(lines("begin"), 1);
    hand_in("ben", "something new");
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(lines("begin"), 2);
}
END_TEST

START_TEST(a_failing_grader_is_tried_again)
{
    hand_in("anna", "broken");
    hand_in("ben", "fine");
    ck_assert_int_eq(class_run(&run), 1);
    ck_assert_int_eq(results(), 1);
    ck_assert_int_eq(class_run(&run), 1);
    ck_assert_int_eq(lines("begin broken"), 2);
    ck_assert_int_eq(lines("begin fine"), 1);
}
END_TEST

/* What was built of a submission goes when it is graded. */
START_TEST(no_objects_are_left)
{
    char path[PATH_MAX];
    hand_in("anna", "fine");
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("../log", "objects=made"));
    snprintf(path, sizeof path, "%s/class_objects", fake_folder);
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

START_TEST(a_name_may_be_any_bytes)
{
    hand_in("j\xfcrgen", "mine");
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("gradebook.csv", "j?rgen,graded"));
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(lines("begin"), 1);
    run.rerun = true;
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_eq(lines("begin"), 2);
    hand_in("j?rgen", "mine, too");
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("gradebook.csv", "two submissions with this name"));
}
END_TEST

START_TEST(links_and_empty_ones_are_refused)
{
    char path[PATH_MAX];
    hand_in("anna", "fine");
    hand_in("eve", "fine");
    snprintf(path, sizeof path, "%s/eve/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", in);
    unlink(path);
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    snprintf(path, sizeof path, "%s/nothing", in);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/anna.zip", in);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("gradebook.csv", "eve,refused"));
    ck_assert(report_has("gradebook.csv", "nothing,refused"));
    ck_assert(report_has("gradebook.csv", "anna,refused"));
    ck_assert(report_has("gradebook.csv", "two submissions with this name"));
    ck_assert_int_eq(lines("begin"), 0);
}
END_TEST

/* Beside the skeleton, and in its place. */
START_TEST(a_misnamed_file_is_noted)
{
    char command[4 * PATH_MAX];
    const char *root = getenv("COURSE_ROOT");
    hand_in("anna", "");
    hand_in("ben", "");
    snprintf(command, sizeof command,
             "cd '%s' && mv anna/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c anna/103_Matmul.cpp && "
             "cp '%s/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c' ben/phase1_cpu/103_matmul_cpu && "
             "touch 'ben/phase1_cpu/103_matmul_cpu/103_matmul_cpu (1).c'",
             in, root ? root : ".");
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("gradebook.csv", "103_Matmul.cpp looks like 103_matmul_cpu.c"));
    ck_assert(report_has("gradebook.csv", "103_matmul_cpu (1).c looks like 103_matmul_cpu.c"));
}
END_TEST

/* Names are unique, so folders are not needed; a file in its phase goes first. */
START_TEST(flat_files_are_taken)
{
    char path[PATH_MAX], command[3 * PATH_MAX];
    snprintf(path, sizeof path, "%s/lena/homework/103_matmul_cpu.c", in);
    make_folders_of(path);
    snprintf(command, sizeof command,
             "cd '%s' && printf flat >lena/homework/103_matmul_cpu.c && cp -r lena mona && "
             "mkdir -p mona/homework/phase1_cpu/103_matmul_cpu && "
             "printf phase >mona/homework/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c && "
             "mkdir nils && ln -s ../lena/homework/103_matmul_cpu.c nils && "
             "mkdir -p olga/phase1_cpu && printf old >olga/phase1_cpu/103_matmul_cpu.c && "
             "tar czf otto.tgz -C lena/homework 103_matmul_cpu.c",
             in);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("gradebook.csv", "lena,graded"));
    ck_assert(report_has("gradebook.csv", "otto,graded"));
    ck_assert(report_has("gradebook.csv", "nils,refused"));
    ck_assert(report_has("gradebook.csv", "olga,refused"));
    ck_assert(report_has("gradebook.csv", "a folder of its own, as phase1_cpu/103_matmul_cpu/"));
    ck_assert_int_eq(lines("begin flat"), 1); /* lena's and otto's are the same */
    ck_assert_int_eq(lines("begin phase"), 1);
}
END_TEST

/* Half of the files cannot be copied: nobody is refused, nothing is lost, the next run has room. */
START_TEST(a_full_disk_is_nobodys_fault)
{
    static char big[200000];
    memset(big, 'x', sizeof big);
    big[sizeof big - 1] = '\0';
    hand_in("anna", big);
    hand_in("ben", "fine");
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){100000, 100000});
        _exit(class_run(&run));
    }
    int status;
    waitpid(child, &status, 0);
    ck_assert_int_eq(WEXITSTATUS(status), 1);
    ck_assert(report_has("gradebook.csv", "anna,error"));
    ck_assert(report_has("gradebook.csv", "ben,graded"));
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("gradebook.csv", "anna,graded"));
    ck_assert_int_eq(lines("begin fine"), 1);
}
END_TEST

static int times(const char *words)
{
    char line[256];
    int count = 0;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/log", fake_folder);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) count += strstr(line, words) != NULL;
    if (file) fclose(file);
    return count;
}

START_TEST(gpus_are_shared_out)
{
    hand_in_all(STUDENTS);
    run.gpus = "0,3", run.jobs = 4;
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert_int_gt(times("gpu=0"), 1);
    ck_assert_int_gt(times("gpu=3"), 1);
    ck_assert_int_eq(times("gpu=0") + times("gpu=3"), STUDENTS);
}
END_TEST

/* Of a clock that is ahead nobody has a day's penalty. */
START_TEST(a_time_in_the_future)
{
    char path[PATH_MAX];
    hand_in("anna", "fine");
    snprintf(path, sizeof path, "%s/anna/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c",
             run.submissions);
    const struct timespec later[2] = {{.tv_sec = time(NULL) + 90000},
                                      {.tv_sec = time(NULL) + 90000}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, later, 0), 0);
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("gradebook.csv", "is in the future"));
}
END_TEST

START_TEST(nothing_to_grade)
{
    ck_assert_int_eq(class_run(&run), 2);
    run.submissions = "/nowhere";
    ck_assert_int_eq(class_run(&run), 2);
}
END_TEST

/* Answers that stand for a name are graded as that student's, and whose they are is said. */
START_TEST(answers_of_another_are_noted)
{
    static const drawn_number numbers[] = {{"n", 1, 9, 1}, {0}};
    const exercise *before = catalog_find(103);
    exercise made = *before;
    made.parts[0] = "phase1_cpu/103.answers";
    made.drawn = numbers;
    catalog_replace(&made);
    const char *const names[] = {"anna", "ben"};
    for (int i = 0; i < 2; i++) {
        char path[PATH_MAX];
        hand_in(names[i], "one");
        snprintf(path, sizeof path, "%s/%s/phase1_cpu/103.answers", in, names[i]);
        FILE *file = fopen(path, "w");
        fputs("student = anna\n", file);
        fclose(file);
    }
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(report_has("gradebook.csv", "the answers of 103 are those of `anna`"));
    ck_assert_int_eq(lines("begin one"), 1); /* what is equal is graded once */
    catalog_replace(before);
}
END_TEST

Suite *suite_resume(void)
{
    Suite *suite = suite_create("resume");
    TCase *tcase = tcase_create("resume");
    tcase_add_checked_fixture(tcase, class_set_up, class_tear_down);
    tcase_add_test(tcase, killed_and_resumed);
    tcase_add_test(tcase, only_one_at_a_time);
    tcase_add_test(tcase, equal_files_are_graded_once);
    tcase_add_test(tcase, a_failing_grader_is_tried_again);
    tcase_add_test(tcase, no_objects_are_left);
    tcase_add_test(tcase, a_name_may_be_any_bytes);
    tcase_add_test(tcase, links_and_empty_ones_are_refused);
    tcase_add_test(tcase, a_misnamed_file_is_noted);
    tcase_add_test(tcase, flat_files_are_taken);
    tcase_add_test(tcase, a_full_disk_is_nobodys_fault);
    tcase_add_test(tcase, gpus_are_shared_out);
    tcase_add_test(tcase, a_time_in_the_future);
    tcase_add_test(tcase, nothing_to_grade);
    tcase_add_test(tcase, answers_of_another_are_noted);
    suite_add_tcase(suite, tcase);
    return suite;
}
