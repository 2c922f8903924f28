/*
 * collect.c: collects the submissions to grade. Of each submission only the files of the course's
 * exercises are copied, without following links, so that nothing else of it reaches the grader and
 * nothing changes under its hands. A submission may lie in folders of its own:
 * ANNA/homework/phase1_cpu; and its files may lie flat, without the folders of the phases: their
 * names are unique.
 */
#include "submissions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH      3         /* folders between a submission's top and phase1_cpu ... */
#define FILE_LIMIT (1 << 21) /* bytes; the grader itself says what a source may have */
#define SKEW       300       /* seconds that clocks may differ */

static const unpack_limits limits = {.entries = 20000, .bytes = 256LL << 20};

/* ---- the files that count -------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static bool holds_a_phase(const char *folder)
{
    char path[PATH_MAX];
    for (const exercise *const *e = catalog(); *e; e++) {
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)strcspn((*e)->file, "/"), (*e)->file);
        if (is_folder(path)) return true;
    }
    return false;
}

static bool holds_a_file(const char *folder)
{
    char path[PATH_MAX];
    struct stat facts;
    for (const exercise *const *e = catalog(); *e; e++) {
        snprintf(path, sizeof path, "%s/%s", folder, strrchr((*e)->file, '/') + 1);
        if (lstat(path, &facts) == 0 && S_ISREG(facts.st_mode)) return true;
    }
    return false;
}

/* The folder that holds what is looked for: this one, or the first below it in the order of names.
 */
static bool find_top(const char *folder, int depth, bool (*holds)(const char *), char top[PATH_MAX])
{
    struct dirent **names;
    if (holds(folder)) {
        snprintf(top, PATH_MAX, "%s", folder);
        return true;
    }
    const int count = depth > 0 ? scandir(folder, &names, NULL, alphasort) : -1;
    bool found = false;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (!found && *names[i]->d_name != '.' && strcmp(names[i]->d_name, "__MACOSX") != 0 &&
            is_folder(path)) {
            found = find_top(path, depth - 1, holds, top);
        }
        free(names[i]);
    }
    if (count >= 0) free(names);
    return found;
}

/* @return 0 or errno */
static int copy_bytes(int in, int out)
{
    char block[1 << 16];
    for (;;) {
        const ssize_t n = read(in, block, sizeof block);
        if (n <= 0) return n == 0 ? 0 : errno;
        if (write(out, block, (size_t)n) != n) return ENOSPC;
    }
}

