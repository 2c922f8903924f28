/*
 * task.c: one submission, one grader process, one result. The kernel ends the grader when this
 * process dies. A result counts once it has its name in graded/, which takes one rename(); what was
 * at work when the run was killed is graded again by the next.
 */
#include "gradings.h"

#include "timer.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE 7200.0 /* seconds; the grader has its own, so this is for a grader gone wrong */
#define WORDS    64

/* ---- results --------------------------------------------------------------------------------- */

const char *graded_path(const class_options *o, const submission *s, const char *ending)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/graded/%.32s%s", o->out, s->key, ending);
    return path;
}

static json_t *read_results(const char *path)
{
    json_t *results = json_load_file(path, 0, NULL);
    if (json_is_array(json_object_get(results, "exercises")) &&
        !json_object_get(results, "error")) {
        return results;
    }
    json_decref(results);
    return NULL;
}

void load_results(const class_options *o, submission *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!*all[i].key || *all[i].refused || all[i].results) continue;
        all[i].results = read_results(graded_path(o, &all[i], ".json"));
    }
}

/* In work/, so that what a kill leaves of it is cleared away with the rest. */
static void unfinished_path(char path[PATH_MAX], const submission *s)
{
    snprintf(path, PATH_MAX, "%s.json", s->folder);
}

/* Where its grader builds it, beside what all are linked and timed with. */
static const char *objects_path(const class_options *o, const submission *s)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/class_objects/%.32s", o->build, s->key);
    return path;
}

static void keep(const class_options *o, submission *s, int status)
{
    char unfinished[PATH_MAX];
    unfinished_path(unfinished, s);
    json_t *results =
        WIFEXITED(status) && WEXITSTATUS(status) == 0 ? read_results(unfinished) : NULL;
    s->failed = !results || rename(unfinished, graded_path(o, s, ".json")) != 0;
    if (!s->failed) {
        s->results = results;
        return;
    }
    json_decref(results);
    unlink(unfinished);
}

/* ---- the process ----------------------------------------------------------------------------- */

/* Its own words, then: where, into which file, and nothing remembered when all is graded anew. */
static void make_command(const class_options *o, const submission *s, const char *argv[WORDS + 8])
{
    static char unfinished[PATH_MAX];
    int count = 0;
    for (; o->grader[count] && count < WORDS; count++) argv[count] = o->grader[count];
    unfinished_path(unfinished, s);
    argv[count++] = "--submission";
    argv[count++] = s->folder;
    argv[count++] = "--results";
    argv[count++] = unfinished;
    if (o->generation > 1) argv[count++] = "--fresh";
    argv[count++] = "--objects";
    argv[count++] = objects_path(o, s);
    argv[count] = NULL;
}

static void become_grader(const class_options *o, const task *t, pid_t parent)
{
    const char *argv[WORDS + 8];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    make_command(o, t->submission, argv);
    if (t->gpu) setenv("CUDA_VISIBLE_DEVICES", t->gpu, 1);
    const int log = open(graded_path(o, t->submission, ".log"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execv(argv[0], (char *const *)argv);
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

void task_start(const class_options *o, task *t)
{
    const pid_t parent = getpid();
    t->began = seconds_now();
    fflush(NULL);
    t->pid = fork();
    if (t->pid == 0) become_grader(o, t, parent);
}

bool task_ended(const class_options *o, task *t)
{
    int status;
    if (t->pid < 0) {
        t->submission->failed = true;
        return true;
    }
    if (waitpid(t->pid, &status, WNOHANG) == t->pid) {
        keep(o, t->submission, status);
        remove_tree(objects_path(o, t->submission));
        return true;
    }
    if (seconds_now() - t->began > DEADLINE) kill(t->pid, SIGKILL);
    return false;
}
