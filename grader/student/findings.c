/* findings.c: `grader findings --results FILE`: all findings of a grading, each once, however many
 * cases show it. `make sanitize` grades first, with --slow, which keeps all findings of a case
 * instead of the first. */
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
    long times;          /* 0: nobody counted */
    const json_t *first; /* the case that showed it */
    const json_t *last;
} kind;

typedef struct list {
    kind kinds[KINDS_MAX];
    int count;
    int failed; /* cases, of a finding or of wrong results */
} list;

/* What two findings of one mistake share: what is wrong with which line of which kernel; or, where
 * nobody knows the line, of which function. */
static void write_key(char *key, size_t room, const json_t *found)
{
    const long line = (long)integer_of(found, "line");
    snprintf(key, room, "%s|%s|%ld|%s|%s|%s", string_of(found, "kind"), string_of(found, "file"),
             line, string_of(found, "kernel"), line ? "" : string_of(found, "function"),
             line ? "" : string_of(found, "cause"));
}

static void enter(list *l, const json_t *grading_case, const char *key, const char *text,
                  long times)
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
    k->times += times;
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
    const bool failed = strcmp(string_of(one, "status"), "failed") == 0;
    bool told = mismatch || !failed;
    l->failed += failed;
    json_array_foreach(json_object_get(one, "findings"), i, found)
    {
        const char *text = string_of(found, "text");
        told = told || strstr(message, text) != NULL; /* a drawn shape may stand before it */
        write_key(key, sizeof key, found);
        enter(l, one, key, text, (long)integer_of(found, "count"));
    }
    if (!told) enter(l, one, message, message, 0);
}

static void print_kinds(const list *l, const char *submission, const json_t *entry)
{
    for (int i = 0; i < l->count; i++) {
        const kind *k = &l->kinds[i];
        printf("    %s\n", k->text);
        printf("      in %d case%s", k->cases, k->cases > 1 ? "s" : "");
        if (k->times > 1) printf(", %ld times in all", k->times);
        printf("; ");
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
    printf("  %s %-22s ", id_words(id_of(entry)), string_of(entry, "name"));
    if (json_array_size(cases) == 0)
        printf("%s %s\n", status, string_of(entry, "reason"));
    else
        printf("%zu cases, %d of them failed; %d finding%s\n", json_array_size(cases), l->failed,
               l->count, l->count == 1 ? "" : "s");
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
    printf("\n  %d finding%s\n", count, count == 1 ? "" : "s");
    json_decref(root);
    return o->strict && count > 0;
}
