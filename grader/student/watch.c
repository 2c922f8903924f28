/*
 * watch.c: `grader watch`: grade an exercise whenever its file is saved, and go on to the next one
 * when it has passed; until q or Ctrl-C. Keys ask for a hint, the next exercise, the list, and a
 * picture of what its kernels do. inotify watches the exercises' folders, since editors replace
 * files rather than write into them, and the folders above, since others replace folders. A file
 * that is saved while it is graded is graded again from the start.
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
#define FOLDERS_MAX   512
#define EXERCISES_MAX 256

typedef struct folder {
    int watch;     /* -1: it is not there */
    char path[96]; /* in the submission: "", phase1_cpu, phase1_cpu/103_matmul_cpu */
} folder;

typedef struct watching {
    const options *options;
    int notify;
    folder folders[FOLDERS_MAX];
    int folder_count;
    const exercise *saved[EXERCISES_MAX]; /* since they were graded */
    int saved_count;
    const exercise *at_work; /* what the child grades */
    pid_t child;             /* 0: nothing is graded */
    const exercise *current; /* what keys are about */
    bool has_keys, watches;  /* watches: since it has begun */
} watching;

/* ---- what is saved --------------------------------------------------------------------------- */

#define OF_FILES   (IN_CLOSE_WRITE | IN_MOVED_TO)
#define OF_FOLDERS (IN_CREATE | IN_MOVED_FROM)

static void enter_files_of(watching *, const folder *);

/* @return false after a message, unless it only is not there yet */
static bool watch_path(watching *w, folder *f)
{
    char path[PATH_MAX];
    const int before = f->watch;
    snprintf(path, sizeof path, "%s/%s", w->options->submission, f->path);
    f->watch = inotify_add_watch(w->notify, path, OF_FILES | OF_FOLDERS);
    if (f->watch >= 0 && before != f->watch) enter_files_of(w, f);
    if (f->watch >= 0 || errno == ENOENT || errno == ENOTDIR) return true;
    fprintf(stderr, "grader: cannot watch %s: %s\n", path, strerror(errno));
    return false;
}

/* The first `length` characters of a file's path are a folder. */
static bool add_folder(watching *w, const char *file, size_t length)
{
    for (int i = 0; i < w->folder_count; i++) {
        if (!strncmp(w->folders[i].path, file, length) && !w->folders[i].path[length]) return true;
    }
    folder *f = &w->folders[w->folder_count];
    if (w->folder_count == FOLDERS_MAX || length >= sizeof f->path) return false;
    w->folder_count++;
    f->watch = -1;
    memcpy(f->path, file, length);
    return true;
}

/* The submission, the phase's folder, the exercise's: each before those in it. */
static bool watch_folders_of(watching *w, const char *file)
{
    bool added = add_folder(w, file, 0);
    for (const char *slash = strchr(file, '/'); added && slash; slash = strchr(slash + 1, '/')) {
        added = add_folder(w, file, (size_t)(slash - file));
    }
    return added;
}

/* From the top down, so that what comes into a folder meanwhile is seen. */
static bool watch_folders(watching *w)
{
    for (int i = 0; i < w->folder_count; i++) {
        if (!watch_path(w, &w->folders[i])) return false;
    }
    return true;
}

