/*
 * needs.c: `grader needs 501`: the files that a program is linked with: those of some exercises,
 * and of all that they call. Exercises that the student has not written, and called ones that
 * failed, come from the course: a solution, or a library of a handout, if it has one. Standard
 * output has the files, relative to the submission (phase...) or to the course; stderr says which
 * are whose. The exit status is 1 if a file is missing from both: a handout has no solution of the
 * exercise that a program is there to try.
 */
#include "student.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_needed(const options *o, const exercise *e)
{
    if (options_want(o, e)) return true;
    for (const exercise *const *by = catalog(); *by; by++) {
        for (int i = 0; (*by)->prerequisites[i]; i++) {
            if ((*by)->prerequisites[i] == e->id && is_needed(o, *by)) return true;
        }
    }
    return false;
}

/* What it includes of other exercises lies beside it: the student's, too. */
static bool includes_are_written(const options *o, const exercise *e)
{
    char path[PATH_MAX];
    for (int i = 0; e->includes[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", o->submission, e->includes[i]);
        if (access(path, R_OK) != 0 || file_is_skeleton(o, path)) return false;
    }
    return true;
}

/* Whose file of an exercise is taken, and why. */
typedef enum whose { YOURS, UNWRITTEN, WRONG, NOBODYS, WHOSE } whose;

static whose whose_is(const options *o, const exercise *e, const json_t *records)
{
    char hash[HASH_HEX];
    exercise_hash(e, o->submission, hash);
    if (!*hash || exercise_is_skeleton(o, e)) return UNWRITTEN;
    if (!includes_are_written(o, e)) return UNWRITTEN;
    if (options_want(o, e)) return YOURS; /* the program is there to try it */
    const json_t *record = last_record(records, e->id);
    if (!record || strcmp(string_of(record, "sha256"), hash) != 0) return YOURS;
    const char *status = string_of(json_object_get(record, "entry"), "status");
    return strcmp(status, "passed") == 0 ? YOURS : WRONG;
}

/* @return false where a handout has none */
static bool print_reference(const options *o, library_set *set, const exercise *e)
{
    if (!prebuilt_exists(o)) return printf("solutions/%s\n", e->file) > 0;
    const build *library = library_set_reference(set, e);
    library_set_build(set, NULL, 0);
    return library->ok && printf("%s\n", library->library + strlen(o->root) + 1) > 0;
}

static void print_whose(char lists[WHOSE][256])
{
    static const char *const titles[] = {"yours", "the course's, because yours is not written",
                                         "the course's, because yours failed",
                                         "not written, and this copy has no reference"};
    fprintf(stderr, "linked with\n");
    for (int i = 0; i < WHOSE; i++) {
        if (*lists[i]) fprintf(stderr, "  %s:%s\n", titles[i], lists[i]);
    }
}

int needs(const options *o)
{
    char whole[PATH_MAX] = "", lists[WHOSE][256] = {"", "", "", ""};
    const bool known = o->history && realpath(o->submission, whole);
    json_t *records = known ? history_of(o, whole, 0) : json_array();
    library_set *set = library_set_create(o, NULL);
    for (const exercise *const *e = catalog(); *e; e++) {
        if (!is_needed(o, *e)) continue;
        whose of = whose_is(o, *e, records);
        if (of != YOURS && !print_reference(o, set, *e)) of = of == WRONG ? YOURS : NOBODYS;
        if (of == YOURS || of == NOBODYS) puts((*e)->file); /* a skeleton links, too */
        const size_t used = strlen(lists[of]);
        snprintf(lists[of] + used, sizeof lists[of] - used, " %s", id_words((*e)->id));
    }
    print_whose(lists);
    library_set_free(set);
    json_decref(records);
    return *lists[NOBODYS] ? 1 : 0;
}
