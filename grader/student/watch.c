/*
 * watch.c: `grader watch`: grade an exercise whenever its file is saved, until Ctrl-C. inotify
 * watches the folders of the phases, since editors replace files rather than write into them, and
 * the folder above, since others replace folders. A file that is saved while it is graded is graded
 * again from the start.
 */
#include "student.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SETTLE_MS     150 /* editors touch a file several times to save it once */
#define FOLDERS_MAX   16
#define EXERCISES_MAX 256

typedef struct folder {
    int watch;     /* -1: it is not there */
    char path[64]; /* in the submission, e.g. phase1_cpu */
} folder;

typedef struct watching {
    const options *options;
    int notify, above; /* above: the watch of the submission */
    folder folders[FOLDERS_MAX];
    int folder_count;
    const exercise *saved[EXERCISES_MAX]; /* since they were graded */
    int saved_count;
    const exercise *at_work; /* what the child grades */
    pid_t child;             /* 0: nothing is graded */
} watching;

/* ---- what is saved --------------------------------------------------------------------------- */

/* @return false after a message, unless it only is not there yet */
static bool watch_path(const watching *w, folder *f)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", w->options->submission, f->path);
    f->watch = inotify_add_watch(w->notify, path, IN_CLOSE_WRITE | IN_MOVED_TO);
    if (f->watch >= 0 || errno == ENOENT) return true;
    fprintf(stderr, "grader: cannot watch %s: %s\n", path, strerror(errno));
    return false;
}

static bool watch_folder(watching *w, const exercise *e)
{
    const int length = (int)strcspn(e->file, "/");
    for (int i = 0; i < w->folder_count; i++) {
        if (!strncmp(w->folders[i].path, e->file, (size_t)length)) return true;
    }
    if (w->folder_count == FOLDERS_MAX) return false;
    folder *f = &w->folders[w->folder_count++];
    snprintf(f->path, sizeof f->path, "%.*s", length, e->file);
    return watch_path(w, f);
}

static bool has_file(const exercise *e, const char *file)
{
    for (int i = 0; exercise_file(e, i); i++) {
        if (!strcmp(exercise_file(e, i), file)) return true;
    }
    return false;
}

static const exercise *find_file(const watching *w, const struct inotify_event *event)
{
    char file[PATH_MAX];
    for (int i = 0; i < w->folder_count && event->len > 0; i++) {
        if (w->folders[i].watch != event->wd) continue;
        snprintf(file, sizeof file, "%s/%s", w->folders[i].path, event->name);
        for (const exercise *const *e = catalog(); *e; e++) {
            if (has_file(*e, file) && options_want(w->options, *e)) return *e;
        }
    }
    return NULL;
}

static void enter(watching *w, const exercise *e)
{
    for (int i = 0; i < w->saved_count; i++) {
        if (w->saved[i] == e) return;
    }
    if (w->saved_count < EXERCISES_MAX) w->saved[w->saved_count++] = e;
}

/* Files may have been in a folder before it could be watched: what is unchanged is graded in no
 * time. */
static void enter_files_of(watching *w, const folder *f)
{
    char file[PATH_MAX];
    const size_t length = strlen(f->path);
    for (const exercise *const *e = catalog(); *e; e++) {
        snprintf(file, sizeof file, "%s/%s", w->options->submission, (*e)->file);
        if (strncmp((*e)->file, f->path, length) != 0 || (*e)->file[length] != '/') continue;
        if (options_want(w->options, *e) && access(file, F_OK) == 0) enter(w, *e);
    }
}

/* A phase's folder went away, or came (back). */
static void follow_folder(watching *w, const struct inotify_event *event)
{
    for (int i = 0; i < w->folder_count && event->len > 0; i++) {
        folder *f = &w->folders[i];
        if (strcmp(f->path, event->name) != 0) continue;
        if (f->watch >= 0) inotify_rm_watch(w->notify, f->watch);
        f->watch = -1;
        if (!(event->mask & IN_MOVED_FROM) && watch_path(w, f)) enter_files_of(w, f);
    }
}

