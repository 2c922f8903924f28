/*
 * answers.c: a file of answers, lines of `key = value`, that a student writes beside the source;
 * and numbers that differ from student to student. They are drawn from the name that the file says,
 * so that they are the same on every machine.
 */
#include "course.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define STUDENT "student" /* a key of every file that has drawn numbers */

static char words[PATH_MAX + 1024]; /* what is wrong */

static const char *say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return words;
}

static const char *file_of(const exercise *e)
{
    for (int i = 0; e->parts[i]; i++) {
        const char *dot = strrchr(e->parts[i], '.');
        if (dot && strcmp(dot, ".answers") == 0) return e->parts[i];
    }
    return NULL;
}

typedef struct lookup {
    const exercise *exercise;
    const char *key;
    char *value;
    bool found;
} lookup;

static bool is_key(const exercise *e, const char *name)
{
    bool found = e->drawn && strcmp(name, STUDENT) == 0;
    for (int i = 0; e->answers[i]; i++) found = found || strcmp(name, e->answers[i]) == 0;
    return found;
}

/* "a, b and so on", of which `student` comes first. */
static const char *unknown(const exercise *e, const char *name)
{
    char keys[512] = "";
    for (int i = 0; e->answers[i]; i++) {
        const size_t end = strlen(keys);
        snprintf(keys + end, sizeof keys - end, "%s%s", i > 0 || e->drawn ? ", " : "",
                 e->answers[i]);
    }
    return say("there is no key `%s`; there are %s%s", name, e->drawn ? STUDENT : "", keys);
}

static const char *take(void *context, const ini_line *line)
{
    lookup *l = context;
    if (!*line->name) return "a section has no place here";
    if (!is_key(l->exercise, line->name)) return unknown(l->exercise, line->name);
    if (strcmp(line->name, l->key) != 0) return NULL;
    if (l->found) return say("`%s` is there already", line->name);
    l->found = true;
    snprintf(l->value, ANSWER_MOST, "%s", line->value);
    return NULL;
}

const char *answer_find(const exercise *e, const char *folder, const char *key,
                        char value[ANSWER_MOST])
{
    char wrong[1024];
    const char *name = file_of(e);
    lookup l = {.exercise = e, .key = key, .value = value};
    int number;
    if (!name || !is_key(e, key)) return say("exercise %s has no key `%s`", id_words(e->id), key);
    const int in = open_beneath(folder, submitted_file(folder, name)); /* and behind no link */
    FILE *file = in >= 0 ? fdopen(in, "r") : NULL;
    if (!file) return say("there is no %s", name);
    const char *what = ini_read(file, take, &l, &number);
    fclose(file);
    if (what) {
        snprintf(wrong, sizeof wrong, "%s", what);
        return say("%s:%d: %s", name, number, wrong);
    }
    return l.found && *value ? NULL : say("%s: nothing stands behind `%s`", name, key);
}

/* The remainder favours no number by more than one in 2^60 / count. */
bool draw_number(const exercise *e, const char *name, const char *student, long *number)
{
    char hex[HASH_HEX], id[16];
    const drawn_number *d = e->drawn;
    while (d && d->name && strcmp(d->name, name) != 0) d++;
    if (!d || !d->name) return false;
    snprintf(id, sizeof id, "%s", id_words(e->id));
    hash *h = hash_begin();
    hash_text(h, student);
    hash_text(h, id);
    hash_text(h, name);
    hash_end(h, hex);
    hex[15] = '\0';
    const long count = (d->high - d->low) / d->step + 1;
    *number = d->low + d->step * (long)(strtoull(hex, NULL, 16) % (unsigned long)count);
    return true;
}

static int print_drawn(const options *o, const exercise *e)
{
    char student[ANSWER_MOST];
    long number;
    const char *wrong = answer_find(e, o->submission, STUDENT, student);
    if (wrong) {
        fprintf(stderr, "grader: %s: your numbers are drawn from it\n", wrong);
        return 1;
    }
    printf("  %s %s, drawn for %s\n", id_words(e->id), e->name, student);
    for (const drawn_number *d = e->drawn; d->name; d++) {
        draw_number(e, d->name, student, &number);
        printf("    %s = %ld\n", d->name, number);
    }
    return 0;
}

int drawn(const options *o)
{
    int failed = 0;
    for (const exercise *const *e = catalog(); *e; e++) {
        if ((*e)->drawn && options_want(o, *e)) failed |= print_drawn(o, *e);
    }
    return failed;
}
