/*
 * slurm.c: the same on a cluster. Each task of an array of jobs is this program again, with one
 * submission, and leaves its result where a grader of the pool would: in graded/, at once or not at
 * all. So this process may be killed while the tasks go on. The next run finds them in the queue,
 * by a name that follows from OUT, waits until they are through, and submits what is then missing.
 *
 * OUT, the course and its build folder lie where all nodes see them.
 */
#include "gradings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE 300.0 /* seconds in which the queue may not answer */
#define SETTLE   2     /* looks at an empty queue, until a file of another node is seen here */
#define WORDS    64

/* ---- Slurm's commands ------------------------------------------------------------------------ */

static void job_name(const class_options *o, char name[32])
{
    char hex[HASH_HEX];
    const char *out = realpath(o->out, NULL);
    hash *h = hash_begin();
    hash_text(h, out ? out : o->out);
    hash_end(h, hex);
    free((char *)out);
    snprintf(name, 32, "class-%.16s", hex);
}

static double poll_seconds(const settings *s)
{
    const char *value = settings_find(s, "slurm", "poll");
    return value ? atof(value) : 5.0;
}

/* @return how many tasks are in the queue, or -1 when it does not answer */
static long look_at_queue(const class_options *o, size_t *running)
{
    char name[40], filter[64], user[32];
    long queued = 0;
    job_name(o, name);
    snprintf(filter, sizeof filter, "--name=%s", name);
    snprintf(user, sizeof user, "--user=%u", (unsigned)getuid());
    const char *const argv[] = {"squeue", "--noheader", "--array", "--format=%T",
                                filter,   user,         NULL};
    process_result r = process_run(argv, NULL, 60.0, 1 << 20);
    *running = 0;
    for (char *rest = r.output, *line; rest && (line = strsep(&rest, "\n"));) {
        queued += *line != '\0';
        *running += strcmp(line, "RUNNING") == 0;
    }
    free(r.output);
    return r.status == 0 ? queued : -1;
}

static long array_most(void)
{
    const char *const argv[] = {"scontrol", "show", "config", NULL};
    process_result r = process_run(argv, NULL, 60.0, 1 << 20);
    const char *at = r.output ? strstr(r.output, "MaxArraySize") : NULL;
    const long most = at ? atol(at + strcspn(at, "0123456789")) : 1001;
    free(r.output);
    return most > 1 ? most - 1 : 1000;
}

static bool has_slurm(void)
{
    const char *const commands[] = {"sbatch", "squeue", "scontrol"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const char *const argv[] = {commands[i], "--version", NULL};
        process_result r = process_run(argv, NULL, 60.0, 1 << 12);
        free(r.output);
        if (r.status == 0) continue;
        fprintf(stderr,
                "class: SCHEDULER=slurm needs %s, which does not run here (Debian: "
                "slurm-client)\n",
                commands[i]);
        return false;
    }
    return true;
}

/* ---- submitting ------------------------------------------------------------------------------ */

typedef struct command {
    const char *argv[WORDS + 1];
    char *owned[WORDS];
    int count, owned_count;
} command;

static void add(command *c, const char *word)
{
    if (c->count < WORDS) c->argv[c->count++] = word;
}

