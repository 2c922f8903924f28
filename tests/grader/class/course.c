/* course.c: a class with a fake grader, for the tests that run all of it. */
#include "tests.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char in[96], out[96], fake_folder[64];
class_options run;

static char fake[PATH_MAX];
static const char *command[3];

void hand_in(const char *student, const char *content)
{
    write_text(content, "%s/%s/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", in, student);
}

void hand_in_all(int students)
{
    for (int i = 0; i < students; i++) {
        char name[16];
        snprintf(name, sizeof name, "student%02d", i);
        hand_in(name, name);
    }
}

void class_set_up(void)
{
    const char *root = getenv("COURSE_ROOT");
    snprintf(fake_folder, sizeof fake_folder, "/tmp/class.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(fake_folder));
    snprintf(in, sizeof in, "%s/in", fake_folder);
    snprintf(out, sizeof out, "%s/out", fake_folder);
    snprintf(fake, sizeof fake, "%s/tests/grader/class/fake_grader", root ? root : ".");
    setenv("FAKE", fake_folder, 1);
    command[0] = fake, command[1] = "grade";
    run = (class_options){
        .submissions = in, .out = out, .grader = command, .build = fake_folder, .jobs = 3};
    mkdir(in, 0700);
}

void class_tear_down(void)
{
    remove_tree(fake_folder);
}

int lines(const char *begin)
{
    char line[128], path[96];
    int count = 0;
    snprintf(path, sizeof path, "%s/log", fake_folder);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        count += strncmp(line, begin, strlen(begin)) == 0;
    if (file) fclose(file);
    return count;
}

int results(void)
{
    char pattern[128];
    snprintf(pattern, sizeof pattern, "ls %s/graded/*.json 2>/dev/null | wc -l", out);
    FILE *pipe = popen(pattern, "r");
    int count = -1;
    ck_assert_int_eq(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

pid_t start_run(void)
{
    const pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stdout);
        _exit(class_run(&run));
    }
    return child;
}

bool report_has(const char *report, const char *words)
{
    char path[PATH_MAX], line[1024];
    bool found = false;
    snprintf(path, sizeof path, "%s/%s", out, report);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) found = found || strstr(line, words);
    if (file) fclose(file);
    return found;
}

void behave(const char *what, const char *how)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", fake_folder, what);
    FILE *file = fopen(path, "w");
    fputs(how, file);
    fclose(file);
}