static const exercise *find_file(const watching *w, const struct inotify_event *event)
{
    char file[PATH_MAX];
    for (int i = 0; i < w->folder_count && event->len > 0; i++) {
        if (w->folders[i].watch != event->wd) continue;
        snprintf(file, sizeof file, "%s/%s", w->folders[i].path, event->name);
        for (const exercise *const *e = catalog(); *e; e++) {
            if (exercise_has_file(*e, file) && options_want(w->options, *e)) return *e;
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
    if (!w->watches) return;
    for (const exercise *const *e = catalog(); *e; e++) {
        snprintf(file, sizeof file, "%s/%s", w->options->submission, (*e)->file);
        if (strncmp((*e)->file, f->path, length) != 0 ||
            strrchr((*e)->file, '/') != (*e)->file + length)
            continue;
        if (options_want(w->options, *e) && access(file, F_OK) == 0) enter(w, *e);
    }
}

static void take_event(watching *w, const struct inotify_event *event)
{
    if (event->mask & IN_ISDIR) {
        watch_folders(w); /* one went away, or came (back) */
        return;
    }
    const exercise *e = event->mask & OF_FILES ? find_file(w, event) : NULL;
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
    snprintf(id, sizeof id, "%s", id_words(e->id));
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

static void stop(watching *w)
{
    if (!w->child) return;
    kill(-w->child, SIGTERM);
    kill(w->child, SIGTERM);
    waitpid(w->child, NULL, 0);
    w->child = 0;
}

/* A grading of what is no longer on the disk ends early. */
static void stop_outdated(watching *w)
{
    bool outdated = false;
    for (int i = 0; i < w->saved_count; i++) outdated |= w->saved[i] == w->at_work;
    if (!w->child || !outdated) return;
    printf("      saved again: starting over\n");
    stop(w);
}

/* Say what comes next: behind an exercise, or NULL: as make next does. */
static void go_on(watching *w, const exercise *behind)
{
    printf("\n");
    if (w->options->history) next_after(w->options, &behind);
    if (behind) w->current = behind;
}

/* What the grading that has just ended wrote. */
static bool has_passed(const watching *w)
{
    json_t *results = json_load_file(w->options->results, 0, NULL);
    const json_t *entry = json_array_get(json_object_get(results, "exercises"), 0);
    const bool passed = strcmp(string_of(entry, "status"), "passed") == 0;
    json_decref(results);
    return passed;
}

static void tell_keys(const watching *w)
{
    printf("\nwatching; %s\n",
           w->has_keys ? "h hint, n next, l list, s see, q quit" : "Ctrl-C ends it");
    fflush(stdout);
}

static void look_after_child(watching *w)
{
    int status;
    if (w->child > 0 && waitpid(w->child, &status, WNOHANG) == w->child) {
        w->child = 0;
        w->current = w->at_work;
        if (status == 0 && has_passed(w)) go_on(w, w->at_work);
        tell_keys(w);
    }
    if (w->child == 0 && w->saved_count > 0) start(w);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* As a command of its own: the jobs of the make that runs us are not its. */
static void see_now(const watching *w)
{
    char exercise[32], submission[PATH_MAX + 16], build[PATH_MAX + 16], whole[PATH_MAX];
    if (!realpath(w->options->submission, whole)) return;
    if (exercise_is_skeleton(w->options, w->current)) {
        printf("  %s is not started\n", id_words(w->current->id));
        return;
    }
    snprintf(exercise, sizeof exercise, "EX=%s", id_words(w->current->id));
    snprintf(submission, sizeof submission, "SUBMISSION=%s", whole);
    snprintf(build, sizeof build, "BUILD=%s", w->options->build);
    const pid_t child = fork();
    if (child == 0) {
        unsetenv("MAKEFLAGS");
        execlp("make", "make", "--no-print-directory", "-C", w->options->root, "see", exercise,
               submission, build, (char *)NULL);
        _exit(127);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

/* What make hint EX=... does. */
static void show_hint(const watching *w)
{
    options one = *w->options;
    one.exercises = id_words(w->current->id);
    hint(&one);
}

static void obey(watching *w, int key)
{
    printf("\n");
    fflush(stdout);
    switch (key) {
    case 'h': show_hint(w); break;
    case 'n': go_on(w, w->current); break;
    case 'l': progress(w->options); break;
    case 's': see_now(w); break;
    default: break;
    }
    tell_keys(w);
}

/* @return false: to quit */
static bool take_key(watching *w)
{
    const int key = keys_read();
    w->has_keys = key != EOF;
    if (key != EOF && key != 'q') obey(w, key);
    return key != 'q';
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* @return false after a message */
static bool watch_submission(watching *w)
{
    const options *o = w->options;
    w->notify = inotify_init1(IN_CLOEXEC);
    if (w->notify < 0) {
        fprintf(stderr, "grader: cannot watch files: %s\n", strerror(errno));
        return false;
    }
    if (access(o->submission, R_OK) != 0) {
        fprintf(stderr, "grader: cannot watch %s: %s\n", o->submission, strerror(errno));
        return false;
    }
    for (const exercise *const *e = catalog(); *e; e++) {
        if (!options_want(o, *e)) continue;
        if (!watch_folders_of(w, (*e)->file)) return false;
        if (!w->current) w->current = *e;
    }
    w->watches = watch_folders(w);
    return w->watches;
}

int watch(const options *o)
{
    watching w = {.options = o};
    if (!watch_submission(&w)) return 2;
    w.has_keys = keys_open();
    printf("watching %s; save a file and it is graded\n", o->submission);
    go_on(&w, NULL);
    tell_keys(&w);
    for (;;) {
        struct pollfd ready[] = {{.fd = w.notify, .events = POLLIN},
                                 {.fd = w.has_keys ? STDIN_FILENO : -1, .events = POLLIN}};
        const int count = poll(ready, 2, w.child ? 100 : -1);
        if (count > 0 && ready[0].revents) {
            read_events(&w);
            stop_outdated(&w);
        }
        if (count > 0 && ready[1].revents && !take_key(&w)) break;
        look_after_child(&w);
    }
    stop(&w);
    return 0;
}