static void take_event(watching *w, const struct inotify_event *event)
{
    if (event->wd == w->above) {
        follow_folder(w, event);
        return;
    }
    const exercise *e = find_file(w, event);
    if (e) enter(w, e);
}

/* Read what happened, until nothing has for a moment. */
static void read_events(watching *w)
{
    _Alignas(struct inotify_event) char block[16384];
    struct pollfd ready = {.fd = w->notify, .events = POLLIN};
    do {
        const ssize_t bytes = read(w->notify, block, sizeof block);
        for (ssize_t at = 0; at < bytes;) {
            const struct inotify_event *event = (const void *)(block + at);
            take_event(w, event);
            at += (ssize_t)(sizeof *event + event->len);
        }
    } while (poll(&ready, 1, SETTLE_MS) > 0);
}

/* ---- grading --------------------------------------------------------------------------------- */

static void become_grader(const watching *w, const exercise *e)
{
    char id[16];
    const options *o = w->options;
    const char *argv[16] = {"grader",       "grade",
                            "--submission", o->submission,
                            "--backend",    o->backend == BACKEND_CUDA ? "cuda" : "cpu",
                            "--results",    o->results,
                            "--exercise",   id};
    int count = 10;
    snprintf(id, sizeof id, "%d", e->id);
    if (o->own) argv[count++] = "--own";
    if (o->history) {
        argv[count++] = "--history";
        argv[count++] = o->history;
    }
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    execv("/proc/self/exe", (char *const *)argv);
    _exit(127);
}

static void start(watching *w)
{
    char clock[16];
    const time_t seconds = time(NULL);
    w->at_work = w->saved[0];
    memmove(w->saved, w->saved + 1, (size_t)--w->saved_count * sizeof *w->saved);
    strftime(clock, sizeof clock, "%H:%M:%S", localtime(&seconds));
    printf("\n%s  %s was saved\n", clock, w->at_work->file);
    fflush(stdout);
    w->child = fork();
    if (w->child == 0) become_grader(w, w->at_work);
    if (w->child < 0) w->child = 0;
}

/* A grading of what is no longer on the disk ends early. */
static void stop_outdated(watching *w)
{
    bool outdated = false;
    for (int i = 0; i < w->saved_count; i++) outdated |= w->saved[i] == w->at_work;
    if (!w->child || !outdated) return;
    printf("      saved again: starting over\n");
    kill(-w->child, SIGTERM);
    kill(w->child, SIGTERM);
    waitpid(w->child, NULL, 0);
    w->child = 0;
}

static void look_after_child(watching *w)
{
    if (w->child > 0 && waitpid(w->child, NULL, WNOHANG) == w->child) {
        w->child = 0;
        printf("\nwatching; Ctrl-C ends it\n");
        fflush(stdout);
    }
    if (w->child == 0 && w->saved_count > 0) start(w);
}

int watch(const options *o)
{
    watching w = {.options = o, .notify = inotify_init1(IN_CLOEXEC)};
    if (w.notify < 0) {
        fprintf(stderr, "grader: cannot watch files: %s\n", strerror(errno));
        return 2;
    }
    w.above = inotify_add_watch(w.notify, o->submission, IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM);
    if (w.above < 0) {
        fprintf(stderr, "grader: cannot watch %s: %s\n", o->submission, strerror(errno));
        return 2;
    }
    for (const exercise *const *e = catalog(); *e; e++) {
        if (options_want(o, *e) && !watch_folder(&w, *e)) return 2;
    }
    printf("watching %s; save a file and it is graded; Ctrl-C ends it\n", o->submission);
    fflush(stdout);
    for (;;) {
        struct pollfd ready = {.fd = w.notify, .events = POLLIN};
        if (poll(&ready, 1, w.child ? 100 : -1) > 0) {
            read_events(&w);
            stop_outdated(&w);
        }
        look_after_child(&w);
    }
}