int copy_plain(const char *folder, const char *file, const char *to, long long most, time_t *newest)
{
    struct stat facts = {0};
    const int in = open_beneath(folder, file);
    if (in < 0 && (errno == ELOOP || errno == ENOTDIR || errno == ENXIO)) return EINVAL;
    if (in < 0) return errno;
    const bool plain = fstat(in, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size <= most;
    const int out = plain ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    int error = !plain ? EINVAL : out < 0 ? errno : copy_bytes(in, out);
    if (out >= 0 && close(out) != 0 && !error) error = errno;
    close(in);
    if (!error && facts.st_mtime > *newest) *newest = facts.st_mtime;
    return error;
}

/* Where a submission lies: its top, as a path below a folder that is the instructor's. */
typedef struct origin {
    const char *folder, *top;
} origin;

/* In the folder of its phase, else beside those folders. @return as copy_plain */
static int copy_from(const origin *o, const char *file, const char *to, time_t *newest)
{
    char from[PATH_MAX];
    int error = ENOENT;
    snprintf(from, sizeof from, "%s/%s/%.*s", o->folder, o->top, (int)strcspn(file, "/"), file);
    const bool phase = is_folder(from);
    snprintf(from, sizeof from, "%s/%s", o->top, file);
    if (phase) error = copy_plain(o->folder, from, to, FILE_LIMIT, newest);
    if (error != ENOENT) return error;
    snprintf(from, sizeof from, "%s/%s", o->top, strrchr(file, '/') + 1);
    return copy_plain(o->folder, from, to, FILE_LIMIT, newest);
}

static bool copy_file_of(const origin *o, const char *file, submission *s, time_t *newest)
{
    char to[PATH_MAX];
    snprintf(to, sizeof to, "%s/%s", s->folder, file);
    make_folders_of(to);
    const int error = copy_from(o, file, to, newest);
    if (error == 0 || error == ENOENT) return true;
    if (error == EINVAL) {
        snprintf(s->refused, sizeof s->refused, "%s is a link, not a file, or larger than 2 MiB",
                 file);
    } else {
        snprintf(s->trouble, sizeof s->trouble, "cannot copy %s: %s", file, strerror(error));
    }
    return false;
}

static bool copy_exercise(const origin *o, const exercise *e, submission *s, time_t *newest)
{
    time_t own = 0;
    for (int i = 0; exercise_file(e, i); i++) {
        if (!copy_file_of(o, exercise_file(e, i), s, &own)) return false;
    }
    if (own > 0) json_object_set_new(s->times, id_words(e->id), json_integer(own));
    if (own > *newest) *newest = own;
    return true;
}

/* Numbers are drawn from a name that is in the file, so that they are the same at home. */
static void note_others_name(submission *s, const exercise *e)
{
    char name[ANSWER_MOST];
    if (!e->drawn || answer_find(e, s->folder, "student", name) || !strcmp(name, s->student))
        return;
    snprintf(s->note, sizeof s->note, "the answers of %s are those of `%.64s`", id_words(e->id),
             name);
}

/* Only what is not written may be written under another name. */
static void note_misnamed(submission *s, const exercise *e, const char *top)
{
    const char *root = getenv("COURSE_ROOT");
    const options course = {.root = root ? root : ".", .submission = s->folder};
    char path[PATH_MAX], words[MISNAMED_WORDS];
    const size_t n = strlen(s->note);
    snprintf(path, sizeof path, "%s/%s", s->folder, e->file);
    if (access(path, F_OK) == 0 && !exercise_is_skeleton(&course, e)) return;
    if (misnamed_file(e, top, words))
        snprintf(s->note + n, sizeof s->note - n, "%s%s", n ? "; " : "", words);
}

static bool copy_exercises(const char *folder, const char *name, submission *s, time_t *newest)
{
    char from[PATH_MAX], top[PATH_MAX], board[PATH_MAX];
    snprintf(from, sizeof from, "%s/%s", folder, name);
    if (!find_top(from, DEPTH, holds_a_phase, top) && !find_top(from, DEPTH, holds_a_file, top)) {
        snprintf(s->refused, sizeof s->refused,
                 "neither a folder of a phase in it (phase1_cpu, ...) nor a file of an exercise");
        return false;
    }
    const char *misplaced = misplaced_file(top);
    if (misplaced) {
        snprintf(s->refused, sizeof s->refused,
                 "each exercise must lie in a folder of its own, as %s", misplaced);
        return false;
    }
    if (mkdir(s->folder, 0700) != 0) {
        snprintf(s->trouble, sizeof s->trouble, "cannot make a folder: %s", strerror(errno));
        return false;
    }
    const origin o = {folder, top + strlen(folder) + 1};
    s->times = json_object();
    for (const exercise *const *e = catalog(); *e; e++) {
        if (!copy_exercise(&o, *e, s, newest)) return false;
        note_others_name(s, *e);
        note_misnamed(s, *e, top);
    }
    snprintf(board, sizeof board, "%s/leaderboard.txt", o.top);
    nickname_read(folder, board, s);
    return true;
}

/* ---- one submission -------------------------------------------------------------------------- */

static void take_folder(const class_options *o, submission *s, const char *name)
{
    if (copy_exercises(o->submissions, name, s, &s->submitted)) set_key(o, s);
}

static void take_archive(const class_options *o, submission *s, const char *from)
{
    char work[PATH_MAX], unpacked_to[PATH_MAX], why[256] = "";
    struct stat facts;
    time_t ignored = 0; /* what an archive says of its files is anybody's claim */
    snprintf(work, sizeof work, "%s/work", o->out);
    snprintf(unpacked_to, sizeof unpacked_to, "%s/unpacked", work);
    mkdir(unpacked_to, 0700);
    if (stat(from, &facts) == 0) s->submitted = facts.st_mtime;
    const unpacked end = unpack(from, unpacked_to, limits, why);
    if (end == REFUSED) {
        snprintf(s->refused, sizeof s->refused, "the archive is refused: %s", why);
    } else if (end == NO_ROOM) {
        snprintf(s->trouble, sizeof s->trouble, "the archive cannot be unpacked: %s", why);
    } else if (copy_exercises(work, "unpacked", s, &ignored)) {
        json_object_clear(s->times);
        set_key(o, s);
    }
    remove_tree(unpacked_to);
}

/* Nobody hands in tomorrow: a clock was wrong. */
static void mend_time(submission *s)
{
    const time_t now = time(NULL);
    if (s->submitted <= now + SKEW) return;
    snprintf(s->note, sizeof s->note, "its time is in the future; counted as handed in now");
    s->submitted = now;
}

/* OUT may lie in DIR: it is nobody's. */
static bool is_part_of_folder(const class_options *o, const char *name)
{
    char path[PATH_MAX];
    struct stat facts, out;
    snprintf(path, sizeof path, "%s/%s", o->submissions, name);
    if (!strcmp(name, ".") || !strcmp(name, "..") || lstat(path, &facts) != 0) return true;
    return stat(o->out, &out) == 0 && out.st_ino == facts.st_ino && out.st_dev == facts.st_dev;
}

static bool is_submission(const class_options *o, const struct dirent *entry)
{
    char path[PATH_MAX];
    struct stat facts;
    snprintf(path, sizeof path, "%s/%s", o->submissions, entry->d_name);
    if (*entry->d_name == '.' || is_part_of_folder(o, entry->d_name)) return false;
    if (lstat(path, &facts) != 0) return false;
    return S_ISDIR(facts.st_mode) || (S_ISREG(facts.st_mode) && archive_stem(entry->d_name) > 0);
}

/* Names of files may be any bytes, those of students are UTF-8 in all that is written of them. */
static void set_student(submission *s, const char *name, size_t length)
{
    snprintf(s->student, sizeof s->student, "%.*s", (int)length, name);
    json_t *valid = json_string(s->student);
    for (char *c = s->student; !valid && *c; c++) {
        if (*c & 0x80) *c = '?';
    }
    json_decref(valid);
}

static void take(const class_options *o, submission *s, size_t index, const char *name)
{
    char from[PATH_MAX];
    snprintf(from, sizeof from, "%s/%s", o->submissions, name);
    snprintf(s->folder, sizeof s->folder, "%s/work/%zu", o->out, index);
    const size_t stem = is_folder(from) ? strlen(name) : archive_stem(name);
    set_student(s, name, stem);
    if (is_folder(from)) {
        take_folder(o, s, name);
    } else {
        take_archive(o, s, from);
    }
    mend_time(s);
}

/* Nobody is graded twice, and nobody chooses for the student which of two counts. */
static void refuse_twins(submission *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (i == j || strcmp(all[i].student, all[j].student) != 0) continue;
            snprintf(all[i].refused, sizeof all[i].refused,
                     "there are two submissions with this name");
        }
    }
}

submission *collect(const class_options *o, size_t *count)
{
    struct dirent **names;
    const int entries = scandir(o->submissions, &names, NULL, alphasort);
    *count = 0;
    if (entries < 0) {
        fprintf(stderr, "class: cannot read %s: %s\n", o->submissions, strerror(errno));
        return NULL;
    }
    submission *all = calloc((size_t)entries + 1, sizeof *all);
    for (int i = 0; i < entries; i++) {
        if (is_submission(o, names[i])) {
            take(o, &all[*count], *count, names[i]->d_name);
            ++*count;
        } else if (!is_part_of_folder(o, names[i]->d_name)) {
            fprintf(stderr, "class: skipped %s: neither a folder nor a .zip or .tar archive\n",
                    names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
    refuse_twins(all, *count);
    number_nicknames(all, *count);
    return all;
}

void submissions_free(submission *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_decref(all[i].files);
        json_decref(all[i].times);
        json_decref(all[i].results);
        json_decref(all[i].changes);
    }
    free(all);
}
