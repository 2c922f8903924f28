/*
 * pool.c: a grader process for each submission without results. The kernel ends them when this
 * process dies. A result counts once it has its name in graded/, which takes one rename(); what was
 * at work when the run was killed is graded again by the next.
 */
#include "class/class.h"

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
#define JOBS_MAX 256

typedef struct slot {
    pid_t pid; /* 0: free */
    submission *submission;
    double began;
} slot;

typedef struct pool {
    const class_options *options;
    submission **waiting; /* one for each key */
    size_t count, next, done, failed;
    slot slots[JOBS_MAX];
    double began;
} pool;

/* ---- what was graded before ------------------------------------------------------------------ */

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
        if (*all[i].refused || all[i].results) continue;
        all[i].results = read_results(graded_path(o, &all[i], ".json"));
    }
}

static bool is_waiting(const pool *p, const submission *s)
{
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->waiting[i]->key, s->key) == 0) return true;
    }
    return false;
}

/* ---- one process ----------------------------------------------------------------------------- */

static void become_grader(const class_options *o, const submission *s, pid_t parent)
{
    const char *argv[WORDS + 5];
    int count = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    while (o->grader[count] && count < WORDS) {
        argv[count] = o->grader[count];
        count++;
    }
    argv[count++] = "--submission";
    argv[count++] = s->folder;
    argv[count++] = "--results";
    argv[count++] = strdup(graded_path(o, s, ".new"));
    argv[count] = NULL;
    const int log = open(graded_path(o, s, ".log"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execv(argv[0], (char *const *)argv);
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static void start(pool *p, slot *to)
{
    const pid_t parent = getpid();
    *to = (slot){.submission = p->waiting[p->next++], .began = seconds_now()};
    unlink(graded_path(p->options, to->submission, ".new"));
    fflush(stdout);
    to->pid = fork();
    if (to->pid == 0) become_grader(p->options, to->submission, parent);
}

/* @return false when the grader left no results that count */
static bool keep(const class_options *o, submission *s, int status)
{
    char unfinished[PATH_MAX];
    snprintf(unfinished, sizeof unfinished, "%s", graded_path(o, s, ".new"));
    json_t *results =
        WIFEXITED(status) && WEXITSTATUS(status) == 0 ? read_results(unfinished) : NULL;
    s->failed = !results || rename(unfinished, graded_path(o, s, ".json")) != 0;
    if (s->failed) {
        json_decref(results);
        unlink(unfinished);
    } else {
        s->results = results;
    }
    return !s->failed;
}

/* ---- progress -------------------------------------------------------------------------------- */

static void time_left(const pool *p, char text[64])
{
    const double left = (seconds_now() - p->began) / (double)p->done * (double)(p->count - p->done);
    snprintf(text, 64, left < 90 ? "%.0f s left" : "%.0f min left", left < 90 ? left : left / 60);
}

static void report_one(const pool *p, const slot *s)
{
    char left[64], verdict[64];
    snprintf(verdict, sizeof verdict, "%.1f of %.1f points",
             real_of(s->submission->results, "points"),
             real_of(s->submission->results, "max_points"));
    time_left(p, left);
    if (isatty(STDOUT_FILENO)) printf("\r\033[K");
    printf("  %4zu of %zu  %-24s %s, %.0f s; %s\n", p->done, p->count, s->submission->student,
           s->submission->failed ? "the grader failed" : verdict, seconds_now() - s->began, left);
    if (s->submission->failed) {
        printf("         see %s; the next make class tries again\n",
               graded_path(p->options, s->submission, ".log"));
    }
    fflush(stdout);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void finish(pool *p, slot *s, int status)
{
    if (!keep(p->options, s->submission, status)) p->failed++;
    p->done++;
    report_one(p, s);
    s->pid = 0;
}

/* A process that could not even be started counts as one that failed. */
static void start_more(pool *p)
{
    for (int i = 0; i < p->options->jobs && i < JOBS_MAX && p->next < p->count; i++) {
        if (p->slots[i].pid > 0) continue;
        start(p, &p->slots[i]);
        if (p->slots[i].pid < 0) finish(p, &p->slots[i], 127 << 8);
    }
}

static void look_after(pool *p, slot *s)
{
    int status;
    if (s->pid <= 0) return;
    if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
        finish(p, s, status);
    } else if (seconds_now() - s->began > DEADLINE) {
        kill(s->pid, SIGKILL);
    }
}

static void run(pool *p)
{
    while (p->done < p->count) {
        start_more(p);
        for (int i = 0; i < p->options->jobs && i < JOBS_MAX; i++) look_after(p, &p->slots[i]);
        usleep(20000);
    }
}

/* Equal files get equal results; a failure of the grader is everybody's. */
static void share_failures(submission *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!*all[i].refused && !all[i].results) all[i].failed = true;
    }
}

void grade_submissions(const class_options *o, submission *all, size_t count)
{
    pool p = {.options = o, .began = seconds_now()};
    p.waiting = calloc(count + 1, sizeof *p.waiting);
    load_results(o, all, count);
    for (size_t i = 0; i < count; i++) {
        if (*all[i].refused || all[i].results || is_waiting(&p, &all[i])) continue;
        p.waiting[p.count++] = &all[i];
    }
    printf("class: %zu submissions, %zu to grade, %d at once\n", count, p.count, o->jobs);
    run(&p);
    load_results(o, all, count);
    share_failures(all, count);
    free(p.waiting);
}
