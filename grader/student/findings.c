/* findings.c: `grader findings --results FILE`: all that was found in a grading, each thing once,
 * however many cases it showed in. `make sanitize` grades first, with --slow, which keeps all
 * findings of a case instead of the first. */
#include "student.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_MAX 64

/* The same thing, found in several places. */
typedef struct kind {
    char key[512];
    const char *text; /* its first; of `length` bytes */
    int length, cases;
    const json_t *first; /* the case that showed it */
    const json_t *last;
} kind;

typedef struct list {
    kind kinds[KINDS_MAX];
    int count;
    int wrong; /* cases whose results are wrong, which is no finding */
} list;

/* What two findings of one mistake share: all but the thread, the block and how often. */
static void write_key(char *key, size_t room, const char *text, int length)
{
    size_t n = 0;
    for (int i = 0; i < length && n + 1 < room; i++) {
        const size_t digits = strspn(text + i, "0123456789"),
                     tuple = strspn(text + i, "(0123456789,)");
        if (text[i] == '(' && tuple > 2) {
            i += (int)tuple - 1;
        } else if (digits > 0 && !strncmp(text + i + digits, " times", 6)) {
            i += (int)digits - 1;
        } else {
            key[n++] = text[i];
        }
    }
    key[n] = '\0';
}

static void enter(list *l, const json_t *grading_case, const char *text, int length)
{
    char key[512];
    write_key(key, sizeof key, text, length);
    int i = 0;
    while (i < l->count && strcmp(l->kinds[i].key, key) != 0) i++;
    if (i == KINDS_MAX) return;
    kind *k = &l->kinds[i];
    if (i == l->count) {
        *k = (kind){.text = text, .length = length, .first = grading_case};
        memcpy(k->key, key, sizeof key);
        l->count++;
    }
    k->cases += k->last != grading_case;
    k->last = grading_case;
}

static void enter_case(list *l, const json_t *one)
{
    const char *text = string_of(one, "finding");
    if (!strcmp(string_of(one, "status"), "failed")) {
        const char *message = string_of(one, "message");
        if (strstr(message, " should be "))
            l->wrong++;
        else
            enter(l, one, message, (int)strlen(message));
    }
    for (int length; *text; text += length + (text[length] == '\n')) {
        length = (int)strcspn(text, "\n");
        if (length > 0) enter(l, one, text, length);
    }
}

static void print_kinds(const list *l, const char *submission, const json_t *entry)
{
    for (int i = 0; i < l->count; i++) {
        const kind *k = &l->kinds[i];
        printf("    %.*s\n", k->length, k->text);
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
