/* catalog.c: the exercises, collected from the case files by the linker (EXERCISE in case.h). */
#include "course.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define EXERCISES_MAX 256

extern const exercise *const __start_exercises[], *const __stop_exercises[];

static int by_id(const void *a, const void *b)
{
    return (*(const exercise *const *)a)->id - (*(const exercise *const *)b)->id;
}

static const exercise *sorted[EXERCISES_MAX + 1];

const exercise *const *catalog(void)
{
    if (!sorted[0]) {
        size_t count = (size_t)(__stop_exercises - __start_exercises);
        if (count > EXERCISES_MAX) count = EXERCISES_MAX;
        memcpy(sorted, __start_exercises, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_id);
    }
    return sorted;
}

/* ---- their numbers --------------------------------------------------------------------------- */

bool id_is_challenge(int id)
{
    return id >= CHALLENGE(1, 'a');
}

int id_phase(int id)
{
    return id / 100 % 10;
}

const char *id_words(int id)
{
    static char words[8][16];
    static unsigned next;
    char *text = words[next++ % 8];
    if (id_is_challenge(id))
        snprintf(text, sizeof words[0], "%d%c", id_phase(id), 'a' + id % 100);
    else
        snprintf(text, sizeof words[0], "%d", id);
    return text;
}

int id_parse(const char *text, char **end)
{
    char *after;
    long id = strtol(text, &after, 10);
    if (id >= 1 && id <= 9 && *after >= 'a' && *after <= 'z')
        id = CHALLENGE(id, *after++);
    else if (id < 0 || id > 999)
        id = 0;
    if (end) *end = after;
    return (int)id;
}

json_t *id_json(int id)
{
    return id_is_challenge(id) ? json_string(id_words(id)) : json_integer(id);
}

int id_of(const json_t *entry)
{
    const json_t *id = json_object_get(entry, "id");
    return json_is_string(id) ? id_parse(json_string_value(id), NULL) : (int)json_integer_value(id);
}

/* ---- the list -------------------------------------------------------------------------------- */

const exercise *catalog_find(int id)
{
    for (const exercise *const *e = catalog(); *e; e++) {
        if ((*e)->id == id) return *e;
    }
    return NULL;
}

void catalog_replace(const exercise *by)
{
    for (size_t i = 0; catalog()[i]; i++) {
        if (sorted[i]->id == by->id) sorted[i] = by;
    }
}

const char *exercise_file(const exercise *e, int i)
{
    return i == 0 ? e->file : e->parts[i - 1];
}

const char *submitted_file(const char *submission, const char *file)
{
    char path[PATH_MAX];
    struct stat facts;
    const char *slash = strrchr(file, '/');
    snprintf(path, sizeof path, "%s/%s", submission, file);
    if (!slash || lstat(path, &facts) == 0) return file;
    snprintf(path, sizeof path, "%s%s", submission, slash);
    return lstat(path, &facts) == 0 ? slash + 1 : file;
}

const char *misplaced_file(const char *submission)
{
    char path[PATH_MAX];
    struct stat facts;
    for (const exercise *const *e = catalog(); *e; e++) {
        const char *file = (*e)->file;
        snprintf(path, sizeof path, "%s/%s", submission, file);
        if (lstat(path, &facts) == 0) continue;
        snprintf(path, sizeof path, "%s/%.*s%s", submission, (int)strcspn(file, "/"), file,
                 strrchr(file, '/'));
        if (lstat(path, &facts) == 0) return file;
    }
    return NULL;
}

bool exercise_has_file(const exercise *e, const char *file)
{
    for (int i = 0; exercise_file(e, i); i++) {
        if (strcmp(exercise_file(e, i), file) == 0) return true;
    }
    return false;
}

void hash_parts(hash *h, const exercise *e, const char *folder)
{
    char path[PATH_MAX];
    for (int i = 0; e->parts[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, submitted_file(folder, e->parts[i]));
        hash_text(h, e->parts[i]); /* where one ends and the next begins */
        hash_file(h, path);
    }
}

void exercise_hash(const exercise *e, const char *submission, char hex[HASH_HEX])
{
    char path[PATH_MAX];
    hash *h = hash_begin();
    snprintf(path, sizeof path, "%s/%s", submission, submitted_file(submission, e->file));
    const bool there = hash_file(h, path);
    hash_parts(h, e, submission);
    hash_end(h, hex);
    if (!there) hex[0] = '\0';
}

bool is_python(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot && strcmp(dot, ".py") == 0;
}

place exercise_place(const exercise *e, backend b)
{
    const char *dot = strrchr(e->file, '.');
    if (dot && strcmp(dot, ".c") == 0) return ON_HOST;
    if (is_python(e->file) && !e->prerequisites[0]) return ON_PYTHON;
    return b == BACKEND_CUDA ? ON_GPU : ON_SOFTGPU;
}
