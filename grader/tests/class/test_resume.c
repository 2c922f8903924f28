/*
 * test_resume.c: whole runs with a fake grader: killed on the way and taken up again, two at once,
 * twins, and a grader that fails.
 */
#include "tests.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STUDENTS 12

static char folder[64], in[96], out[96], log_file[96], fake[PATH_MAX];
static const char *command[4];
static class_options run;

static void hand_in(const char *student, const char *content)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/phase1_cpu/103_matmul_cpu.c", in, student);
    make_folders_of(path);
    FILE *file = fopen(path, "w");
    fputs(content, file);
    fclose(file);
}

static void set_up(void)
{
    const char *root = getenv("COURSE_ROOT");
    snprintf(folder, sizeof folder, "/tmp/class.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(log_file, sizeof log_file, "%s/log", folder);
    snprintf(fake, sizeof fake, "%s/grader/tests/class/fake_grader", root ? root : ".");
    command[0] = fake, command[1] = log_file, command[2] = "grade";
    run = (class_options){
        .submissions = in, .out = out, .grader = command, .build = folder, .jobs = 3};
    mkdir(in, 0700);
}

static void hand_in_all(void)
{
    for (int i = 0; i < STUDENTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "student%02d", i);
        hand_in(name, name);
    }
}

static void tear_down(void)
{
    remove_tree(folder);
}

static int lines(const char *begin)
{
    char line[128];
    int count = 0;
    FILE *file = fopen(log_file, "r");
    while (file && fgets(line, sizeof line, file))
        count += strncmp(line, begin, strlen(begin)) == 0;
    if (file) fclose(file);
    return count;
}

static int results(void)
{
    char pattern[128];
    snprintf(pattern, sizeof pattern, "ls %s/graded/*.json 2>/dev/null | wc -l", out);
    FILE *pipe = popen(pattern, "r");
    int count = -1;
    ck_assert_int_eq(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

static pid_t start_run(void)
{
    const pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stdout);
        _exit(class_run(&run));
    }
    return child;
}

/* Killed three times. A result that was there is never made again: what begins after a kill is what
 * had no result at that time. */
START_TEST(killed_and_resumed)
{
    hand_in_all();
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

START_TEST(only_one_at_a_time)
{
    char path[PATH_MAX];
    hand_in_all();
    const pid_t child = start_run();
    snprintf(path, sizeof path, "%s/lock", out);
    while (lines("begin") == 0) usleep(5000);
    ck_assert_int_eq(class_run(&run), 2);
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

static bool gradebook_has(const char *words)
{
    char path[PATH_MAX], line[1024];
    bool found = false;
    snprintf(path, sizeof path, "%s/gradebook.csv", out);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) found = found || strstr(line, words);
    if (file) fclose(file);
    return found;
}

START_TEST(links_and_empty_ones_are_refused)
{
    char path[PATH_MAX];
    hand_in("anna", "fine");
    hand_in("eve", "fine");
    snprintf(path, sizeof path, "%s/eve/phase1_cpu/103_matmul_cpu.c", in);
    unlink(path);
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    snprintf(path, sizeof path, "%s/nothing", in);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/anna.zip", in);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq(class_run(&run), 0);
    ck_assert(gradebook_has("eve,refused"));
    ck_assert(gradebook_has("nothing,refused"));
    ck_assert(gradebook_has("anna,refused"));
    ck_assert(gradebook_has("two submissions of this name"));
    ck_assert_int_eq(lines("begin"), 0);
}
END_TEST

START_TEST(nothing_to_grade)
{
    ck_assert_int_eq(class_run(&run), 2);
    run.submissions = "/nowhere";
    ck_assert_int_eq(class_run(&run), 2);
}
END_TEST

Suite *suite_resume(void)
{
    Suite *suite = suite_create("resume");
    TCase *tcase = tcase_create("resume");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, killed_and_resumed);
    tcase_add_test(tcase, only_one_at_a_time);
    tcase_add_test(tcase, equal_files_are_graded_once);
    tcase_add_test(tcase, a_failing_grader_is_tried_again);
    tcase_add_test(tcase, links_and_empty_ones_are_refused);
    tcase_add_test(tcase, nothing_to_grade);
    suite_add_tcase(suite, tcase);
    return suite;
}
