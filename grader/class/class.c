/*
 * class.c: a whole class: settings, submissions, results, reports. One run at a time works in a
 * folder; a run may be killed anywhere, and the next one goes on where it was.
 */
#include "class.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_TRIES 20 /* in two seconds */

static bool make_folder(const char *path)
{
    struct stat facts;
    make_folders_of(path);
    mkdir(path, 0777);
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) return true;
    fprintf(stderr, "class: cannot make the folder %s\n", path);
    return false;
}

/* What a run that was killed has just started holds the lock until it is another program. */
static bool lock_soon(int lock)
{
    for (int i = 0; flock(lock, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK || i == LOCK_TRIES) return false;
        usleep(100000);
    }
    return true;
}

/* @return a descriptor to be closed at the end, or -1 after a message */
static int take_lock(const class_options *o)
{
    char path[PATH_MAX];
    out_path(path, o, "lock");
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock >= 0 && lock_soon(lock)) return lock;
    fprintf(stderr, "class: %s: %s\n", path,
            lock >= 0 && errno == EWOULDBLOCK ? "another make class is at work in this folder"
                                              : strerror(errno));
    if (lock >= 0) close(lock);
    return -1;
}

static bool make_folders(const class_options *o)
{
    char work[PATH_MAX], graded[PATH_MAX], feedback[PATH_MAX];
    out_path(work, o, "work");
    out_path(graded, o, "graded");
    out_path(feedback, o, "feedback");
    remove_tree(work);
    return make_folder(work) && make_folder(graded) && make_folder(feedback);
}

static bool write_report(const class_options *o, const char *name, report_writer *write,
                         const submission *all, size_t count, const settings *s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    write(memory, all, count, s);
    fclose(memory);
    const bool written = write_whole(o, name, text);
    free(text);
    return written;
}

static int summary(const class_options *o, const submission *all, size_t count)
{
    size_t graded = 0, refused = 0;
    for (size_t i = 0; i < count; i++) {
        graded += all[i].results != NULL;
        refused += *all[i].refused != '\0';
        if (*all[i].refused) printf("  refused  %-24s %s\n", all[i].student, all[i].refused);
        if (*all[i].trouble) printf("  trouble  %-24s %s\n", all[i].student, all[i].trouble);
    }
    const size_t accidents = unexplained_changes(all, count);
    if (accidents > 0) {
        printf("class: %zu verdicts changed though nothing else had: see %s/changed.csv\n",
               accidents, o->out);
    }
    printf("class: %zu graded, %zu refused, %zu not graded; in %s: gradebook.csv, index.html, "
           "feedback, similar.csv\n",
           graded, refused, count - graded - refused, o->out);
    return graded + refused == count ? 0 : 1;
}

/* The columns that the school's own system imports. */
static bool write_import(const class_options *o, const submission *all, size_t count,
                         const settings *s)
{
    if (!o->format) return true;
    return strcmp(o->format, "moodle") == 0
               ? write_report(o, "moodle.csv", write_moodle, all, count, s)
               : write_report(o, "canvas.csv", write_canvas, all, count, s);
}

static bool write_reports(const class_options *o, const submission *all, size_t count,
                          const settings *s)
{
    return write_report(o, "gradebook.csv", write_gradebook, all, count, s) &&
           write_import(o, all, count, s) &&
           write_report(o, "similar.csv", write_similar, all, count, s) &&
           write_report(o, "changed.csv", write_changes, all, count, s) &&
           write_report(o, "class.json", write_distribution, all, count, s) &&
           write_report(o, "index.html", write_page, all, count, s) &&
           write_feedback(o, all, count, s);
}

/* What there is of results is reported even when Slurm gave up, or a disk is full. */
static int grade_all(const class_options *o, const settings *s, submission *all, size_t count)
{
    const bool done = grade_submissions(o, s, all, count);
    const bool noted = history_update(o, all, count) && (!done || generation_end(o));
    for (size_t i = 0; i < count; i++) note_lateness(&all[i], s);
    const bool written = write_reports(o, all, count, s);
    return done && noted && written ? summary(o, all, count) : 2;
}

static int grade_class(const class_options *o, const settings *s)
{
    size_t count;
    char work[PATH_MAX];
    if (!make_folders(o)) return 2;
    submission *all = collect(o, &count);
    if (!all) return 2;
    if (count == 0) fprintf(stderr, "class: neither folder nor archive in %s\n", o->submissions);
    const int status = count > 0 ? grade_all(o, s, all, count) : 2;
    submissions_free(all, count);
    out_path(work, o, "work");
    remove_tree(work);
    return status;
}

/* What an earlier run has given to Slurm is still at work on OUT/work. */
static int run_alone(class_options *o, const settings *s)
{
    if (!slurm_wait(o, s)) return 2;
    if (!generation_begin(o)) return 2;
    set_judge(o);
    return grade_class(o, s);
}

int class_run(const class_options *given)
{
    settings s = {0};
    class_options o = *given;
    setlocale(LC_CTYPE, "C.UTF-8"); /* names in archives may be of any language */
    if (o.settings && !settings_read(&s, o.settings)) return 2;
    const int lock = make_folder(o.out) ? take_lock(&o) : -1;
    const int status = lock >= 0 ? run_alone(&o, &s) : 2;
    if (lock >= 0) close(lock);
    settings_free(&s);
    return status;
}
