/*
 * collect.c: what there is to grade. Of each submission only the files of the course's exercises
 * are copied, without following links, so that nothing else of it reaches the grader and nothing
 * changes under its hands. A submission may lie in folders of its own: ANNA/homework/phase1_cpu.
 */
#include "class/class.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH      3         /* folders between a submission's top and phase1_cpu ... */
#define FILE_LIMIT (1 << 21) /* bytes; the grader itself says what a source may have */

static const unpack_limits limits = {.entries = 20000, .bytes = 256LL << 20};

static int remove_one(const char *path, const struct stat *facts, int type, struct FTW *where)
{
    (void)facts, (void)type, (void)where;
    return remove(path);
}

bool remove_tree(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT;
}

const char *graded_path(const class_options *o, const submission *s, const char *ending)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/graded/%.32s%s", o->out, s->key, ending);
    return path;
}

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
        snprintf(path, sizeof path, "%s/%s", folder, (*e)->file);
        *strrchr(path, '/') = '\0';
        if (is_folder(path)) return true;
    }
    return false;
}

/* The folder that holds phase1_cpu ...: this one, or the first below it in the order of names. */
static bool find_top(const char *folder, int depth, char top[PATH_MAX])
{
    struct dirent **names;
    if (holds_a_phase(folder)) {
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
            found = find_top(path, depth - 1, top);
        }
        free(names[i]);
    }
    if (count >= 0) free(names);
    return found;
}

/* @return false, with errno, when `from` is no plain file or cannot be copied */
static bool copy_plain(const char *from, const char *to, time_t *newest)
{
    struct stat facts;
    char block[1 << 16];
    ssize_t n = 0;
    const int in = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (in < 0) return false;
    const bool plain =
        fstat(in, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size <= FILE_LIMIT;
    const int out = plain ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (!plain) errno = EINVAL;
    bool whole = out >= 0;
    while (whole && (n = read(in, block, sizeof block)) > 0)
        whole = write(out, block, (size_t)n) == n;
    whole = whole && n == 0;
    if (whole && facts.st_mtime > *newest) *newest = facts.st_mtime;
    if (out >= 0) close(out);
    close(in);
    return whole;
}

static bool copy_exercise(const char *top, const char *file, submission *s, time_t *newest)
{
    char from[PATH_MAX], to[PATH_MAX], phase[64];
    snprintf(phase, sizeof phase, "%.*s", (int)strcspn(file, "/"), file);
    snprintf(from, sizeof from, "%s/%s", top, phase);
    if (!is_folder(from)) return true;
    snprintf(to, sizeof to, "%s/%s", s->folder, phase);
    mkdir(to, 0700);
    snprintf(from, sizeof from, "%s/%s", top, file);
    snprintf(to, sizeof to, "%s/%s", s->folder, file);
    if (copy_plain(from, to, newest) || errno == ENOENT) return true;
    snprintf(s->refused, sizeof s->refused, "%s is a link, no file, or larger than 2 MiB", file);
    return false;
}

static bool copy_exercises(const char *from, submission *s, time_t *newest)
{
    char top[PATH_MAX];
    if (!find_top(from, DEPTH, top)) {
        snprintf(s->refused, sizeof s->refused, "no folder of a phase in it (phase1_cpu, ...)");
        return false;
    }
    mkdir(s->folder, 0700);
    for (const exercise *const *e = catalog(); *e; e++) {
        if (!copy_exercise(top, (*e)->file, s, newest)) return false;
    }
    return true;
}

/* Of the files, of the programs that judge them, and of what those are asked for. */
static void set_key(const class_options *o, submission *s)
{
    static const char *const programs[] = {"worker_cpu", "worker_softgpu", "worker_cuda",
                                           "libsoftgpu.so", "libcourse.so"};
    char path[PATH_MAX];
    hash *h = hash_begin();
    hash_file(h, o->grader[0]);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        snprintf(path, sizeof path, "%s/%s", o->build, programs[i]);
        hash_file(h, path);
    }
    for (const char *const *word = o->grader + 1; *word; word++) hash_text(h, *word);
    for (const exercise *const *e = catalog(); *e; e++) {
        char digits[32];
        struct stat facts = {.st_size = -1};
        snprintf(path, sizeof path, "%s/%s", s->folder, (*e)->file);
        stat(path, &facts);
        snprintf(digits, sizeof digits, "%d %lld", (*e)->id, (long long)facts.st_size);
        hash_text(h, digits);
        hash_file(h, path);
    }
    hash_end(h, s->key);
}

/* ---- one submission -------------------------------------------------------------------------- */

static void take_folder(const class_options *o, submission *s, const char *from)
{
    if (copy_exercises(from, s, &s->submitted)) set_key(o, s);
}

static void take_archive(const class_options *o, submission *s, const char *from)
{
    char unpacked[PATH_MAX], why[256] = "";
    struct stat facts;
    time_t ignored = 0; /* what an archive says of its files is anybody's claim */
    snprintf(unpacked, sizeof unpacked, "%s/work/unpacked", o->out);
    mkdir(unpacked, 0700);
    if (stat(from, &facts) == 0) s->submitted = facts.st_mtime;
    if (!unpack(from, unpacked, limits, why)) {
        snprintf(s->refused, sizeof s->refused, "the archive is refused: %s", why);
    } else if (copy_exercises(unpacked, s, &ignored)) {
        set_key(o, s);
    }
    remove_tree(unpacked);
}

static bool is_submission(const char *folder, const struct dirent *entry)
{
    char path[PATH_MAX];
    struct stat facts;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (*entry->d_name == '.' || lstat(path, &facts) != 0) return false;
    return S_ISDIR(facts.st_mode) || (S_ISREG(facts.st_mode) && archive_stem(entry->d_name) > 0);
}

static void take(const class_options *o, submission *s, size_t index, const char *name)
{
    char from[PATH_MAX];
    snprintf(from, sizeof from, "%s/%s", o->submissions, name);
    snprintf(s->folder, sizeof s->folder, "%s/work/%zu", o->out, index);
    const size_t stem = is_folder(from) ? strlen(name) : archive_stem(name);
    snprintf(s->student, sizeof s->student, "%.*s", (int)stem, name);
    if (is_folder(from)) {
        take_folder(o, s, from);
    } else {
        take_archive(o, s, from);
    }
}

/* Nobody is graded twice, and nobody chooses for the student which of two counts. */
static void refuse_twins(submission *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (i == j || strcmp(all[i].student, all[j].student) != 0) continue;
            snprintf(all[i].refused, sizeof all[i].refused,
                     "there are two submissions of this name");
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
        if (is_submission(o->submissions, names[i])) {
            take(o, &all[*count], *count, names[i]->d_name);
            ++*count;
        }
        free(names[i]);
    }
    free(names);
    refuse_twins(all, *count);
    return all;
}
