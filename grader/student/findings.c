/* findings.c: `grader findings --results FILE`: all that was found in a grading, each thing once,
 * however many cases it showed in. `make sanitize` grades first, with --slow, which keeps all
 * findings of a case instead of the first. */
#include "student.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_MAX 64

/* The same thing, found in several places. */
typedef struct kind {
    char key[1024];
    const char *text; /* its first */
    int cases;
    const json_t *first; /* the case that showed it */
    const json_t *last;
} kind;

typedef struct list {
    kind kinds[KINDS_MAX];
    int count;
    int wrong; /* cases whose results are wrong, which is no finding */
} list;

/* What two findings of one mistake share: all but the thread, the block and how often. */
static void write_key(char *key, size_t room, const json_t *found)
{
    snprintf(key, room, "%s|%s|%s|%s|%ld|%s", string_of(found, "function"),
             string_of(found, "kind"), string_of(found, "cause"), string_of(found, "file"),
             (long)integer_of(found, "line"), string_of(found, "kernel"));
}

static void enter(list *l, const json_t *grading_case, const char *key, const char *text)
{
    int i = 0;
    while (i < l->count && strcmp(l->kinds[i].key, key) != 0) i++;
    if (i == KINDS_MAX) return;
    kind *k = &l->kinds[i];
    if (i == l->count) {
        *k = (kind){.text = text, .first = grading_case};
        snprintf(k->key, sizeof k->key, "%s", key);
        l->count++;
    }
    k->cases += k->last != grading_case;
    k->last = grading_case;
}

/* A case may fail of none of its findings: of a crash, say. */
static void enter_case(list *l, const json_t *one)
{
    size_t i;
    json_t *found;
    char key[1024];
    const char *message = string_of(one, "message");
    const bool mismatch = json_is_true(json_object_get(one, "mismatch"));
    bool told = mismatch || strcmp(string_of(one, "status"), "failed") != 0;
    l->wrong += mismatch;
    json_array_foreach(json_object_get(one, "findings"), i, found)
    {
        const char *text = string_of(found, "text");
        told = told || strcmp(text, message) == 0;
        write_key(key, sizeof key, found);
        enter(l, one, key, text);
    }
    if (!told) enter(l, one, message, message);
}

static void print_kinds(const list *l, const char *submission, const json_t *entry)
{
    for (int i = 0; i < l->count; i++) {
        const kind *k = &l->kinds[i];
        printf("    %s\n", k->text);
        printf("      in %d case%s; ", k->cases, k->cases > 1 ? "s" : "");
        report_again(submission, entry, k->first);
    }
}

/* @return how many different things were found */
static int print_exercise(const char *submission, const json_t *entry)
{
    size_t i;
    json_t *one;
    const char *status = string_of(entry, "status");
    const json_t *cases = json_object_get(entry, "cases");
    list *l = calloc(1, sizeof *l);
    json_array_foreach((json_t *)cases, i, one) enter_case(l, one);
    printf("  %ld %-22s ", integer_of(entry, "id"), string_of(entry, "name"));
    if (json_array_size(cases) == 0)
        printf("%s %s\n", status, string_of(entry, "reason"));
    else
        printf("%zu cases, %d of them with wrong results; %d finding%s\n", json_array_size(cases),
               l->wrong, l->count, l->count == 1 ? "" : "s");
    print_kinds(l, submission, entry);
    const int count = l->count + !strcmp(status, "build_failed");
    free(l);
    return count;
}

int findings(const options *o)
{
    size_t i;
    int count = 0;
    json_t *entry;
    json_error_t error;
    json_t *root = json_load_file(o->results, 0, &error);
    if (!root) {
        fprintf(stderr, "grader: %s: %s\n", o->results, error.text);
        return 2;
    }
    json_array_foreach(json_object_get(root, "exercises"), i, entry)
    {
        count += print_exercise(string_of(root, "submission"), entry);
    }
    printf("\n  %d different findings\n", count);
    json_decref(root);
    return count > 0;
}