static void add_format(command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_format(command *c, const char *format, ...)
{
    va_list arguments;
    char *word = NULL;
    va_start(arguments, format);
    if (c->owned_count < WORDS && vasprintf(&word, format, arguments) >= 0) {
        c->owned[c->owned_count++] = word;
        add(c, word);
    }
    va_end(arguments);
}

static void add_settings(command *c, const settings *s)
{
    for (const char *const *option = slurm_options; *option; option++) {
        const char *value = settings_find(s, "slurm", *option);
        if (value) add_format(c, "--%s=%s", *option, value);
    }
}

/* What the task's program is told: this program's own words, for one line of the list. */
static void add_task(command *c, const class_options *o, size_t first)
{
    char program[PATH_MAX] = "";
    const char *root = getenv("COURSE_ROOT");
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return;
    add_format(c, "%s/tools/class_task.sh", root ? root : ".");
    add_format(c, "%zu", first);
    add_format(c, "%s", program);
    add_format(c, "--list=%s/work/list", o->out);
    add_format(c, "--out=%s", o->out);
    add_format(c, "--generation=%d", o->generation);
    add(c, "--");
    for (const char *const *word = o->grader; *word; word++) add(c, *word);
}

/* @return the job's number, or 0 after a message */
static long submit(const class_options *o, const settings *s, size_t first, size_t count)
{
    command c = {0};
    char name[32];
    const char *limit = settings_find(s, "slurm", "limit");
    job_name(o, name);
    add(&c, "sbatch");
    add(&c, "--parsable");
    add_format(&c, "--job-name=%s", name);
    add_format(&c, "--array=0-%zu%s%s", count - 1, limit ? "%" : "", limit ? limit : "");
    add_format(&c, "--output=%s/slurm/%%A_%%a.log", o->out);
    add_settings(&c, s);
    add_task(&c, o, first);
    process_result r = process_run(c.argv, NULL, 60.0, 4096);
    const long job = r.status == 0 && r.output ? atol(r.output) : 0;
    if (job == 0)
        fprintf(stderr, "class: sbatch: %s", r.output && *r.output ? r.output : "failed\n");
    for (int i = 0; i < c.owned_count; i++) free(c.owned[i]);
    free(r.output);
    return job;
}

static bool write_list(const class_options *o, submission **waiting, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *list = open_memstream(&text, &size);
    for (size_t i = 0; i < count; i++) {
        fprintf(list, "%s %s\n", waiting[i]->key, strrchr(waiting[i]->folder, '/') + 1);
    }
    fclose(list);
    const bool written = write_whole(o, "work/list", text);
    free(text);
    return written;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void marker_path(const class_options *o, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/slurm/submitted", o->out);
}

bool slurm_wait(const class_options *o, const settings *s)
{
    char marker[PATH_MAX];
    size_t running;
    marker_path(o, marker);
    const bool submitted = access(marker, F_OK) == 0;
    if (!o->slurm && !submitted) return true;
    if (!has_slurm()) return false;
    for (long queued, before = -1; (queued = look_at_queue(o, &running)) != 0; before = queued) {
        if (queued < 0) {
            fprintf(stderr, "class: squeue fails: is Slurm's controller there?\n");
            return false;
        }
        if (queued != before)
            printf("class: %ld tasks of an earlier run are still running\n", queued);
        fflush(stdout);
        usleep((useconds_t)(1e6 * poll_seconds(s)));
    }
    return unlink(marker) == 0 || errno == ENOENT;
}

typedef struct array {
    const class_options *options;
    submission **waiting;
    size_t count;
    bool *seen;
    progress progress;
} array;

static void take_results(array *a)
{
    for (size_t i = 0; i < a->count; i++) {
        submission *s = a->waiting[i];
        if (a->seen[i]) continue;
        load_results(a->options, s, 1);
        if (!s->results) continue;
        a->seen[i] = true;
        progress_done(&a->progress, a->options, s, real_of(s->results, "seconds"));
    }
}

/* @return false when the queue has not answered for too long */
static bool wait_for(array *a, double seconds)
{
    double silent = 0;
    for (int empty = 0; empty <= SETTLE;) {
        const long queued = look_at_queue(a->options, &a->progress.at_work);
        take_results(a);
        if (a->progress.done == a->count) return true;
        if (a->progress.at_work > a->progress.at_once) a->progress.at_once = a->progress.at_work;
        silent = queued < 0 ? silent + seconds : 0;
        if (silent > PATIENCE) return false;
        empty = queued == 0 ? empty + 1 : 0;
        progress_show(&a->progress);
        usleep((useconds_t)(1e6 * seconds));
    }
    return true;
}

/* Those whose tasks are through and have left nothing. */
static void tell_failures(array *a, const long jobs[], size_t per_job)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->seen[i]) continue;
        a->waiting[i]->failed = true;
        a->progress.at_work = 0;
        progress_done(&a->progress, a->options, a->waiting[i], 0);
        printf("         and %s/slurm/%ld_%zu.log\n", a->options->out, jobs[i / per_job],
               i % per_job);
    }
}

static bool submit_all(const class_options *o, const settings *s, size_t count, long jobs[],
                       size_t per_job)
{
    char marker[PATH_MAX];
    marker_path(o, marker);
    make_folders_of(marker);
    if (!write_whole(o, "slurm/submitted", "")) return false;
    for (size_t first = 0; first < count; first += per_job) {
        const size_t left = count - first;
        jobs[first / per_job] = submit(o, s, first, left < per_job ? left : per_job);
        if (jobs[first / per_job] == 0) return false;
        printf("class: job %ld of Slurm\n", jobs[first / per_job]);
    }
    return true;
}

bool slurm_run(const class_options *o, const settings *s, submission **waiting, size_t count)
{
    const size_t per_job = (size_t)array_most();
    array a = {.options = o, .waiting = waiting, .count = count};
    char marker[PATH_MAX];
    a.progress = (progress){.all = count, .at_once = 1};
    a.seen = calloc(count, sizeof *a.seen);
    long *jobs = calloc(count / per_job + 1, sizeof *jobs);
    bool done = write_list(o, waiting, count) && submit_all(o, s, count, jobs, per_job);
    if (done && !(done = wait_for(&a, poll_seconds(s)))) {
        fprintf(stderr, "class: squeue fails; the tasks go on, and make class collects later\n");
    }
    if (done) {
        tell_failures(&a, jobs, per_job);
        marker_path(o, marker);
        unlink(marker);
    }
    free(a.seen);
    free(jobs);
    return done;
}

/* ---- one task -------------------------------------------------------------------------------- */

static bool read_list(const class_options *o, const char *list, long line, submission *s)
{
    char text[256], folder[64] = "";
    FILE *file = fopen(list, "r");
    bool found = file != NULL;
    while (found && (found = fgets(text, sizeof text, file) != NULL) && line-- > 0) {
    }
    if (file) fclose(file);
    if (!found || sscanf(text, "%64s %63s", s->key, folder) != 2) return false;
    snprintf(s->folder, sizeof s->folder, "%s/work/%s", o->out, folder);
    return true;
}

int slurm_task(const class_options *o, const char *list, long line)
{
    submission s = {0};
    task t = {.submission = &s};
    if (!read_list(o, list, line, &s)) {
        fprintf(stderr, "class: no line %ld in %s\n", line, list);
        return 1;
    }
    load_results(o, &s, 1);
    if (s.results) return 0; /* Slurm has started it a second time */
    task_start(o, &t);
    while (!task_ended(o, &t)) usleep(20000);
    if (s.failed) fprintf(stderr, "class: the grader failed: %s\n", graded_path(o, &s, ".log"));
    json_decref(s.results);
    return s.failed;
}
